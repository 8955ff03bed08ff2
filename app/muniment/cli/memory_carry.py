"""Carrying records to another machine: a bundle out, and a bundle in after a dry run."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from muniment.cli.shell import FAILED, OK, Shell, UsageError, dumps
from muniment.memory.origin import Origin
from muniment.memory.records.transfer import ImportItem, export_bundle, plan_import
from muniment.safety.errors import MunimentError
from muniment.safety.files import FileRefused, read_regular, write_atomic

MAX_BUNDLE_BYTES = 268_435_456


def export(arguments: argparse.Namespace, shell: Shell) -> int:
    """Write every readable copy as one JSON object, to stdout or to a private file."""
    bundle = export_bundle(shell.surfaces.records, scope=arguments.scope)
    text = dumps(bundle) + "\n"
    if arguments.output is None:
        sys.stdout.write(text)
        return OK
    target = Path(arguments.output)
    if target.exists() or target.is_symlink():
        raise MunimentError(f"{target} exists already; name another file.")
    write_atomic(target, text.encode("utf-8"))
    shell.note(f"wrote {len(bundle['records'])} records to {target}.")
    return OK


def bring_in(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show what a bundle would change, then write it if that is wanted; without a terminal only show."""
    records = shell.surfaces.records
    items = plan_import(
        records, _text(arguments, shell), scope=arguments.scope, overwrite=arguments.overwrite
    )
    writing = [item for item in items if item.plan is not None]
    ask = not arguments.yes
    if ask and not shell.has_terminal:
        _report(arguments, shell, items, dry_run=True)
        if writing and not arguments.json:
            shell.note(f"dry run: {len(writing)} records would be written; --yes writes them.")
        return OK
    if ask and writing:
        for item in items:
            sys.stderr.write(_line(item) + "\n")
        shell.confirm(f"Write {len(writing)} of {len(items)} records?")
    origin = Origin(actor="import", surface="import", decided_by="user")
    done: list[ImportItem] = []
    for item in items:
        if item.plan is None:
            done.append(item)
            continue
        try:
            records.commit(item.plan, origin)
        except MunimentError as error:
            done.append(replace(item, verdict="refused", reason=error.sentence))
        else:
            done.append(item)
    _report(arguments, shell, done, dry_run=False)
    return FAILED if any(item.verdict == "refused" for item in done) else OK


def _text(arguments: argparse.Namespace, shell: Shell) -> str:
    if arguments.file == "-":
        return shell.text_or_stdin("-", "The bundle") or ""
    try:
        return read_regular(Path(arguments.file), max_bytes=MAX_BUNDLE_BYTES, single_link=False).decode(
            "utf-8"
        )
    except FileNotFoundError:
        raise MunimentError(f"There is no file {arguments.file}.") from None
    except FileRefused as refused:
        raise MunimentError(f"{arguments.file} is not read: {refused.reason}.") from refused
    except UnicodeDecodeError as error:
        raise UsageError(f"{arguments.file} is not UTF-8 text (byte {error.start + 1}).") from None


def _report(arguments: argparse.Namespace, shell: Shell, items: list[ImportItem], *, dry_run: bool) -> None:
    if arguments.json:
        shell.json({"dry_run": dry_run, "records": [_row(item) for item in items]})
        return
    for item in items:
        shell.out(_line(item))


def _row(item: ImportItem) -> dict[str, Any]:
    scope = None if item.plan is None else item.plan.scope
    return {
        "id": item.id,
        "verdict": item.verdict,
        "reason": item.reason or None,
        "scope": None if scope is None else scope.kind,
        "directory": None if scope is None else str(scope.directory),
    }


def _line(item: ImportItem) -> str:
    from muniment.safety.visible import exact_line

    where = item.reason if item.plan is None or item.reason else f"in {item.plan.scope.directory}"
    return f"{item.verdict:<8} {exact_line(item.id).text[1:-1]}  {exact_line(where).text[1:-1]}"
