"""What a person does by hand on the screen: read, search, edit, delete, undo."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.approval.policy import Mode
from muniment.approval.proposal import Asker, Change, Field, Proposal
from muniment.memory.origin import Origin
from muniment.memory.records.plans import DeleteRequest
from muniment.memory.records.scan import Meta
from muniment.safety.errors import MunimentError
from muniment.tui.modals.question import Question
from muniment.tui.screens.reader import Reader
from muniment.tui.screens.search import SearchScreen
from muniment.tui.views import record_sections, request_sections

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp

_MODE_TEXT = {
    Mode.ACCEPT_EDITS: "Let file edits run unasked in this session? Memory still asks.",
    Mode.BYPASS: "Let everything run unasked in this session, writes to memory included? What ran is shown.",
}


def loosening_question(mode: Mode) -> Question:
    """Return the question before a looser mode."""
    return Question(_MODE_TEXT.get(mode, f"Go to {mode}?"), yes=f"Go to {mode}", no="Stay")


def inspect(app: MunimentApp, engine: Engine, draft: str) -> None:
    """Show the last request and the next one."""
    sections = request_sections(engine.assemble_preview(draft), "The next request, with your draft")
    if engine.last_assembly is not None:
        sections += request_sections(engine.last_assembly, "The last request, as sent")
    app.push_screen(Reader("Context", sections))


def search(app: MunimentApp, engine: Engine, words: str) -> None:
    """Search, and open what is chosen."""

    def chosen(meta: Meta | None) -> None:
        if meta is not None:
            open_record(app, engine, meta)

    app.push_screen(SearchScreen(engine.surfaces, words), chosen)


def open_record(app: MunimentApp, engine: Engine, meta: Meta) -> None:
    """Show one copy of a record, with its history, and offer what can be done with it."""
    records = engine.surfaces.records
    try:
        found = records.get_at(meta.id, meta.scope.directory)
        history = records.history(meta.id)
    except (MunimentError, OSError) as error:
        app.tell(str(error), error=True)
        return
    offers = (("d", "delete", "Delete"), ("e", "edit", "Edit"), ("y", "copy", "Copy id"))

    def chosen(word: str | None) -> None:
        match word:
            case "delete":
                app.run_worker(delete_record(app, engine, meta), group="by-hand")
            case "edit":
                app.run_worker(edit_record(app, engine, meta), group="by-hand")
            case "copy":
                app.copy_to_clipboard(meta.id)
                app.notify(f"Copied {meta.id}.", markup=False)
            case _:
                return

    app.push_screen(
        Reader(f"{meta.id} – {meta.scope.label}", record_sections(found, history), offers=offers), chosen
    )


def _origin(engine: Engine) -> Origin:
    return Origin(
        "user", "panel", engine.id, engine.recipe.name, engine.recipe.agent, "", str(engine.mode), "user"
    )


def _asker(engine: Engine) -> Asker:
    return Asker(session=engine.id, recipe=engine.recipe.name, agent="you, from the memory panel")


async def delete_record(app: MunimentApp, engine: Engine, meta: Meta) -> None:
    """Delete one copy, through the same dialog as a model's deletion."""
    from muniment.tools.record_proposals import delete_proposal

    records = engine.surfaces.records
    try:
        plan = await asyncio.to_thread(records.plan_delete, DeleteRequest(meta.id, meta.scope.kind))
        if plan.scope.directory != meta.scope.directory:
            app.tell(
                f"The copy of {meta.id} in {meta.scope.directory} lies under a deeper one; "
                "delete that first, or work in its directory.",
                error=True,
            )
            return
        decision = await app.ask(delete_proposal("memory panel", plan, f"hand-{meta.id}", _asker(engine)))
        if not decision.allowed:
            return
        outcome = await asyncio.to_thread(records.commit, plan, _origin(engine))
    except (MunimentError, OSError) as error:
        app.tell(str(error), error=True)
        return
    now = outcome.now_effective
    counts = "No copy counts now." if now is None else f"The copy in {now.directory} counts now."
    app.tell(f"Deleted {outcome.id} from {outcome.scope.directory}. {counts} /undo brings it back.")
    app.session_screen.written(f"deleted {outcome.id}")


async def edit_record(app: MunimentApp, engine: Engine, meta: Meta) -> None:
    """Edit one copy in the user's editor; what comes back is checked before it is written."""
    records = engine.surfaces.records
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        app.tell("No editor is set; set EDITOR, or use muniment memory edit with options.", error=True)
        return
    try:
        found = await asyncio.to_thread(records.get_at, meta.id, meta.scope.directory)
        with tempfile.TemporaryDirectory(prefix="muniment-") as directory:
            copy = Path(directory) / f"{meta.id}.yaml"
            copy.write_bytes(found.data)
            with app.suspend():
                code = _run_editor(command, copy)
            data = copy.read_bytes()
        if code != 0 or data == found.data:
            app.tell("Nothing was changed.")
            return
        plan = await asyncio.to_thread(records.plan_edit, found, data)
        outcome = await asyncio.to_thread(records.commit, plan, _origin(engine))
    except (MunimentError, OSError, ValueError) as error:
        app.tell(str(error), error=True)
        return
    app.tell(f"Wrote {outcome.id} in {outcome.scope.directory}. /undo takes it back.")
    app.session_screen.written(f"edited {outcome.id}")


def _run_editor(command: str, path: Path) -> int:
    """Hand the terminal to the editor; the app stands still meanwhile, as it must."""
    return subprocess.run([*shlex.split(command), str(path)], check=False).returncode


async def undo(app: MunimentApp, engine: Engine) -> None:
    """Take back this session's newest write, after a look at what that does."""
    records = engine.surfaces.records
    try:
        plan = await asyncio.to_thread(lambda: records.plan_undo(session=engine.id))
        entry = plan.entry
        proposal = Proposal(
            id=f"undo-{entry.id}",
            tool="undo",
            title="Take back a write",
            fields=(
                Field("identifier", entry.item),
                Field("surface", entry.surface),
                Field("path", entry.path),
                Field("effect", plan.action),
            ),
            plan=plan,
            change=Change("file", plan.text_now, plan.text_then),
            coverage="This approval covers taking back this one write, once.",
            shown_later="The text that stands now stays in the journal.",
            asker=_asker(engine),
        )
        decision = await app.ask(proposal)
        if not decision.allowed:
            return
        await asyncio.to_thread(records.commit_undo, plan, _origin(engine))
    except (MunimentError, OSError) as error:
        app.tell(str(error), error=True)
        return
    app.tell(f"Took back: {entry.action} {entry.item}.")
    app.session_screen.written("")
