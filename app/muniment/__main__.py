"""The console entry: `--version` is answered before anything heavy is imported; the rest are commands."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line in `sys.argv` and return its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from muniment import __version__

        sys.stdout.write(f"muniment {__version__}\n")
        return 0
    from muniment.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
