"""What an export that was killed leaves: a hidden directory known by its name and by all that is in it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

MANIFEST = "manifest.json"
SWEPT_AFTER_SECONDS = 3600.0
_NAME = re.compile(r"\..+\.[0-9a-f]{12}\.tmp", re.DOTALL)
_SCOPE = re.compile(r"global|project-[0-9]{1,4}")
_FILE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}\.yaml|\..+\.[0-9a-f]{12}\.tmp", re.DOTALL)


def half_export_name(target: Path) -> Path:
    """Return where an export to `target` is made before it is complete."""
    return target.parent / f".{target.name[:100]}.{secrets.token_hex(6)}.tmp"


def is_half_export(path: Path, *, border: float) -> bool:
    """Tell whether a directory is a half-made export of ours in which nothing happened since `border`.

    Everything in it has to be what an export writes: a directory with anything else is somebody's own.
    """
    if _NAME.fullmatch(path.name) is None:
        return False
    try:
        if not _is_own_directory(path.lstat(), border):
            return False
        with os.scandir(path) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                if _SCOPE.fullmatch(entry.name) and _is_own_directory(info, border):
                    if not _holds_records_only(Path(entry.path)):
                        return False
                elif not (stat.S_ISREG(info.st_mode) and _is_manifest(entry.name)):
                    return False
    except OSError:
        return False
    return True


def remove_half_export(path: Path) -> None:
    """Remove a directory that `is_half_export` told of."""
    shutil.rmtree(path)


def sweep_half_exports(directory: Path) -> None:
    """Remove what killed exports into a directory left more than an hour ago."""
    border = time.time() - SWEPT_AFTER_SECONDS
    with suppress(OSError):  # what cannot be looked at or removed is for the doctor to name
        for name in sorted(os.listdir(directory)):
            if is_half_export(directory / name, border=border):
                remove_half_export(directory / name)


def _is_own_directory(info: os.stat_result, border: float) -> bool:
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and info.st_mtime < border


def _is_manifest(name: str) -> bool:
    return name == MANIFEST or (name.startswith(f".{MANIFEST}.") and _NAME.fullmatch(name) is not None)


def _holds_records_only(directory: Path) -> bool:
    with os.scandir(directory) as entries:
        return all(
            stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode) and _FILE.fullmatch(entry.name)
            for entry in entries
        )
