"""What keeps the ledger from being used, each as one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

from muniment.safety.errors import MunimentError


class LedgerFault(MunimentError):  # noqa: N818 - a fault of the place, not of the program
    """The ledger cannot be used as things stand; nothing was changed."""


class LedgerDamaged(LedgerFault):
    """The file is damaged; repairing sets it aside and saves what can be read."""

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            f"The ledger {path} is damaged ({detail}); "
            "muniment doctor --fix sets it aside and saves what it and the files still hold."
        )
        self.path = path


class LedgerBusy(LedgerFault):
    """Another process kept the ledger locked for too long."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"Another process is writing the ledger {path}; try again in a moment.")


class RowPurged(MunimentError):  # noqa: N818 - named for what it says
    """What a row said is gone for good, so that it can be neither judged nor brought back."""

    def __init__(self, row_id: str) -> None:
        super().__init__(f"The text of {row_id} was purged; there is nothing left to judge or to bring back.")
