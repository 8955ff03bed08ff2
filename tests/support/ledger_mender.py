"""A process of its own that repairs a ledger: `python -m support.ledger_mender PATH`.

Prints `ready`, waits for a line, and then repairs as the doctor does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from muniment.memory.journal import Journal
from muniment.memory.ledger.ledger import Ledger
from support.ledger import ENGINE


def main(path: Path) -> None:
    ledger = Ledger(path, journal=Journal(path.parent / "journal"))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    ledger.rebuild([], ENGINE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
