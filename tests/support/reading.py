"""Reads all records of a directory once in a fresh process; for the benchmark."""

from __future__ import annotations

from pathlib import Path

from muniment.memory.journal import Journal
from muniment.memory.records.store import RecordStore
from muniment.paths import resolve_paths


def main(directory: str) -> None:
    """Print how many records there are."""
    paths = resolve_paths()
    store = RecordStore(paths, Path(directory), journal=Journal(paths.journal))
    print(len(store.snapshot().entries))
