"""Carrying records out and in: an export, and an import that shows what it would do before it does it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from muniment.cli.shell import FAILED, OK, Shell
from muniment.memory.origin import Origin, utc_now
from muniment.memory.records.carry.export import export_directory, export_objects
from muniment.memory.records.carry.sources import MAX_TEXT_BYTES, Source, read_source, read_text
from muniment.memory.records.carry.transfer import ImportItem, plan_import
from muniment.safety.errors import MunimentError
from muniment.session.holdings.items import numbered

_WORTH_SAYING = frozenset(("secret", "orders", "hidden-characters", "mixed-scripts"))


def export(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write every readable copy: as lines of JSON to stdout, or as files into a new directory."""
    records = shell.surfaces.records
    if arguments.target == "-":
        for each in export_objects(records, scope=arguments.scope):
            shell.json(each)
        return OK
    done = export_directory(records, Path(arguments.target), scope=arguments.scope)
    if arguments.json:
        shell.json(
            {
                "directory": str(done.directory.resolve()),
                "records": done.records,
                "scopes": [each.as_dict() for each in done.scopes],
                "left": [{"path": str(each.path), "reason": each.reason} for each in done.left],
            }
        )
    else:
        what = f"{numbered(done.records, 'record')} of {numbered(len(done.scopes), 'scope')}"
        shell.out(f"Wrote {what} to {done.directory}.")
    for left in done.left:
        shell.note(f"not exported: {left.path}: {left.reason}")
    return OK


def bring_in(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show what an import would change, then write it if that is wanted; without a terminal only show."""
    records = shell.surfaces.records
    source = _source(arguments, shell)
    items = plan_import(records, source, scope=arguments.scope, replace_others=arguments.replace)
    writing = [item for item in items if item.plan is not None]
    ask = not arguments.yes
    if ask and not shell.has_terminal:
        _report(arguments, shell, items, source, dry_run=True)
        if not arguments.json:
            how = "; --yes writes them" if writing else ""
            shell.note(f"dry run: {numbered(len(writing), 'record')} would be written{how}.")
        return OK
    if ask and writing:
        for line in _lines(items, source):
            sys.stderr.write(line + "\n")
        shell.confirm(f"Write {len(writing)} of {len(items)} records?")
    origin = Origin(actor="import", surface="import", decided_by="user", reason=arguments.source)
    done: list[ImportItem] = []
    for item in items:
        if item.plan is not None:
            try:
                records.commit(item.plan, origin)
            except MunimentError as error:
                item = replace(item, verdict="refused", reason=error.sentence)
        done.append(item)
    _report(arguments, shell, done, source, dry_run=False)
    return FAILED if any(item.verdict == "refused" for item in done) else OK


def _source(arguments: argparse.Namespace, shell: Shell) -> Source:
    if arguments.source != "-":
        return read_source(Path(arguments.source))
    data = shell.read_stdin("What to import", max_bytes=MAX_TEXT_BYTES)
    return read_text(data, utc_now())


def _report(
    arguments: argparse.Namespace, shell: Shell, items: list[ImportItem], source: Source, *, dry_run: bool
) -> None:
    written = 0 if dry_run else sum(item.verdict in ("create", "replace") for item in items)
    if arguments.json:
        rows = [_row(item) for item in items]
        shell.json({"dry_run": dry_run, "written": written, "records": rows, "notes": source.notes})
        return
    for line in _lines(items, source):
        shell.out(line)
    if not dry_run:
        steps = " `muniment memory undo` takes them back one by one, the last first." if written > 1 else ""
        shell.note(f"{numbered(written, 'record')} written.{steps}")


def _row(item: ImportItem) -> dict[str, Any]:
    scope = None if item.plan is None else item.plan.scope
    return {
        "id": item.id,
        "verdict": item.verdict,
        "reason": item.reason or None,
        "name": item.name,
        "scope": None if scope is None else scope.kind,
        "directory": None if scope is None else str(scope.directory),
        "changes": [
            {"field": each.field, "before": each.before, "after": each.after} for each in item.changes
        ],
        "warnings": _warnings(item),
    }


def _lines(items: list[ImportItem], source: Source) -> Iterator[str]:
    """Yield what would be done, or was, in exact form: what hides or controls stands as an escape."""
    from muniment.cli.asking import difference_lines
    from muniment.safety.visible import exact_line

    for item in items:
        where = item.reason if item.plan is None or item.reason else f"in {item.plan.scope.directory}"
        came = "" if item.name == item.id else f"  ({_bare(item.name)})"
        yield f"{item.verdict:<8} {_bare(item.id)}{came}  {_bare(where)}"
        if item.verdict == "create":
            yield f"         title: {exact_line(item.title).text}"
        for change in item.changes:
            yield f"         {change.field}, - what is there, + what comes:"
            yield from (f"       {line}" for line in difference_lines(change.before, change.after))
        for warning in _warnings(item):
            yield f"       ! {_bare(warning)}"
    for note in source.notes:
        yield f"note     {_bare(note)}"


def _warnings(item: ImportItem) -> list[str]:
    if item.plan is None:
        return []
    return [each.text for each in item.plan.warnings if each.kind in _WORTH_SAYING]


def _bare(text: str) -> str:
    from muniment.safety.visible import exact_line

    return exact_line(text).text[1:-1]
