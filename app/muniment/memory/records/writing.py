"""Carrying out a plan: compared with the disk under the lock, journalled first, written whole or not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from muniment.memory.journal import Journal
from muniment.memory.origin import Origin
from muniment.memory.records.plans import ChangedAfterApproval, DeletePlan, StorePlan, StoreRefused
from muniment.memory.records.project import ensure_project
from muniment.memory.records.scan import read_copy
from muniment.memory.records.scope import ScopeChain
from muniment.safety.errors import MunimentError
from muniment.safety.files import digest, ensure_private_dir, remove_file, remove_stale_temps, write_atomic


def commit_plan(
    journal: Journal,
    plan: StorePlan | DeletePlan,
    origin: Origin,
    chain: Callable[[], ScopeChain],
    swept: set[Path],
) -> str:
    """Carry out a plan and return the id of its journal entry.

    What killed writers left is cleared away from a directory once, which `swept` keeps.
    Raise `ChangedAfterApproval` where the file is not what was seen, `StoreRefused` where the disk refuses.
    """
    with journal.guard(plan.scope.directory):
        before = _unchanged(plan, chain())
        if isinstance(plan, StorePlan):
            _make_ready(plan, swept)
            return _write(journal, plan, before, origin)
        return _remove(journal, plan, before, origin)


def _make_ready(plan: StorePlan, swept: set[Path]) -> None:
    try:
        if plan.scope.kind == "project":
            ensure_project(plan.scope.directory)
        ensure_private_dir(plan.scope.memory_dir)
        if plan.scope.memory_dir not in swept:
            remove_stale_temps(plan.scope.memory_dir)
            swept.add(plan.scope.memory_dir)
    except OSError as error:
        raise _not_done("written", plan.path, error) from error


def _write(journal: Journal, plan: StorePlan, before: bytes | None, origin: Origin) -> str:
    action = "create" if plan.before is None else "replace"
    entry = _announce(journal, plan, action, before, digest(plan.data), origin)
    try:
        write_atomic(plan.path, plan.data)
    except (OSError, MunimentError) as error:
        _failed(journal, entry)
        raise _not_done("written", plan.path, error) from error
    _settled(journal, entry)
    return entry


def _remove(journal: Journal, plan: DeletePlan, before: bytes | None, origin: Origin) -> str:
    entry = _announce(journal, plan, "delete", before, None, origin)
    try:
        remove_file(plan.path)
    except (OSError, MunimentError) as error:
        _failed(journal, entry)
        raise _not_done("deleted", plan.path, error) from error
    _settled(journal, entry)
    return entry


def _unchanged(plan: StorePlan | DeletePlan, chain: ScopeChain) -> bytes | None:
    """Return the bytes that stand there now if they are those of the plan."""
    if chain.exclusion(plan.scope.directory) is None:
        reading = read_copy(plan.scope, plan.path.stem)
        now = None if reading.data is None else digest(reading.data)
        if not reading.reason and now == plan.digest_before:
            return reading.data
    raise ChangedAfterApproval(f"{plan.path} was changed after approval, nothing written.")


def _announce(
    journal: Journal,
    plan: StorePlan | DeletePlan,
    action: str,
    before: bytes | None,
    after: str | None,
    origin: Origin,
) -> str:
    return journal.begin(
        origin=origin,
        surface="record",
        action=action,
        scope=plan.scope.kind,
        directory=plan.scope.directory,
        item=plan.path.stem,
        path=plan.path,
        before=before,
        digest_before=plan.digest_before,
        digest_after=after,
    ).id


def _settled(journal: Journal, entry: str) -> None:
    # The write is done; a journal that cannot note so (disk full) is no reason to call it failed.
    with suppress(OSError, MunimentError):
        journal.settle(entry)


def _failed(journal: Journal, entry: str) -> None:
    # Whatever stopped the write may stop this note too; an unsettled entry is judged by its digest.
    with suppress(OSError, MunimentError):
        journal.fail(entry)


def _not_done(verb: str, path: Path, error: Exception) -> StoreRefused:
    return StoreRefused(f"{path} was not {verb}: {_why(error)}.")


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error).rstrip(".")
