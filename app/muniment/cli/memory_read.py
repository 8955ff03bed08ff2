"""The record commands that only read."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from muniment.cli.shell import OK, Shell
from muniment.memory.records import shapes
from muniment.memory.records.listing import Stats
from muniment.memory.records.listing_store import ListedStore


def list_records(arguments: argparse.Namespace, shell: Shell) -> int:
    """List records, deepest scope first."""
    snapshot = ListedStore(shell.paths, shell.cwd).snapshot(all=arguments.all)
    selection = shapes.select(
        snapshot,
        scope=arguments.scope,
        category=arguments.category,
        tag=arguments.tag,
        limit=arguments.limit,
    )
    if arguments.json:
        shell.json(shapes.list_shape(selection))
        return OK
    metas = [entry.meta for entry in selection.entries]
    name = _widest((meta.id for meta in metas), 32)
    place = _widest((meta.scope.label for meta in metas), 8)
    kind = _widest((meta.category for meta in metas), 12)
    for entry in selection.entries:
        meta = entry.meta
        mark = "" if entry.effective else "  (expired)" if entry.expired else "  (overridden)"
        where = f"{meta.id:<{name}} {meta.scope.label:<{place}} {meta.category:<{kind}}"
        shell.out(f"{where} {_one(meta.title)}{mark}")
    if selection.total > len(selection.entries):
        shell.note(f"{selection.total - len(selection.entries)} more; raise --limit to see them.")
    if not selection.entries:
        shell.note("no records here; write one with: muniment memory store --title … --content …")
    for skipped in selection.skipped:
        shell.note(f"skipped {skipped.path}: {skipped.reason}")
    for excluded in snapshot.chain.excluded:
        shell.note(f"excluded {excluded.directory}: {excluded.reason}")
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show one record in its exact form."""
    found = shell.surfaces.records.get(arguments.id, arguments.scope, expired=arguments.all)
    if arguments.json:
        shell.json(shapes.show_shape(found))
        return OK
    from muniment.memory.records.record import as_dict
    from muniment.safety.visible import exact_block, exact_line

    for name, value in as_dict(found.record).items():
        if name == "content" or value is None:
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        shell.out(f"{name}: {exact_line(text).text}")
    if found.expired:
        shell.out("This copy has expired and does not count.")
    shell.out(f"scope: {found.scope.label}, {found.scope.directory}")
    for other in found.overrides:
        shell.out(f"overrides: {other.label}, {other.directory}")
    shell.out("content:")
    for line in exact_block(found.record.content).text.split("\n"):
        shell.out(f"  {line}")
    return OK


def stats(arguments: argparse.Namespace, shell: Shell) -> int:
    """Count each scope of the chain and name what is left out."""
    return _counted(arguments, shell, ListedStore(shell.paths, shell.cwd).stats())


def reindex(arguments: argparse.Namespace, shell: Shell) -> int:
    """Make the search indexes of this chain anew from the files, and count them."""
    return _counted(arguments, shell, shell.surfaces.records.reindex())


def _counted(arguments: argparse.Namespace, shell: Shell, counted: Stats) -> int:
    if arguments.json:
        shell.json(shapes.stats_shape(counted))
        return OK
    width = _widest((each.scope.label for each in counted.chain), 8)
    for each in counted.chain:
        skipped = f", {each.skipped} skipped" if each.skipped else ""
        noun = "record " if each.records == 1 else "records"
        shell.out(f"{each.scope.label:<{width}} {each.records:>6} {noun}{skipped}  {each.scope.directory}")
        for warning in each.scope.warnings:
            shell.note(warning)
    for excluded in counted.excluded:
        shell.out(f"excluded {excluded.directory}: {excluded.reason}")
    shell.out(f"{counted.distinct} distinct")
    return OK


def history(arguments: argparse.Namespace, shell: Shell) -> int:
    """List the journalled writes of one record or of the whole chain, newest first."""
    lines = shell.surfaces.records.history(arguments.id, surface=None)
    if arguments.scope is not None:
        lines = [line for line in lines if line.entry.scope == arguments.scope]
    shown = lines[: None if arguments.all else arguments.limit]
    if arguments.json:
        shell.json(shapes.history_shape(shown))
        return OK
    from muniment.memory.records.times import format_time

    width = _widest((f"{line.entry.item}@{line.entry.id}" for line in shown), 0)
    for line in shown:
        entry = line.entry
        state = " (failed)" if line.failed else f" (undone by {line.undone_by})" if line.undone_by else ""
        state += f" (undoes {entry.undoes})" if entry.undoes else ""
        actor, decider = entry.origin.actor, entry.origin.decided_by
        who = f"{actor}, decided by {decider}" if decider not in ("", actor) else actor
        place = entry.scope if entry.surface == "record" else entry.surface
        when = format_time(entry.time)
        shell.out(
            f"{f'{entry.item}@{entry.id}':<{width}}  {when}  {entry.action:<8} {place:<9} by {who}{state}"
        )
    if len(lines) > len(shown):
        shell.note(f"{len(lines) - len(shown)} more; raise --limit to see them.")
    if not lines:
        shell.note(f"the journal knows no write of {arguments.id or 'this scope chain'} here.")
    else:
        shell.note("memory restore ID@ENTRY brings back the text from before that write.")
    return OK


def _one(text: str) -> str:
    from muniment.safety.visible import reading_line

    return reading_line(text)


def _widest(texts: Iterable[str], least: int) -> int:
    """Return how wide a column has to be so that what follows it stands in line."""
    return max(least, max(map(len, texts), default=0))
