"""The memory panel by its keys: every kind is read, written, moved, held, put away and taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from muniment.memory.ledger.row import Row
from muniment.paths import resolve_paths
from muniment.tui.app import MunimentApp
from muniment.tui.by_hand.door import verbs_of
from muniment.tui.modals.approval import ApprovalScreen
from muniment.tui.modals.choose import Choose
from muniment.tui.modals.form import Form
from muniment.tui.modals.question import Question
from muniment.tui.screens.reader import Reader
from support.app import allow as allow_shown
from support.app import boot_for, decide, opened, opened_dialog, screen_text, text_in, until
from support.memory_world import BY_HAND, memory_world
from support.panel import an_editor, group_row, items, nodes, panel_open, stand_on

Stage = tuple[MunimentApp, Pilot[int], Path]


@asynccontextmanager
async def stage(tmp_path: Path, size: tuple[int, int] = (130, 50)) -> AsyncIterator[Stage]:
    project = memory_world(tmp_path)
    async with opened(boot_for(project), size=size) as (app, pilot):
        await panel_open(app, pilot)
        yield app, pilot, project


async def shown(pilot: Pilot[int], app: MunimentApp, kind: type[object]) -> None:
    await until(pilot, lambda: isinstance(app.screen, kind))
    await pilot.pause()


async def allow(pilot: Pilot[int], app: MunimentApp) -> None:
    """Allow the user's own proposal, whose dialog opens without another key."""
    await opened_dialog(pilot, app)
    await allow_shown(pilot, app)


async def test_every_surface_has_its_row_with_its_amount(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, _, _):
        assert group_row(app, "Project") == "Project  2"
        assert group_row(app, "Parent") == "Parent  2"
        assert group_row(app, "Global") == "Global  2"
        assert group_row(app, "User memory").startswith("User memory  2/200 · ")
        assert group_row(app, "Inbox") == "Inbox  2 of 5 · 1 held"
        assert group_row(app, "Pinned").endswith(" B")
        assert group_row(app, "Team notes").endswith(" B")
        assert group_row(app, "Notebooks") == "Notebooks  1"
        assert group_row(app, "Knowledge") == "Knowledge  1"
        assert group_row(app, "Ledger") == "Ledger  5 active"
        assert group_row(app, "Skipped files") == "Skipped files  1"
        states = {(each.id, each.place.endswith("data")): each.state for each in items(app, "record")}
        assert states["pilot-terms", True] == "overridden"
        assert states["pilot-terms", False] == ""
        assert states["old-plan", False] == "expired"


KINDS = ["record", "user", "inbox", "pinned", "notes", "notebook", "knowledge", "ledger"]


@pytest.mark.parametrize("kind", KINDS)
async def test_enter_reads_each_kind_whole_with_its_place_and_history(tmp_path: Path, kind: str) -> None:
    texts = {
        "record": ("open-questions", '"open-questions"', "Who counted the late answers?"),
        "user": ("tone", '"Prefers plain words and short sentences"', "In every session and project."),
        "inbox": ("Late answers", '"reviewer"', "no model sees it before that"),
        "pinned": ("Friday", "No new sheets after Thursday noon.", "You only write it"),
        "notes": ("notes.md", "Sheets are numbered from one.", "requests carry the newest"),
        "notebook": ("reviewer", "Sheet 12 is missing.", "only its own requests"),
        "knowledge": ("sheets", '"conventions"', "Two coders, six codes, one pass."),
        "ledger": ("Finding 2", '"semantic"', "It may be recalled."),
    }
    which, *wanted = texts[kind]
    async with stage(tmp_path) as (app, pilot, _):
        await stand_on(app, pilot, kind, which)
        await pilot.press("enter")
        await shown(pilot, app, Reader)
        text = screen_text(app)
        for each in wanted:
            assert each in text
        assert "History" in text
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_a_record_view_says_what_overrides_what(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        item = next(each for each in items(app, "record") if each.state == "overridden")
        app.by_hand("open", item)
        await shown(pilot, app, Reader)
        assert "overridden by the copy in" in screen_text(app)
        await pilot.press("escape")
        item = next(each for each in items(app, "record") if each.id == "pilot-terms" and not each.state)
        app.by_hand("open", item)
        await shown(pilot, app, Reader)
        assert "overrides the copy in" in screen_text(app)
        assert "This copy counts here." in screen_text(app)


@pytest.mark.parametrize("kind", ["record", "user", "inbox", "pinned", "knowledge", "ledger"])
async def test_d_takes_away_only_after_the_dialog_which_opens_at_once(tmp_path: Path, kind: str) -> None:
    which = {
        "record": "open-questions",
        "user": "tone",
        "inbox": "Late answers",
        "pinned": "Friday",
        "knowledge": "sheets",
        "ledger": "Finding 2",
    }[kind]
    async with stage(tmp_path) as (app, pilot, _):
        item = await stand_on(app, pilot, kind, which)
        await pilot.press("d")
        await decide(pilot, app, await opened_dialog(pilot, app), "n")
        await until(pilot, lambda: app.screen is app.session_screen)
        await pilot.pause(1.0)
        assert item.key in [each.key for each in items(app, kind)]
        await stand_on(app, pilot, kind, which)
        await pilot.press("d")
        await allow(pilot, app)

        def gone() -> bool:
            found = [each for each in items(app, kind) if each.key == item.key]
            return all(each.state == "retracted" for each in found) if kind == "ledger" else not found

        await until(pilot, gone)


@pytest.mark.parametrize("kind", ["record", "user", "inbox", "pinned", "knowledge"])
async def test_u_brings_back_what_d_took(tmp_path: Path, kind: str) -> None:
    which = {
        "record": "open-questions",
        "user": "tone",
        "inbox": "Late",
        "pinned": "Friday",
        "knowledge": "sheets",
    }
    async with stage(tmp_path) as (app, pilot, _):
        item = await stand_on(app, pilot, kind, which[kind])
        await pilot.press("d")
        await allow(pilot, app)
        await until(pilot, lambda: item.key not in [each.key for each in items(app, kind)])
        app.session_screen.panel.records_tree.focus()
        await pilot.press("u")
        await until(pilot, lambda: item.key in [each.key for each in items(app, kind)])


async def test_u_brings_back_the_row_of_an_entry_as_it_was(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):

        def rows() -> list[Row]:
            assert app.engine is not None
            return [each.row for each in app.engine.surfaces.ledger.search("coders", all=True).hits]

        (before,) = rows()
        item = await stand_on(app, pilot, "knowledge", "sheets")
        await pilot.press("d")
        await allow(pilot, app)
        await until(pilot, lambda: item.key not in [each.key for each in items(app, "knowledge")])
        assert [each.status for each in rows()] == ["retracted"]
        app.session_screen.panel.records_tree.focus()
        await pilot.press("u")
        await until(pilot, lambda: item.key in [each.key for each in items(app, "knowledge")])
        await until(pilot, lambda: rows() == [before])


async def test_u_takes_back_an_edit_of_an_entry_with_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "path.write_text(path.read_text().replace('one pass', 'early pass'))"
    async with stage(tmp_path / "w") as (app, pilot, _):
        assert app.engine is not None
        ledger = app.engine.surfaces.ledger
        (before,) = (each.row for each in ledger.search("coders").hits)
        with an_editor(app, monkeypatch, tmp_path, script):
            await stand_on(app, pilot, "knowledge", "sheets")
            await pilot.press("e")
            await until(pilot, lambda: "edited" in screen_text(app))
        assert [each.row.body for each in ledger.search("coders").hits] == [
            "Two coders, six codes, early pass."
        ]
        app.session_screen.panel.records_tree.focus()
        await pilot.press("u")
        await until(pilot, lambda: [each.row for each in ledger.search("coders").hits] == [before])


async def test_m_moves_a_record_as_one_act_that_one_undo_takes_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, project):
        here = project / ".muniment" / "memory" / "open-questions.yaml"
        there = resolve_paths().data / "memory" / "open-questions.yaml"
        before = here.read_bytes()
        await stand_on(app, pilot, "record", "open-questions")
        await pilot.press("m")
        await shown(pilot, app, ApprovalScreen)
        text = screen_text(app)
        assert "Move a record" in text
        assert str(there.parent.parent) in text.replace("\n", "").replace(" ", "") or "Global" in text
        await allow(pilot, app)
        await until(pilot, lambda: there.exists() and not here.exists())
        moved = there.read_text(encoding="utf-8")
        for kept in ("2026-11-28T10:00:00Z", "Who counted the late answers?", "pilot", "note"):
            assert kept in moved
        app.session_screen.panel.records_tree.focus()
        await pilot.press("u")
        await until(pilot, lambda: here.exists() and not there.exists())
        assert here.read_bytes() == before


async def test_a_record_of_a_parent_asks_where_to_and_never_replaces_one_there(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, project):
        await stand_on(app, pilot, "record", "pilot-terms")
        await pilot.press("m")
        await shown(pilot, app, Choose)
        await pilot.press("down", "enter")
        told = app.session_screen.transcript
        await until(pilot, lambda: "already; delete or rename one of them." in text_in(app, told))
        assert (project.parent / ".muniment" / "memory" / "pilot-terms.yaml").exists()


async def test_h_holds_a_note_and_lets_it_go(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await stand_on(app, pilot, "inbox", "Coder agreement")
        await pilot.press("h")
        await until(pilot, lambda: group_row(app, "Inbox") == "Inbox  1 of 5 · 2 held")
        await stand_on(app, pilot, "inbox", "Coder agreement")
        await pilot.press("h")
        await until(pilot, lambda: group_row(app, "Inbox") == "Inbox  2 of 5 · 1 held")


async def test_p_promotes_a_note_to_knowledge_and_makes_a_row_of_ones_own(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await stand_on(app, pilot, "inbox", "Coder agreement")
        await pilot.press("p")
        await shown(pilot, app, Choose)
        await pilot.press("enter")
        await allow(pilot, app)
        await until(pilot, lambda: any(each.title == "Coder agreement" for each in items(app, "knowledge")))
        assert not any(each.title == "Coder agreement" for each in items(app, "inbox"))
        await until(pilot, lambda: group_row(app, "Ledger") == "Ledger  6 active")
        await stand_on(app, pilot, "ledger", "Finding 3")
        await pilot.press("p")
        await until(
            pilot,
            lambda: any(e.title == "Finding 3" and "human" in e.facts for e in items(app, "ledger")),
        )


async def test_a_retracted_row_is_restored_by_h(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await stand_on(app, pilot, "ledger", "Finding 1")
        await pilot.press("d")
        await allow(pilot, app)
        await until(pilot, lambda: group_row(app, "Ledger").startswith("Ledger  4 active"))
        await stand_on(app, pilot, "ledger", "Finding 1")
        await pilot.press("h")
        await until(pilot, lambda: group_row(app, "Ledger") == "Ledger  5 active")


async def test_a_row_that_changes_while_its_retraction_is_asked_about_stays(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        assert app.engine is not None
        ledger = app.engine.surfaces.ledger
        item = await stand_on(app, pilot, "ledger", "Finding 1")
        await pilot.press("d")
        await until(pilot, lambda: "Retract a ledger row" in screen_text(app))
        ledger.pin(item.id, BY_HAND)
        await allow(pilot, app)
        await until(pilot, lambda: "changed meanwhile, nothing was retracted" in screen_text(app))
        assert (ledger.get(item.id).status, ledger.get(item.id).trust) == ("active", "human")
        await stand_on(app, pilot, "ledger", "Finding 1")
        await pilot.press("d")
        await until(pilot, lambda: "Retract a ledger row" in screen_text(app))
        await allow(pilot, app)
        await until(pilot, lambda: ledger.get(item.id).status == "retracted")


async def test_d_on_a_retracted_row_purges_its_text_for_good(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        assert app.engine is not None
        ledger = app.engine.surfaces.ledger
        item = await stand_on(app, pilot, "ledger", "Finding 1")
        ledger.retract(item.id, BY_HAND)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await until(pilot, lambda: "Purge a ledger row" in screen_text(app))
        assert "no undo" in screen_text(app)
        await allow(pilot, app)
        await until(pilot, lambda: ledger.get(item.id).purged_at is not None)
        assert ledger.search("Pilot sheet 1", all=True).hits[0].row.id != item.id
        await stand_on(app, pilot, "ledger", "(purged)")
        assert group_row(app, "Ledger") == "Ledger  4 active of 5"
        await pilot.press("d")
        await until(pilot, lambda: "was purged already" in screen_text(app))
        await pilot.press("h")
        await until(pilot, lambda: "nothing left to judge" in screen_text(app))


async def test_a_retracted_row_offers_to_be_restored_and_to_be_purged(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        assert app.engine is not None
        item = await stand_on(app, pilot, "ledger", "Finding 1")
        assert [word for _, _, word in verbs_of(item)] == ["Retract", "Pin", "Copy id"]
        app.engine.surfaces.ledger.retract(item.id, BY_HAND)
        app.session_screen.panel.look()
        await until(pilot, lambda: group_row(app, "Ledger").startswith("Ledger  4 active"))
        gone = await stand_on(app, pilot, "ledger", "Finding 1")
        assert [word for _, _, word in verbs_of(gone)] == ["Restore", "Purge", "Pin", "Copy id"]


async def test_a_row_that_is_restored_while_its_purge_is_asked_about_keeps_its_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        assert app.engine is not None
        ledger = app.engine.surfaces.ledger
        item = await stand_on(app, pilot, "ledger", "Finding 1")
        ledger.retract(item.id, BY_HAND)
        await pilot.press("d")
        await until(pilot, lambda: "Purge a ledger row" in screen_text(app))
        ledger.restore(item.id, BY_HAND)
        await allow(pilot, app)
        await until(pilot, lambda: "changed meanwhile, nothing was purged" in screen_text(app))
        assert ledger.get(item.id).status == "active"
        assert ledger.get(item.id).purged_at is None


async def test_keys_that_the_keymap_gives_to_something_else_do_that_and_nothing_more(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        app.set_keymap({"memory.delete": "x", "memory.copy": "d"})
        item = await stand_on(app, pilot, "record", "open-questions")
        await pilot.press("d")
        await until(pilot, lambda: app.clipboard == item.id)
        assert app.screen is app.session_screen
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))


async def test_n_puts_a_note_into_the_inbox(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await pilot.press("n")
        await shown(pilot, app, Form)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "A note needs a title." in screen_text(app))
        await pilot.press(*"Heron", "tab", *"seen twice", "ctrl+s")
        await until(pilot, lambda: app.screen is app.session_screen)
        await until(pilot, lambda: any(each.title == "Heron" for each in items(app, "inbox")))


Fill = Callable[[Pilot[int]], Awaitable[None]]


async def fill_record(pilot: Pilot[int]) -> None:
    await pilot.press(*"Use pnpm", "tab", *"Never npm.", "tab", "tab", *"use-pnpm")


async def fill_user(pilot: Pilot[int]) -> None:
    await pilot.press(*"short-answers", "tab", "tab", *"Wants short answers")


async def fill_text(pilot: Pilot[int]) -> None:
    await pilot.press(*"Something new", "tab", *"Worth keeping.")


@pytest.mark.parametrize(
    ("kind", "steps", "fill", "found"),
    [
        ("record", 0, fill_record, "use-pnpm"),
        ("user", 1, fill_user, "short-answers"),
        ("inbox", 2, fill_text, "Something new"),
        ("knowledge", 3, fill_text, "Something new"),
        ("pinned", 4, fill_text, "Something new"),
    ],
)
async def test_plus_writes_each_kind_by_hand(
    tmp_path: Path, kind: str, steps: int, fill: Fill, found: str
) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await stand_on(app, pilot, "record", "open-questions")
        await pilot.press("plus")
        await shown(pilot, app, Choose)
        await pilot.press("home", *["down"] * steps, "enter")
        await shown(pilot, app, Form)
        await fill(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "again writes it" in screen_text(app) or not isinstance(app.screen, Form))
        if isinstance(app.screen, Form):
            await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is app.session_screen)
        await until(pilot, lambda: any(found in (each.id, each.title) for each in items(app, kind)))


async def test_a_form_drops_what_was_written_only_at_a_second_escape(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await pilot.press("n")
        await shown(pilot, app, Form)
        await pilot.press(*"Heron", "escape")
        await until(pilot, lambda: "Esc again drops" in screen_text(app))
        await pilot.press("x", "escape")
        await pilot.pause()
        assert isinstance(app.screen, Form)
        assert app.screen.query_one("#form-title", Input).value == "Heronx"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)


async def test_a_secret_written_by_hand_is_said_before_it_is_kept(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await pilot.press("n")
        await shown(pilot, app, Form)
        await pilot.press(*"Key", "tab")
        app.screen.query_one("#form-body", TextArea).text = "AKIA" + "IOSFODNN7EXAMPLE"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Ctrl+S again writes it all the same." in screen_text(app))
        assert not any(each.title == "Key" for each in items(app, "inbox"))


EDITED = [
    ("record", "open-questions", "path.write_text(path.read_text().replace('late', 'early'))"),
    ("user", "tone", "path.write_text(path.read_text().replace('plain', 'early'))"),
    ("inbox", "Late answers", "path.write_text(path.read_text().replace('came late', 'came early'))"),
    ("pinned", "pinned.md", "path.write_text(path.read_text().replace('noon', 'early'))"),
    ("notes", "notes.md", "path.write_text(path.read_text().replace('numbered', 'early'))"),
    ("notebook", "reviewer", "path.write_text(path.read_text().replace('missing', 'early'))"),
    ("knowledge", "sheets", "path.write_text(path.read_text().replace('one pass', 'early pass'))"),
]


@pytest.mark.parametrize(("kind", "which", "script"), EDITED, ids=[each[0] for each in EDITED])
async def test_e_lends_the_terminal_and_writes_what_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, which: str, script: str
) -> None:
    async with stage(tmp_path / "w") as (app, pilot, _):
        with an_editor(app, monkeypatch, tmp_path, script):
            await stand_on(app, pilot, kind, which)
            await pilot.press("e")
            await until(pilot, lambda: "edited" in screen_text(app))
            item = await stand_on(app, pilot, kind, which)
            app.by_hand("open", item)
            await shown(pilot, app, Reader)
            assert "early" in screen_text(app)
        if kind == "knowledge":
            rows = app.engine.surfaces.ledger.search("early").hits  # type: ignore[union-attr]
            assert [each.row.trust for each in rows] == ["human"]


async def test_an_edit_that_is_no_record_is_asked_about_and_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path / "w") as (app, pilot, project):
        path = project / ".muniment" / "memory" / "open-questions.yaml"
        before = path.read_bytes()
        spoil = "path.write_text(path.read_text() + 'title: twice\\n')"
        mend = "path.write_text(path.read_text().replace('title: twice\\n', '').replace('late', 'early'))"
        with an_editor(app, monkeypatch, tmp_path, spoil, mend):
            await stand_on(app, pilot, "record", "open-questions")
            await pilot.press("e")
            await shown(pilot, app, Question)
            assert "The edited text is no record" in screen_text(app)
            assert path.read_bytes() == before
            await pilot.press("y")
            await until(pilot, lambda: b"early" in path.read_bytes())


async def test_an_edit_on_top_of_somebody_elses_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path / "w") as (app, pilot, project):
        pinned = project / ".muniment" / "pinned.md"
        other = f"import pathlib; pathlib.Path({str(pinned)!r}).write_text('theirs'); path.write_text('mine')"
        with an_editor(app, monkeypatch, tmp_path, other):
            await stand_on(app, pilot, "pinned", "pinned.md")
            await pilot.press("e")
            await until(pilot, lambda: "was changed meanwhile" in screen_text(app))
            assert pinned.read_text() == "theirs"


async def test_without_an_editor_e_says_what_to_set(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await stand_on(app, pilot, "record", "open-questions")
        await pilot.press("e")
        await until(pilot, lambda: "No editor is set; set EDITOR" in screen_text(app))


async def test_a_key_that_fits_no_such_thing_says_what_fits(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await stand_on(app, pilot, "ledger", "Finding 2")
        await pilot.press("e")
        await until(pilot, lambda: "A ledger row is never edited" in screen_text(app))
        await stand_on(app, pilot, "user", "tone")
        await pilot.press("m")
        await until(pilot, lambda: "Only a record has a scope" in screen_text(app))


async def test_y_copies_the_id(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        item = await stand_on(app, pilot, "ledger", "Finding 2")
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == item.id)


async def test_the_filter_reaches_every_section_and_down_goes_to_what_was_found(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        await pilot.press("slash", *"sheet")
        await until(
            pilot, lambda: {each.kind for each in items(app)} >= {"inbox", "pinned", "knowledge", "ledger"}
        )
        assert not any(each.id == "tone" for each in items(app))
        await pilot.press("down")
        await until(
            pilot, lambda: (row := app.session_screen.panel.current) is not None and row.item is not None
        )
        await pilot.press("escape")
        await until(pilot, lambda: any(each.id == "tone" for each in items(app)))
        await pilot.press("slash", *"no such thing at all")
        await until(pilot, lambda: "Nothing matches; Escape clears" in screen_text(app))


async def test_the_cursor_stays_on_its_thing_while_files_change(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, project):
        item = await stand_on(app, pilot, "user", "tone")
        from support.app import write_record

        write_record(project / ".muniment", "aaa-new", "Written outside")
        await until(pilot, lambda: any(each.id == "aaa-new" for each in items(app)))
        row = app.session_screen.panel.current
        assert row is not None
        assert row.item is not None
        assert row.item.key == item.key


async def test_on_a_small_screen_the_panel_says_what_it_covers_and_how_it_closes(tmp_path: Path) -> None:
    project = memory_world(tmp_path)
    async with opened(boot_for(project), size=(80, 24)) as (app, pilot):
        await pilot.press("f2")
        await until(pilot, lambda: "over the conversation" in screen_text(app))
        assert "Esc or F2 closes" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.session_screen.panel.has_class("-open"))
        await pilot.press("f2", "f2")
        await until(pilot, lambda: not app.session_screen.panel.has_class("-open"))


async def test_a_large_scope_lists_500_and_the_filter_reaches_the_rest(tmp_path: Path) -> None:
    from support.app import project_at, write_record

    project = project_at(tmp_path / "p")
    for number in range(620):
        write_record(project / ".muniment", f"rule-{number:03}", f"Rule {number}")
    async with opened(boot_for(project), size=(120, 40)) as (app, pilot):
        await until(pilot, lambda: len(items(app, "record")) == 500)
        assert any(node.data is not None and node.data.left == "… 120 more: / filters" for node in nodes(app))
        app.session_screen.panel.records_tree.focus()
        listed = {each.id for each in items(app, "record")}
        hidden = next(f"rule-{n:03}" for n in range(620) if f"rule-{n:03}" not in listed)
        await pilot.press("slash", *hidden)
        await until(pilot, lambda: [each.id for each in items(app, "record")] == [hidden])


async def test_a_click_opens_a_thing_and_folds_a_group(tmp_path: Path) -> None:
    async with stage(tmp_path) as (app, pilot, _):
        rows = screen_text(app).splitlines()
        y = next(n for n, row in enumerate(rows) if "open-questions" in row)
        x = rows[y].index("open-questions") + 1
        await pilot.click(offset=(x, y))
        await shown(pilot, app, Reader)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.session_screen)
        y = next(n for n, row in enumerate(rows) if "User memory" in row)
        await pilot.click(offset=(rows[y].index("User memory") + 1, y))
        groups = app.session_screen.panel.records_tree.root.children
        folded = next(each for each in groups if each.data is not None and each.data.group == "user")
        await until(pilot, lambda: not folded.is_expanded)
        await until(pilot, lambda: "tone" not in screen_text(app))
