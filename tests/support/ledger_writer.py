"""A process of its own that writes to a ledger: `python -m support.ledger_writer PATH NAME COUNT [die]`.

Prints `ready`, waits for a line, and then writes rows one by one; with `die` it ends by force inside the
transaction of the last one.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from muniment.memory.journal import Journal
from muniment.memory.ledger.ledger import Ledger
from support.ledger import ENGINE, row


class DyingJournal(Journal):
    """Kills its process once a row is announced, before the row is written."""

    def begin(self, *given: object, **fields: object) -> object:  # type: ignore[override]
        super().begin(*given, **fields)  # type: ignore[arg-type]
        os.kill(os.getpid(), signal.SIGKILL)
        return None


def main(path: Path, name: str, count: int, die: bool) -> None:
    journal = Journal(path.parent / "journal")
    ledger = Ledger(path, journal=journal)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for number in range(count):
        if die and number == count - 1:
            ledger = Ledger(path, journal=DyingJournal(path.parent / "journal"))
        ledger.upsert(
            [row(f"{name} number {number}"), row(f"shared number {number}", source=f"s{number}")], ENGINE
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), "die" in sys.argv[4:])
