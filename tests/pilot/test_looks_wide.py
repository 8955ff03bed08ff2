"""What a large terminal is used for, and what the fields and keys of every place have in common."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.content import Content
from textual.widgets import Input, OptionList, Select
from textual.widgets._select import SelectCurrent

from muniment.paths import resolve_paths
from muniment.session.recipes.recipe import load_recipe
from muniment.tui.app import MunimentApp
from muniment.tui.modals.form import Ask, Checked, Form
from muniment.tui.screens.past import PastScreen
from muniment.tui.screens.picker import ParameterForm, RecipePicker
from muniment.tui.screens.reader import Reader, lines_of
from muniment.tui.slash import COMMANDS
from muniment.tui.views import file_sections
from muniment.tui.widgets.reading import MEASURE
from muniment.tui.widgets.top_line import TopLine
from support.app import boot_for, opened, project_at, screen_text, text_in, until, write_record
from support.consolidation import add_notes
from support.panel import stand_on
from support.session_logs import write_session


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


async def test_keys_for_a_row_are_named_only_where_there_is_one(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 45)) as (app, pilot):
        await pilot.press("f6")
        await until(pilot, lambda: "No earlier session yet" in screen_text(app))
        bar = app.screen.query_one("KeyBar")
        for_a_row = ("Enter Resume", "r Rename", "d Delete", "+ Good", "y Copy id")
        await until(pilot, lambda: not any(each in text_in(app, bar) for each in for_a_row))
        assert "p Project" in text_in(app, bar)
        await pilot.press("escape")
        write_session(resolve_paths(), 1, "Who counted?", "And the heron?")
        await pilot.press("f6")
        await until(pilot, lambda: "Who counted?" in screen_text(app))
        bar = app.screen.query_one("KeyBar")
        await until(pilot, lambda: all(each in text_in(app, bar) for each in for_a_row))


async def test_a_hit_is_read_beside_the_list_where_there_is_room(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    for name in ("first", "second"):
        write_record(project / ".muniment", name, f"Heron {name}", f"The whole text of the {name} one.\nEnd.")
    async with opened(boot_for(project), size=(160, 45)) as (app, pilot):
        await pilot.press("f3")
        await until(pilot, lambda: type(app.screen).__name__ == "SearchScreen")
        pane = app.screen.query_one("#search-text")
        assert not pane.display
        await pilot.press(*"heron")
        hits = app.screen.query_one("#search-hits", OptionList)
        await until(pilot, lambda: hits.option_count == 2)
        for key in ("enter", "down"):
            await pilot.press(key)
            await until(pilot, lambda: hits.has_focus and hits.highlighted is not None)
            title = str(hits.get_option_at_index(hits.highlighted or 0).prompt)
            name = "first" if "first" in title else "second"
            await until(pilot, lambda name=name: f"of the {name} one" in text_in(app, pane))
            assert "History" in text_in(app, pane)
        assert abs(pane.region.width - hits.region.width) <= 1
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: not pane.display and hits.region.width == 100)


async def test_a_text_is_read_in_rows_that_the_eye_can_follow(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(200, 30)) as (app, pilot):
        await app.push_screen(Reader("Long", [("Text", Content("word " * 200))]))
        await until(pilot, lambda: "word word" in screen_text(app))
        rows = [row.strip(" │") for row in screen_text(app).split("\n") if "word word" in row]
        assert MEASURE - len("word ") < len(rows[0]) <= MEASURE


async def test_a_place_in_the_top_line_ends_where_the_grid_ends(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(120, 30)) as (app, pilot):
        line = app.screen.query_one(TopLine)
        place = str(app.boot.cwd)
        await until(pilot, lambda: place[-12:] in screen_text(app).split("\n")[line.region.y])
        row = screen_text(app).split("\n")[line.region.y].ljust(120)
        assert row[118] != " "
        assert row[119] == " "


async def test_the_digest_can_be_changed_only_where_there_is_one(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    (project / ".muniment" / "memory").mkdir(parents=True, exist_ok=True)
    (project / ".muniment" / "memory" / "broken.yaml").write_text("id: [\n")
    async with opened(boot_for(project), size=(160, 45)) as (app, pilot):
        assert app.engine is not None
        add_notes(app.engine.surfaces, 5)
        app.action_go("review")
        await until(pilot, lambda: "by rules" in screen_text(app))
        bar = app.screen.query_one("KeyBar")
        await until(pilot, lambda: "e Edit digest" in text_in(app, bar))
        await pilot.press("end")
        await until(pilot, lambda: "y copies the path" in screen_text(app))
        await until(pilot, lambda: "e Edit digest" not in text_in(app, bar))
        assert "y Copy path" in text_in(app, bar)


async def test_a_recipe_is_read_beside_what_it_asks_for(tmp_path: Path) -> None:
    asked = "parameters:\n  - name: target\n    description: What\n    required: true\n"
    path = tmp_path / "ask.yaml"
    path.write_text(f"name: ask\ndescription: d\n{asked}prompt: About {{{{ target }}}}\n")
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 45)) as (app, pilot):
        form = ParameterForm(load_recipe(path))
        app.push_screen(form)
        await until(pilot, lambda: "About {{ target }}" in screen_text(app))
        fields, pane = form.query_one("#fields"), form.query_one("#recipe-pane")
        assert (pane.region.x, pane.region.right) == (fields.region.right, 160)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "✗ Fill in target." in text_in(app, fields))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not pane.display and fields.region.width == 80)


async def test_what_is_found_of_the_past_is_told_right_below_the_words(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(200, 45)) as (app, pilot):
        await app.push_screen(PastScreen(["tea is brewed at four", "coffee at five"]))
        words, told = app.screen.query_one("#past-words"), app.screen.query_one("#past-say")
        await until(pilot, lambda: "2 messages" in text_in(app, told))
        assert told.region.y == words.region.bottom
        box = app.screen.query_one("Vertical")
        assert box.region.width == 120
        assert box.region.x == (200 - 120) // 2
        rows = screen_text(app).split("\n")
        listed = app.screen.query_one("#past-list")
        assert rows[listed.region.y].index("coffee") == rows[told.region.y].index("2 messages")
        await pilot.press(*"zzqq")
        await until(pilot, lambda: "fewer of them" in text_in(app, told))


async def test_the_raw_request_is_shown_as_it_is_printed(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 45)) as (app, pilot):
        app.session_screen.composer.put('Two\nlines and a "quote"')
        await pilot.press("f5")
        await until(pilot, lambda: "a summary is made above" in screen_text(app))
        await pilot.press("r", "end")
        await until(pilot, lambda: r'"Two\nlines and a \"quote\""' in screen_text(app))
        await pilot.press("home")
        await until(pilot, lambda: '"instructions": "' in screen_text(app))
        assert "spaces}" not in screen_text(app)


async def test_a_command_is_not_left_out_for_a_row_that_says_so(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 45)) as (app, pilot):
        tight = 2 * (len(COMMANDS) - 1 + 5)
        await pilot.resize_terminal(160, tight)
        await until(pilot, lambda: app.size.height == tight)
        await pilot.press("slash")
        await until(pilot, lambda: "Tab completes" in screen_text(app))
        assert f"… {len(COMMANDS)} commands" not in screen_text(app)
        assert all(f"{each.name} " in screen_text(app) for each in COMMANDS)


def test_the_last_line_break_of_a_file_takes_no_row() -> None:
    sections = file_sections(
        "# Notes\n\nOne line.\n", Path("notes.md"), "what it is", ("History", Content("none"))
    )
    lines = [each.text for each in lines_of(sections)]
    assert lines[:5] == ["Text", "# Notes", "", "One line.", ""]
    assert lines[5] == "Where"


@pytest.mark.parametrize("to_keymap", [False, True], ids=["settings", "keymap"])
async def test_that_nothing_matches_stands_right_below_the_words(tmp_path: Path, to_keymap: bool) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 45)) as (app, pilot):
        app.action_go("settings")
        await until(pilot, lambda: "The screen" in screen_text(app))
        if to_keymap:
            await pilot.press(*"/keymap", "enter", "enter")
            await until(pilot, lambda: "Everywhere" in screen_text(app))
        await pilot.press("slash", *"zzqq")
        await until(pilot, lambda: "matches; Escape shows all" in screen_text(app))
        field = app.screen.query_one(Input)
        row = screen_text(app).split("\n")[field.region.bottom]
        assert "matches; Escape shows all" in row
        assert row.index("No ") == screen_text(app).split("\n")[field.region.y].index("zzqq")


async def test_a_record_is_read_beside_what_is_known_about_it_where_there_is_room(tmp_path: Path) -> None:
    project = project_at(tmp_path / "p")
    write_record(project / ".muniment", "heron", "The heron", "It stands still.")
    async with opened(boot_for(project), size=(160, 45)) as (app, pilot):
        await stand_on(app, pilot, "record", "heron")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Reader))
        text, beside = app.screen.query_one("#reader-text"), app.screen.query_one("#reader-beside")
        await until(pilot, lambda: "History" in text_in(app, beside))
        assert text.has_focus
        assert "It stands still." in text_in(app, text)
        assert "Fields" not in text_in(app, text)
        assert (text.region.x, text.region.right, beside.region.right) == (0, beside.region.x, 160)
        await pilot.press("tab")
        await until(pilot, lambda: beside.has_focus)
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: not beside.display and text.region.width == 100)
        await until(
            pilot, lambda: all(each in text_in(app, text) for each in ("Fields", "Content", "History"))
        )
        assert text.has_focus


async def test_why_a_part_of_a_request_is_absent_is_told_once_in_the_list_and_once_beside_it(
    tmp_path: Path,
) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(160, 45)) as (app, pilot):
        await pilot.press("f5")
        await until(pilot, lambda: "a summary is made above" in screen_text(app))
        listed = app.screen.query_one("#inspector-parts", OptionList)
        texts = [str(listed.get_option_at_index(at).prompt) for at in range(listed.option_count)]
        listed.highlighted = next(at for at, each in enumerate(texts) if "Summary" in each)
        pane = app.screen.query_one("#inspector-text")
        why = "absent: nothing was summarised"
        await until(pilot, lambda: why in text_in(app, pane))
        assert screen_text(app).count(why) == 2


async def test_the_cursor_among_the_recipes_lies_on_a_recipe_only(tmp_path: Path) -> None:
    app = MunimentApp(boot_for(project_at(tmp_path / "p"), pick=True))
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RecipePicker))
        listed = app.screen.query_one("#recipes", OptionList)
        await until(pilot, lambda: listed.option_count > 2)
        title = app.screen.query_one("#recipe-pane")
        for _ in range(2):
            shown = str(listed.get_option_at_index(listed.highlighted or 0).prompt)
            assert shown == shown.rstrip()
            await until(pilot, lambda shown=shown: shown.startswith(f"{title.border_title} "))
            await pilot.press("down")
        await until(pilot, lambda: listed.highlighted == 4)
