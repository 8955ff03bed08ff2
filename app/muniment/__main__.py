"""The console entry: `--version` is answered before anything heavy is imported; the rest are commands."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line in `sys.argv` and return its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from muniment import __version__

        sys.stdout.write(f"muniment {__version__}\n")
        return 0
    import gc

    from muniment.cli.main import run

    code = run(sys.argv[1:])
    # Before it ends the interpreter would look through everything once more for what nobody needs.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
