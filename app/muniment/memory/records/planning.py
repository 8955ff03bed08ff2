"""Turning a request into a plan: where it goes, what it replaces, and what a reviewer should know."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from muniment.memory.records.gitignore import tracked_by_git
from muniment.memory.records.ids import ID_RULE, is_valid_id
from muniment.memory.records.listing import Found
from muniment.memory.records.plans import (
    CLEARABLE,
    SCOPE_WORDS,
    InvalidRecord,
    PlanWarning,
    StorePlan,
    StoreRefused,
    StoreRequest,
)
from muniment.memory.records.record import DEFAULT_CATEGORY, Record, encode
from muniment.memory.records.scope import Scope, ScopeChain
from muniment.memory.records.times import expired, format_time, later, whole_seconds
from muniment.paths import PROJECT_DIR_NAME
from muniment.safety.files import digest


def check_id(record_id: str) -> None:
    """Raise `InvalidRecord` for a text that is no identifier, quoting the rule."""
    if not is_valid_id(record_id):
        shown = ascii(record_id[:80])[1:-1]
        raise InvalidRecord(f'"{shown}" is no identifier of a record: an identifier has {ID_RULE}.')


def has_lone_surrogate(text: str) -> bool:
    """Tell whether a text holds half of a surrogate pair, which no file and no request can carry."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def check_scope_word(scope: str | None) -> None:
    """Raise `InvalidRecord` for a scope other than project and global."""
    if scope is not None and scope not in SCOPE_WORDS:
        raise InvalidRecord(f'"{ascii(scope[:80])[1:-1]}" is no scope: only project and global are accepted.')


def check_store(request: StoreRequest) -> None:
    """Raise `InvalidRecord` where a request can never be stored, whatever stands on disk."""
    if request.id is not None:
        check_id(request.id)
    check_scope_word(request.scope)
    texts = [("title", request.title), ("content", request.content), ("category", request.category or "")]
    texts += [(f"tag {number}", tag) for number, tag in enumerate(request.tags or (), 1)]
    for name, text in texts:
        if "\x00" in text:
            raise InvalidRecord(f"The {name} holds a NUL character, which no record may hold.")
        if has_lone_surrogate(text):
            raise InvalidRecord(f"The {name} holds half of a character (a lone surrogate).")
    for name, text in texts[:2]:
        if not text.strip():
            raise InvalidRecord(f"The {name} is empty; a record needs a title and content.")
    given = {
        "tags": bool(request.tags),
        "category": bool(request.category),
        "expires_at": bool(request.expires_at),
    }
    for word in request.clear:
        if word not in CLEARABLE:
            raise InvalidRecord(f"clear accepts tags, category and expires_at, not {word[:40]!a}.")
        if given[word]:
            raise InvalidRecord(f"{word} is given and cleared at once; leave one of the two out.")


def store_target(chain: ScopeChain, word: str | None) -> tuple[Scope, bool]:
    """Return the scope a write goes to and whether its directory has yet to be made; or `StoreRefused`."""
    if word == "global":
        scope = chain.global_scope
        if scope is None:
            reason = next(
                (each.reason for each in chain.excluded if each.directory == chain.data), "is not usable"
            )
            raise StoreRefused(f"Nothing can be stored globally: {chain.data} {reason}.")
        return check_writable(scope), not scope.memory_dir.is_dir()
    deepest = chain.deepest_project
    if deepest is not None:
        return check_writable(deepest), False
    directory = chain.cwd / PROJECT_DIR_NAME
    excluded = chain.exclusion(directory)
    if excluded is not None:
        raise StoreRefused(f"Nothing can be stored for this project: {directory} {excluded.reason}.")
    if chain.cwd.parent == chain.cwd:
        raise StoreRefused(
            f"{chain.cwd} is the file system's root and no project: work in a directory, or use scope global."
        )
    if not chain.cwd.is_dir():
        raise StoreRefused(
            f"{chain.cwd} is gone: start again in a directory that exists, or use scope global."
        )
    if not os.access(chain.cwd, os.W_OK | os.X_OK):
        raise StoreRefused(
            f"{directory} cannot be made: {chain.cwd} is not writable; work elsewhere or use scope global."
        )
    return Scope("project", directory), True


def check_writable(scope: Scope) -> Scope:
    """Return the scope; raise `StoreRefused` where nothing can be written in its directory."""
    target = scope.memory_dir if scope.memory_dir.is_dir() else scope.directory
    if target.is_dir() and not os.access(target, os.W_OK | os.X_OK):
        raise StoreRefused(f"Nothing can be stored in {target}: the directory is not writable for you.")
    return scope


def merge(request: StoreRequest, record_id: str, before: Record | None, source: str, now: datetime) -> Record:
    """Return the record that a request makes of what stands there."""
    moment = whole_seconds(now)
    if before is None:
        return Record(
            id=record_id,
            category=request.category or DEFAULT_CATEGORY,
            title=request.title,
            content=request.content,
            tags=request.tags or (),
            source=source,
            created_at=moment,
            updated_at=moment,
            expires_at=None if request.expires_at is None else whole_seconds(request.expires_at),
        )
    category = DEFAULT_CATEGORY if "category" in request.clear else before.category
    tags = () if "tags" in request.clear else before.tags
    expires = None if "expires_at" in request.clear else before.expires_at
    return replace(
        before,
        category=request.category or category,
        title=request.title,
        content=request.content,
        tags=request.tags or tags,
        source=source,
        updated_at=later(moment, before.created_at),
        expires_at=expires if request.expires_at is None else whole_seconds(request.expires_at),
    )


def expiry_note(before: Record | None, after: Record, now: datetime) -> str | None:
    """Return the sentence about a copy that is written but does not count, or None."""
    if after.expires_at is None or not expired(after.expires_at, now):
        return None
    when = format_time(after.expires_at)
    if before is not None and before.expires_at == after.expires_at:
        return f"This copy stays expired (since {when}); clear expires_at or give a new one to make it count."
    return f"This copy is expired from the start: its expires_at {when} is past."


def place_warnings(chain: ScopeChain, scope: Scope, new: bool) -> list[PlanWarning]:
    """Return what a reviewer should know about the directory a write goes to."""
    place = "scope"
    warnings = [PlanWarning("world-writable", text, place) for text in scope.warnings]
    if new:
        warnings.append(PlanWarning("new-directory", f"The scope directory {scope.directory} is new.", place))
    if scope.kind == "global":
        return warnings
    if scope.directory.parent != chain.cwd:
        text = f"The scope directory {scope.directory} is an ancestor's, above {chain.cwd}."
        warnings.append(PlanWarning("ancestor", text, place))
    tree = tracked_by_git(scope.directory)
    if tree is not None:
        text = f"{scope.directory} is not ignored by git in {tree}; what is stored there can be committed."
        warnings.append(PlanWarning("not-ignored", text, place))
    return warnings


def override_warnings(
    copies: list[Found], scope: Scope, chain: ScopeChain, record_id: str
) -> list[PlanWarning]:
    """Return warnings about readable, unexpired copies of the same id in other scopes."""
    order = [each.directory for each in chain.scopes]
    depth = order.index(scope.directory) if scope.directory in order else len(order)
    warnings = []
    for copy in copies:
        if copy.scope.directory == scope.directory or copy.expired:
            continue
        where = f"{copy.scope.label} ({copy.scope.directory})"
        if order.index(copy.scope.directory) < depth:
            text = f"Another copy of {record_id} would be overridden: the one in {where}."
        else:
            text = f"This copy of {record_id} would be overridden by the one in {where}."
        warnings.append(PlanWarning("overridden", text, "identifier"))
    return warnings


def finish_plan(
    scope: Scope,
    path: Path,
    before: Record | None,
    after: Record,
    data_before: bytes | None,
    warnings: list[PlanWarning],
    now: datetime,
) -> StorePlan:
    """Encode what is to be written and gather all warnings; raise `RecordTooLarge`."""
    from muniment.safety.findings import warnings_for

    data = encode(after)
    note = expiry_note(before, after, now)
    if note is not None:
        warnings.append(PlanWarning("expired", note, "expiry"))
    fields = [("title", after.title), ("content", after.content), ("category", after.category)]
    fields += [("tags", tag) for tag in after.tags]
    warnings += [PlanWarning(kind, text, place) for kind, text, place in warnings_for(fields)]
    return StorePlan(
        scope=scope,
        path=path,
        before=before,
        after=after,
        data=data,
        digest_before=None if data_before is None else digest(data_before),
        warnings=tuple(warnings),
        notes=() if note is None else (note,),
    )


def describe_unreadable(unreadable: list[tuple[Path, str]]) -> str:
    """Return a clause that names files which were passed over, or an empty text."""
    if not unreadable:
        return ""
    return "; not readable: " + ", ".join(f"{path} {reason}" for path, reason in unreadable)
