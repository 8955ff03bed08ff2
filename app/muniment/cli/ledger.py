"""`muniment ledger`: structured memory by hand: searched with its provenance, judged, and brought in."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.cli.shell import FAILED, OK, Shell, UsageError, positive

if TYPE_CHECKING:
    from muniment.memory.ledger.ledger import Changed, Row
    from muniment.memory.ledger.row import Places

MAX_IMPORT_BYTES = 268_435_456
OUT_OF_REACH = (
    "Files, sessions, traces, exports, backups and what the model's server keeps are out of reach of this."
)
_SCOPES = ("global", "project", "agent")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    commands = parser.add_subparsers(
        required=True, metavar="search|show|pin|retract|restore|purge|import|telemetry"
    )

    def command(name: str, text: str, action: object) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.add_argument("--json", action="store_true", help="one JSON object")
        made.set_defaults(action=action)
        return made

    made = command("search", "search the rows of this place, best first; without words the newest", search)
    made.add_argument("query", metavar="QUERY", nargs="*")
    made.add_argument("--scope", choices=_SCOPES, help="only this scope")
    made.add_argument("--limit", type=positive, default=20, help="at most so many (default 20)")
    made.add_argument("--all", action="store_true", help="superseded, retracted and expired rows too")
    made.add_argument("--everywhere", action="store_true", help="rows of other projects too")

    made = command("show", "show one row whole", show)
    made.add_argument("id", metavar="ID")

    made = command("pin", "trust a row as your own: active, and as important and sure as can be", pin)
    made.add_argument("id", metavar="ID")

    made = command("retract", "take a row out of recall; restore brings it back", retract)
    made.add_argument("id", metavar="ID")
    made.add_argument("--yes", action="store_true", help="do not ask")

    made = command("restore", "make a retracted, superseded or expired row active again", restore)
    made.add_argument("id", metavar="ID")

    made = command("purge", "remove what a row says for good; a mark without its text stays", purge)
    made.add_argument("id", metavar="ID")
    made.add_argument(
        "--reason", default="", metavar="TEXT", help="why, kept with the mark; do not repeat it"
    )
    made.add_argument("--yes", action="store_true", help="do not ask")

    made = command("import", "bring in rows, one JSON object a line; their trust is external", bring_in)
    made.add_argument("file", metavar="FILE", help="JSON lines; - reads standard input")
    made.add_argument("--scope", choices=("global", "project"), help="put all of them there")
    made.add_argument("--dry-run", action="store_true", help="only check and say what would be written")

    made = command("telemetry", "list what recall did, newest first", telemetry)
    made.add_argument("--limit", type=positive, default=20, help="at most so many (default 20)")
    made.add_argument("--all", action="store_true", help="all turns that are kept")
    made.add_argument(
        "--scope",
        choices=("project", "global"),
        help="project: only turns of the sessions of the project here; global: of every place",
    )


def search(arguments: argparse.Namespace, shell: Shell) -> int:
    """Search or list rows with their provenance."""
    result = shell.surfaces.ledger.search(
        " ".join(arguments.query),
        scopes=_places(shell, everywhere=arguments.everywhere),
        kind=arguments.scope,
        limit=arguments.limit,
        all=arguments.all,
    )
    if arguments.json:
        shell.json(
            {
                "hits": [hit.as_dict() for hit in result.hits],
                "searched": result.searched,
                "truncated": result.truncated,
            }
        )
    else:
        for hit in result.hits:
            row = hit.row
            shell.out(f"{row.id}  {row.status:<10} {_scope(row)}  {_one(row.title)}")
            shell.out(
                f"    {row.type}, trust {row.trust}, {row.updated_at:%Y-%m-%d}, from {_one(row.source)}"
            )
        more = "; there are more, raise --limit" if result.truncated else ""
        shell.note(f"shown: {len(result.hits)} of {result.searched}{more}.")
    if result.notice:
        shell.note(result.notice)
    return OK


def show(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show one row in its exact form."""
    row = shell.surfaces.ledger.get(arguments.id)
    if arguments.json:
        shell.json({"row": row.as_dict()})
        return OK
    from muniment.safety.visible import exact_block, exact_line

    for name, value in row.as_dict().items():
        if name == "body" or value is None:
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        shell.out(f"{name}: {exact_line(text).text}")
    shell.out("body:")
    for line in exact_block(row.body).text.split("\n"):
        shell.out(f"  {line}")
    return OK


def pin(arguments: argparse.Namespace, shell: Shell) -> int:
    """Raise a row's trust, importance and confidence, and make it active."""
    return _changed(arguments, shell, shell.surfaces.ledger.pin(arguments.id, shell.origin), "is pinned")


def retract(arguments: argparse.Namespace, shell: Shell) -> int:
    """Take a row out of recall after asking."""
    ledger = shell.surfaces.ledger
    row = ledger.get(arguments.id)
    if row.status != "retracted":
        shell.confirm(f"Retract {row.id} ({_one(row.title)}), trust {row.trust}?", yes=arguments.yes)
    # An answer holds for the row that was shown; with --yes nothing is.
    seen = None if arguments.yes or row.status == "retracted" else row
    return _changed(arguments, shell, ledger.retract(row.id, shell.origin, seen=seen), "is retracted")


def restore(arguments: argparse.Namespace, shell: Shell) -> int:
    """Make a row active again."""
    changed = shell.surfaces.ledger.restore(arguments.id, shell.origin)
    return _changed(arguments, shell, changed, "is active again")


def purge(arguments: argparse.Namespace, shell: Shell) -> int:
    """Remove the text of a row for good after asking, and say where it may still be."""
    ledger = shell.surfaces.ledger
    row = ledger.get(arguments.id)
    if row.purged_at is None:
        shell.confirm(
            f"Remove what {row.id} says ({_one(row.title)}) from the ledger and its journal? "
            "This cannot be undone.",
            yes=arguments.yes,
        )
    done = ledger.purge(row.id, shell.origin, reason=arguments.reason, seen=row)
    where = "" if done.already else f"Its source, {_one(row.source)}, is as it was. "
    if arguments.json:
        shell.json(
            {
                "id": row.id,
                "status": done.row.status,
                "purged_at": done.row.as_dict()["purged_at"],
                "reason": done.row.purge_reason,
                "changed": not done.already,
                "texts_removed": done.texts_removed,
                "same_text": list(done.same_text),
                "left": list(done.left),
                "out_of_reach": OUT_OF_REACH,
            }
        )
    else:
        texts = "1 earlier text" if done.texts_removed == 1 else f"{done.texts_removed} earlier texts"
        gone = "was purged before" if done.already else "is purged"
        shell.out(f"{row.id} {gone}; {texts} left the journal. {where}{OUT_OF_REACH}")
    if done.same_text:
        shell.note(f"other rows say the very same: {', '.join(done.same_text)}.")
    for each in done.left:
        shell.note(each)
    return FAILED if done.left else OK


def bring_in(arguments: argparse.Namespace, shell: Shell) -> int:
    """Import rows, all or none; every line is checked first."""
    from muniment.memory.ledger.importing import read_lines
    from muniment.memory.origin import Origin

    data = _data(arguments.file, shell)
    project = _project(shell, data, arguments)
    lines = read_lines(data, project=project, scope=arguments.scope)
    ledger = shell.surfaces.ledger
    written: list[str | None] = [None] * len(lines)
    if not arguments.dry_run:
        before = sum(ledger.counts().values())
        rows = ledger.upsert(
            [line.row for line in lines], Origin(actor="import", surface="import", decided_by="user")
        )
        written = [row.id for row in rows]
        added = sum(ledger.counts().values()) - before
    else:
        added = 0
    if arguments.json:
        shell.json(
            {
                "dry_run": arguments.dry_run,
                "added": added,
                "rows": [
                    {"line": line.number, "id": row_id, "title": line.row.title, "trust": line.row.trust}
                    for line, row_id in zip(lines, written, strict=True)
                ],
            }
        )
        return OK
    for line, row_id in zip(lines, written, strict=True):
        shell.out(f"{row_id or f'line {line.number}'}  {line.row.scope_kind}  {_one(line.row.title)}")
    if arguments.dry_run:
        shell.note(f"dry run, nothing imported: {len(lines)} checked; their trust would be external.")
    else:
        shell.note(f"added: {added}, known already: {len(lines) - added}; their trust is external.")
    return OK


def telemetry(arguments: argparse.Namespace, shell: Shell) -> int:
    """List the turns of recall: what was asked, what was chosen, and how long it took."""
    kept = shell.surfaces.recall.telemetry
    limit = None if arguments.all else arguments.limit
    if arguments.scope == "project":
        from muniment.cli.session import of_project
        from muniment.session.logs.stored import list_sessions

        here = {each.id for each in of_project(shell, list_sessions(shell.paths))}
        rows = [row for row in kept.newest(-1) if row.session in here][:limit]
    else:
        rows = kept.newest(-1 if limit is None else limit)
    if arguments.json:
        shell.json({"rows": [row.as_dict() for row in rows], "kept": kept.count()})
        return OK
    from muniment.memory.records.times import format_time

    for row in rows:
        mark = "  (shadow, nothing sent)" if row.shadow else ""
        shell.out(
            f"{format_time(row.time)}  {len(row.selected)} of {row.candidates} candidates, "
            f"{row.bytes} bytes, {row.duration_ms:.1f} ms{mark}"
        )
        shell.out(f"    {_one(row.query)}")
        if row.selected:
            shell.out(f"    {_one(', '.join(row.selected))}")
    if not rows:
        shell.note("no turn has recalled anything yet.")
    return OK


def _places(shell: Shell, *, everywhere: bool) -> Places:
    from muniment.memory.ledger.row import Places

    if everywhere:
        return Places(everywhere=True)
    return Places(shell.surfaces.team.scope_key, any_agent=True)


def _project(shell: Shell, data: bytes, arguments: argparse.Namespace) -> str | None:
    """Return the key of the project here; it is made where rows for it are about to be written."""
    team = shell.surfaces.team
    key = team.scope_key
    named = (
        b'"project"' in data or b'"agent"' in data if arguments.scope is None else arguments.scope != "global"
    )
    if key is not None or not named or team.scope != "project":
        return key
    if arguments.dry_run:
        return "not made yet"
    from muniment.memory.records.project import ensure_project

    with team.guard() as directory:
        project = ensure_project(directory)
    return None if project is None else project.id


def _changed(arguments: argparse.Namespace, shell: Shell, changed: Changed, said: str) -> int:
    row = changed.after
    if arguments.json:
        shell.json(
            {
                "id": row.id,
                "status": row.status,
                "trust": row.trust,
                "importance": row.importance,
                "confidence": row.confidence,
                "changed": changed.before != changed.after,
            }
        )
        return OK
    already = "" if changed.before != changed.after else " already"
    shell.out(f"{row.id} {said}{already}: {row.status}, trust {row.trust}.")
    return OK


def _data(file: str, shell: Shell) -> bytes:
    if file == "-":
        return (shell.text_or_stdin("-", "The rows") or "").encode()
    from muniment.safety.errors import MunimentError
    from muniment.safety.files import FileRefused, read_regular

    try:
        return read_regular(Path(file), max_bytes=MAX_IMPORT_BYTES, single_link=False)
    except FileNotFoundError:
        raise MunimentError(f"There is no file {file}.") from None
    except FileRefused as refused:
        raise UsageError(f"{file} is not read: {refused.reason}.") from refused


def _scope(row: Row) -> str:
    return f"agent {_one(row.scope_key or '')}" if row.scope_kind == "agent" else row.scope_kind


def _one(text: str) -> str:
    from muniment.safety.visible import reading_line

    return reading_line(text)
