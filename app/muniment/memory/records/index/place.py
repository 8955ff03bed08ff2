"""Where a scope's index lies."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path


def index_path(directory: Path, scope_directory: Path) -> Path:
    """Return where the index of a scope lies below the cache."""
    return directory / f"{sha256(os.fsencode(scope_directory)).hexdigest()[:32]}.db"
