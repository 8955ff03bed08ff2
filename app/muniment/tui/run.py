"""Running the screen: the one entry for the command line."""

from __future__ import annotations

from muniment.tui.boot import Boot


def run_tui(boot: Boot) -> int:
    """Run the app until it ends and return its exit code."""
    from muniment.tui.app import MunimentApp

    app = MunimentApp(boot)
    app.run()
    return app.return_code or 0
