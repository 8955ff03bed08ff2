"""What a large terminal is used for, and what the fields and keys of every place have in common."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input, Select
from textual.widgets._select import SelectCurrent

from muniment.tui.modals.form import Ask, Checked, Form
from support.app import boot_for, opened, project_at, screen_text, text_in, until


async def test_a_field_keeps_its_words_where_they_are_when_the_focus_comes_and_goes(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 40)) as (app, pilot):
        asks = (
            Ask("first", "First", value="sheets"),
            Ask("second", "Second", value="coders"),
            Ask("third", "Third", choices=("rule", "fact")),
        )
        form = Form("Fields", asks, lambda values: Checked(dict(values)))
        await app.push_screen(form)
        first, second = form.query(Input)
        chosen = form.query_one(SelectCurrent)

        def columns() -> list[int]:
            rows = screen_text(app).split("\n")
            return [rows[each.region.y].index(word) for each, word in zip(fields, words, strict=True)]

        fields, words = (first, second, chosen), ("sheets", "coders", "rule")
        await until(pilot, lambda: "rule" in screen_text(app))
        for focused in (first, second, form.query_one(Select)):
            focused.focus()
            await until(pilot, lambda focused=focused: focused.has_focus)
            await pilot.pause()
            assert len(set(columns())) == 1
            assert {each.region.x for each in fields} == {first.region.x}


async def test_the_key_bar_names_no_key_that_would_be_written_into_the_field(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 45)) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: type(app.screen).__name__ == "SessionsScreen")
        bar = app.screen.query_one("KeyBar")
        await until(pilot, lambda: "/ Filter" in text_in(app, bar))
        await pilot.press("slash")
        await until(pilot, lambda: app.screen.query_one("#session-filter").has_focus)
        await until(pilot, lambda: "Enter List" in text_in(app, bar))
        shown = text_in(app, bar)
        assert "Esc Back" in shown
        assert not any(each in shown for each in ("/ Filter", "+ Good", "- Not good", "Copy id"))
