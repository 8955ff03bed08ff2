"""Places whose paths are drawn in pictures: the same in every run, and one run's at a time."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/tmp/muniment-pictures")


@contextmanager
def place_of(test: str) -> Iterator[Path]:
    """Yield the empty place of a test by its name; a run of the same test in another process waits for it."""
    name = "".join(each if each.isalnum() else "-" for each in test)
    ROOT.mkdir(exist_ok=True)
    with (ROOT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        root = ROOT / name
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(mode=0o700)
        yield root
        shutil.rmtree(root, ignore_errors=True)
