"""A process of its own that opens an older ledger: `python -m support.ledger_migrator PATH [statements]`.

Prints `ready`, waits for a line, and then writes a row. With a number it ends by force before that many
statements more were run on the database.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from muniment.memory.journal import Journal
from muniment.memory.ledger.ledger import Ledger
from support.ledger import ENGINE, row


class Mortal(sqlite3.Connection):
    """A connection that has only so many statements to live."""

    left = 0

    def execute(self, *given: Any) -> sqlite3.Cursor:
        Mortal.left -= 1
        if not Mortal.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*given)


def main(path: Path, statements: int) -> None:
    ledger = Ledger(path, journal=Journal(path.parent / "journal"))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    if statements:
        connect = sqlite3.connect
        Mortal.left = statements
        sqlite3.connect = lambda *given, **more: connect(*given, factory=Mortal, **more)  # type: ignore[assignment]
    ledger.upsert([row("Written by both.", source="both")], ENGINE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
