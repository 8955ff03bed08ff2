"""`muniment consolidate`: waiting notes become team notes, knowledge and ledger rows, once you said yes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from muniment.cli.shell import OK, NotDone, Shell
from muniment.safety.visible import exact_block, exact_line, reading

if TYPE_CHECKING:
    from muniment.memory.team.consolidate_plan import Outcome, Preview
    from muniment.session.team.digesting import Digested


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dry-run", action="store_true", help="show what would be done; asks no model")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--digest", help="write this digest and not a made one; - reads standard input")
    parser.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="NOTE=CATEGORY",
        help="file a note elsewhere; may be given several times",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(action=consolidate)


def consolidate(arguments: argparse.Namespace, shell: Shell) -> int:
    """Show the whole consolidation, ask, and do it; too few notes are no failure."""
    from muniment.session.team.digesting import prepare

    work = shell.surfaces.team.consolidation
    given = shell.text_or_stdin(arguments.digest, "--digest")
    said = () if arguments.dry_run else work.recover()
    for sentence in said:
        shell.note(sentence)
    preview = prepare(shell.surfaces)
    if not preview.enough:
        return _too_few(arguments, shell, preview)
    for each in arguments.category:
        # A name may hold the sign itself; a category never does.
        name, _, category = each.rpartition("=")
        preview = preview.with_category(name if name.endswith(".md") else f"{name}.md", category)
    if given is not None:
        preview = preview.with_digest(given)
    if arguments.dry_run:
        if arguments.json:
            shell.json(preview.as_dict() | {"applied": False})
        else:
            _show(preview, shell.out)
            shell.note("nothing was changed; the digest here is the one by rules.")
        return OK
    if not arguments.yes and not shell.has_terminal:
        raise NotDone("Nothing was changed: there is no terminal to ask on; --yes answers in advance.")
    digested = _with_model(shell, preview, asked=given is None, yes=arguments.yes)
    preview = digested.preview
    if preview.why:
        shell.note(f"the rules wrote the digest: {preview.why}")
    if not arguments.yes:
        _show(preview, _on_stderr if arguments.json else shell.out)
    shell.confirm(f"Consolidate these {len(preview.notes)} notes?", yes=arguments.yes)
    outcome = work.apply(preview, shell.origin)
    if arguments.json:
        shell.json(preview.as_dict() | _result(outcome, digested))
    else:
        _tell(outcome, shell)
    return OK


def _too_few(arguments: argparse.Namespace, shell: Shell, preview: Preview) -> int:
    count = f"{preview.eligible} note{'' if preview.eligible == 1 else 's'}"
    if arguments.json:
        shell.json(preview.as_dict() | {"applied": False})
    else:
        shell.out(
            f"Nothing to do: {count} wait{'s' if preview.eligible == 1 else ''} in the inbox, "
            f"a consolidation needs {preview.threshold}."
        )
    return OK


def _with_model(shell: Shell, preview: Preview, *, asked: bool, yes: bool) -> Digested:
    """Let the configured model write the digest, if it may see the notes; else the digest stays."""
    from muniment.session.team.digesting import Digested, digested
    from muniment.settings import effective_provider

    provider, _ = effective_provider(shell.settings, shell.environ)
    if not asked or provider == "rehearsal" or preview.breaker:
        return Digested(preview)
    try:
        model_name = reading(shell.settings.model.name or provider)
        shell.confirm(
            f"Let {model_name} write the digest? It is sent the {len(preview.notes)} notes.", yes=yes
        )
    except NotDone:
        return Digested(preview)
    import asyncio

    from muniment.model.factory import build_model

    async def run() -> Digested:
        model = build_model(shell.settings, shell.environ)
        try:
            return await digested(shell.surfaces, preview, model)
        finally:
            await model.close()

    from muniment.safety.errors import MunimentError

    try:
        return asyncio.run(run())
    except MunimentError as error:
        return Digested(preview.with_digest(preview.digest, by="rules", why=error.sentence))


def _show(preview: Preview, out: Callable[[str], None]) -> None:
    if preview.breaker:
        out(
            f"{len(preview.notes)} notes mostly repeat one text: they go to the archive unread, nothing else."
        )
    for each in preview.notes:
        out(f"{each.note.name}: {exact_line(each.title).text} by {each.agent}")
        if not preview.breaker:
            book = f", notebook of {each.notebook}" if each.notebook else ""
            out(f"  {each.reference}{book}; ledger: semantic, {preview.scope}, trust {each.trust}")
        for warning in each.warnings:
            out(f"  ! {warning.place}: {warning.text}")
    if preview.left:
        out(f"{preview.left} more notes wait for the next consolidation.")
    if preview.digest:
        out("")
        out("Added to the team notes:")
        for line in exact_block(preview.digest.rstrip("\n")).text.split("\n"):
            out(f"  {line}")


def _tell(outcome: Outcome, shell: Shell) -> None:
    count = f"{len(outcome.archived)} notes"
    if outcome.breaker:
        shell.out(f"Archived {count} that mostly repeat one text; nothing was learned from them.")
    else:
        shell.out(
            f"Consolidated {count}: {len(outcome.entries)} knowledge entries, {outcome.rows} ledger rows."
        )
        if outcome.notebooks:
            shell.out(f"Notebooks of {', '.join(outcome.notebooks)} were added to.")
    for sentence in outcome.notes:
        shell.note(sentence)


def _result(outcome: Outcome, digested: Digested) -> dict[str, Any]:
    # The preview's own list of notes stays; what was done stands beside it.
    return outcome.as_dict() | {"applied": True, "usage": digested.usage.as_dict()}


def _on_stderr(line: str) -> None:
    sys.stderr.write(reading(line) + "\n")
