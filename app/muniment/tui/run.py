"""Running the screen: the one entry for the command line."""

from __future__ import annotations

import gc

from muniment.tui.boot import Boot


def run_tui(boot: Boot) -> int:
    """Run the app until it ends and return its exit code."""
    # What is loaded here stays: collecting it again and again would cost as much as the first frame.
    gc.disable()
    from muniment.tui.app import MunimentApp
    from muniment.tui.ending import EXIT_CODE, Ending

    app = MunimentApp(boot, suits_terminal=True)
    gc.freeze()
    gc.enable()
    with Ending(app) as ending:
        app.run()
    return EXIT_CODE if ending.happened else app.return_code or 0
