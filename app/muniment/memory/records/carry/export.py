"""Carrying records out: a directory with the files as they are, or one JSON object a line."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muniment.memory.records.carry.export_left import MANIFEST as MANIFEST
from muniment.memory.records.carry.export_left import half_export_name, sweep_half_exports
from muniment.memory.records.ids import SUFFIX
from muniment.memory.records.listing import Snapshot
from muniment.memory.records.plans import ScopeWord
from muniment.memory.records.record import as_dict
from muniment.memory.records.scan import Meta, Skipped, open_memory_dir, read_bodies, read_in
from muniment.memory.records.scope import Scope
from muniment.memory.records.store import RecordStore
from muniment.memory.records.times import format_time
from muniment.safety.errors import MunimentError
from muniment.safety.files import ensure_private_dir, write_atomic
from muniment.safety.visible import clean_surrogates

FORMAT = "muniment-records"
VERSION = 1


@dataclass(frozen=True, slots=True)
class ExportedScope:
    """One scope of an export: its subdirectory, where it came from, and how many records it holds."""

    name: str
    scope: Scope
    records: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "scope": self.scope.kind,
            "directory": str(self.scope.directory),
            "records": self.records,
        }


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export to a directory wrote, and the files that are no records and stayed behind."""

    directory: Path
    scopes: tuple[ExportedScope, ...]
    left: tuple[Skipped, ...]

    @property
    def records(self) -> int:
        return sum(each.records for each in self.scopes)


def export_objects(store: RecordStore, *, scope: ScopeWord | None = None) -> Iterator[dict[str, Any]]:
    """Yield every readable copy of the chain, or of one kind of scope, as JSON values, deepest first."""
    snapshot = store.snapshot(all=True)
    for meta, record in read_bodies(_metas(snapshot, scope)):
        yield {**as_dict(record), "scope": meta.scope.kind, "directory": str(meta.scope.directory)}


def export_directory(store: RecordStore, target: Path, *, scope: ScopeWord | None = None) -> Exported:
    """Write the record files as they are into a new or empty directory, a subdirectory for each scope.

    It appears under its name only when it is complete. Raise `MunimentError` where something stands there.
    """
    _check_target(target)
    snapshot = store.snapshot(all=True)
    sweep_half_exports(target.parent)
    made = half_export_name(target)
    try:
        ensure_private_dir(made)
        # Deepest first, as in a list: where two copies go to one place later, the first one counts.
        scopes = tuple(_scopes(snapshot, scope, made))[::-1]
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "exported_at": format_time(store.clock()),
            "scopes": [each.as_dict() for each in scopes],
        }
        # A directory's name may be no UTF-8; its path stands there for the reader only.
        text = clean_surrogates(json.dumps(manifest, ensure_ascii=False, indent=1))
        write_atomic(made / MANIFEST, f"{text}\n".encode())
        os.sync()
        made.rename(target)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        raise MunimentError(f"{target} was not written: {(error.strerror or str(error)).lower()}.") from error
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    left = tuple(each for each in snapshot.skipped if scope in (None, each.scope.kind))
    return Exported(target, scopes, left)


def _metas(snapshot: Snapshot, scope: ScopeWord | None) -> list[Meta]:
    return [each.meta for each in snapshot.entries if scope in (None, each.meta.scope.kind)]


def _check_target(target: Path) -> None:
    try:
        info = target.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise MunimentError(f"{target} cannot be used: {(error.strerror or str(error)).lower()}.") from error
    if not stat.S_ISDIR(info.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(info.st_mode) else "no directory"
        raise MunimentError(f"{target} is {kind}; name a new directory.")
    if target.samefile("."):
        raise MunimentError(f"{target} is the directory that you are in; name a new one.")
    with os.scandir(target) as entries:
        if next(entries, None) is not None:
            raise MunimentError(f"{target} is not empty; name a new directory.")


def _scopes(snapshot: Snapshot, kind: ScopeWord | None, made: Path) -> Iterator[ExportedScope]:
    metas = _metas(snapshot, kind)
    number = 0
    for scope in snapshot.chain.scopes:
        if kind not in (None, scope.kind):
            continue
        name = "global"
        if scope.kind == "project":
            number += 1
            name = f"project-{number}"
        mine = [meta for meta in metas if meta.scope == scope]
        yield ExportedScope(name, scope, _copy(scope, mine, made / name))


def _copy(scope: Scope, metas: Iterable[Meta], target: Path) -> int:
    """Copy record files byte for byte, with the time of their last change; return how many."""
    ensure_private_dir(target)
    copied = 0
    with open_memory_dir(scope) as dir_fd:
        for meta in metas:
            if dir_fd is None:
                break
            reading = read_in(dir_fd, f"{meta.id}{SUFFIX}")
            if reading.data is None:
                continue  # gone between the list and this look
            path = target / f"{meta.id}{SUFFIX}"
            write_atomic(path, reading.data, durable=False)
            os.utime(path, (reading.mtime, reading.mtime))
            copied += 1
    return copied
