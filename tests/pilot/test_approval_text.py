"""All of a proposal can be read, nothing of it is hidden, and Allow waits for its end."""

from __future__ import annotations

import pytest

from muniment.approval.proposal import Decision, Field
from muniment.approval.proposal import Warning as ReviewWarning
from support.approvals import a_proposal, answered, armed, opened, place_of, running, shown, stays_open, until

LONG = "\n".join(["a benign beginning", *(f"line {n}" for n in range(2, 143)), "and a different end"])
CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


async def test_every_field_is_shown_in_its_exact_form() -> None:
    async with running() as (app, pilot, _):
        task = app.ask(
            a_proposal(warnings=(ReviewWarning("secret", "looks like a secret: token", "content"),))
        )
        await opened(pilot, app)
        text = shown(app)
        for expected in (
            "▲ content: looks like a secret: token",
            'identifier  "pilot-review-rule"',
            'scope       "project"',
            'directory   "/home/ada/study/.muniment"',
            'change      "create"',
            'tags        "review, pilot"',
            'session "9f2c4e1a" · recipe "review-work" · agent "assistant"',
            "content: new text · 2 lines, 99 characters",
            "This approval covers this content only, once.",
            "lines 1–15 of 15",
        ):
            assert expected in text
        task.cancel()


async def test_direction_controls_are_escapes_in_every_field() -> None:
    fields = tuple(Field(label, f"x{CONTROLS}א ب") for label in ("id", "title", "category", "tags", "scope"))
    async with running(size=(150, 40)) as (app, pilot, _):
        task = app.ask(a_proposal(f"text{CONTROLS}עברית العربية", fields=fields))
        await opened(pilot, app)
        text = shown(app)
        for character in CONTROLS:
            assert character not in text
            assert text.count(f"\\u{ord(character):04x}") == 6
        assert "עברית" in text
        assert "العربية" in text
        assert f"{12 * 6} hidden" in text
        task.cancel()


async def test_padding_with_blank_lines_and_spaces_is_counted_and_the_end_is_reached() -> None:
    text = "start" + " " * 2000 + "middle" + "\n" * 300 + "LAST LINE"
    async with running(size=(40, 20)) as (app, pilot, times):
        task = app.ask(a_proposal(text))
        await armed(pilot, app, times)
        await pilot.press("end")
        await until(pilot, lambda: "LAST LINE" in shown(app))
        assert "blank lines" in " ".join(shown(app).split())
        assert "2000 spaces" in " ".join(shown(app).split())
        assert "301│" in shown(app) or "301 │" in shown(app)
        task.cancel()


async def test_a_literal_escape_looks_different_from_the_real_character() -> None:
    screens = []
    for text in ('say "x" \\u202e and \\n here', 'say "x" \u202e and \n here'):
        async with running() as (app, pilot, _):
            task = app.ask(a_proposal(text))
            await opened(pilot, app)
            screens.append(shown(app))
            task.cancel()
    assert "\\\\u202e and \\\\n here" in screens[0]
    assert "\\u202e and" in screens[1]
    assert "\\\\u202e" not in screens[1]


@pytest.mark.parametrize(
    "text",
    [
        "[/]",
        "[/tmp/x]",
        "[red]x",
        "x [/",
        "[type=x, v={'a[0]'}]",
        "[@click=app.quit]x[/]",
        '["a", [1, 2]]',
        "\\[",
    ],
)
async def test_square_brackets_are_only_text_wherever_they_stand(text: str) -> None:
    proposal = a_proposal(
        text,
        title=text,
        fields=(Field("title", text), Field(text, "odd label")),
        warnings=(ReviewWarning("similar", text, text),),
    )
    async with running() as (app, pilot, _):
        task = app.ask(proposal)
        await opened(pilot, app)
        in_quotes = text.replace('"', '\\"')
        assert shown(app).count(text) >= 3
        assert f'title     "{in_quotes}"' in shown(app).replace("  ", "  ") or in_quotes in shown(app)
        task.cancel()


@pytest.mark.parametrize("size", [(80, 24), (40, 20)])
async def test_a_long_text_keeps_allow_locked_until_its_end_was_painted(size: tuple[int, int]) -> None:
    async with running(size=size) as (app, pilot, times):
        task = app.ask(a_proposal(LONG))
        dialog = await armed(pilot, app, times)
        assert "different end" not in shown(app)
        assert "▼" in shown(app)
        await pilot.press("a")
        await stays_open(pilot, app, task, times)
        assert dialog.gate.armed
        for _ in range(60):
            await pilot.press("pagedown")
            if "and a different end" in shown(app):
                break
        await until(pilot, lambda: dialog.gate.unlocked)
        await until(pilot, lambda: "[" in shown(app) and "Allow" in shown(app))
        await pilot.press("a")
        assert await answered(pilot, task, times) == Decision(True, "user")


async def test_an_allow_key_made_before_the_end_was_painted_does_not_allow() -> None:
    from support.approvals import type_at

    async with running() as (app, pilot, times):
        task = app.ask(a_proposal(LONG))
        dialog = await armed(pilot, app, times)
        before = times.now()
        await pilot.press("end")
        await until(pilot, lambda: dialog.gate.unlocked)
        await type_at(pilot, app, "a", before)
        await stays_open(pilot, app, task, times)
        task.cancel()


async def test_one_line_of_five_thousand_characters_wraps_and_loses_none() -> None:
    line = "".join(chr(33 + n % 90) for n in range(5_000)).replace("\\", "/")
    async with running(size=(40, 20)) as (app, pilot, times):
        task = app.ask(a_proposal(line))
        await armed(pilot, app, times)
        seen: list[str] = []
        for _ in range(40):
            for row in shown(app).splitlines():
                body = row[1:-1].strip(" ▁▂▃▄▅▆▇█")
                if body.startswith(("1 │ ", "┆ ")) and (not seen or body not in seen[-14:]):
                    seen.append(body)
            if "end" in shown(app) and "▼" not in shown(app):
                break
            await pilot.press("pagedown")
        text = "".join(part.removeprefix("1 │ ").removeprefix("┆ ") for part in seen)
        assert text == line
        task.cancel()


async def test_a_change_opens_on_the_difference_and_v_goes_round_the_views() -> None:
    async with running(size=(80, 30)) as (app, pilot, times):
        task = app.ask(a_proposal("Use GPT-5.\nKeep it.", "Use GPT-4.\nKeep it.", title="Replace a record"))
        await armed(pilot, app, times)
        assert "1-│ Use GPT-4." in shown(app)
        assert "1+│ Use GPT-5." in shown(app)
        for view, present, absent in (
            ("new text", "1 │ Use GPT-5.", "GPT-4"),
            ("old text", "1 │ Use GPT-4.", "GPT-5"),
            ("difference", "1-│ Use GPT-4.", "1 │ Use"),
        ):
            await pilot.press("v")
            await until(pilot, lambda view=view: f"content: {view}" in shown(app))
            assert present in shown(app)
            assert absent not in shown(app)
        task.cancel()


async def test_the_end_of_the_old_text_does_not_unlock_allow() -> None:
    old = "\n".join(f"old {n}" for n in range(4))
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal(LONG, old))
        dialog = await armed(pilot, app, times)
        await pilot.press("v")
        await pilot.press("v")
        await until(pilot, lambda: "content: old text" in shown(app))
        await pilot.press("end")
        await until(pilot, lambda: "old 3" in shown(app))
        assert not dialog.gate.unlocked
        task.cancel()


async def test_a_deletion_shows_what_goes() -> None:
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal(None, "Keep the pilot small.", title="Delete a record"))
        await armed(pilot, app, times)
        assert "content: this goes" in shown(app)
        assert "Keep the pilot small." in shown(app)
        place_of(app, "[ a · Allow once ]")
        task.cancel()


async def test_texts_too_different_to_compare_stand_side_by_side() -> None:
    old = "\n".join(f"old {n}" for n in range(3_000))
    new = "\n".join(f"new {n}" for n in range(3_000))
    async with running(size=(100, 30)) as (app, pilot, _):
        task = app.ask(a_proposal(new, old))
        await until(pilot, lambda: app.dialog_open and "too much changed" in shown(app))
        assert any("old 1" in row and "new 1" in row for row in shown(app).splitlines())
        task.cancel()


async def test_narrow_screens_show_them_one_below_the_other() -> None:
    old = "\n".join(f"old {n}" for n in range(3_000))
    new = "\n".join(f"new {n}" for n in range(3_000))
    async with running(size=(40, 24)) as (app, pilot, times):
        task = app.ask(a_proposal(new, old))
        await armed(pilot, app, times)
        await until(pilot, lambda: "preparing" not in shown(app))
        await pilot.press("pagedown")
        await until(pilot, lambda: "first the old text" in " ".join(shown(app).split()))
        await pilot.press("end")
        await until(pilot, lambda: "new 2999" in shown(app))
        task.cancel()


@pytest.mark.parametrize("text", ["word " * 13 + "\n", "漢字かな", "\u202e"])
async def test_a_mebibyte_opens_without_the_screen_standing_still(text: str) -> None:
    whole = text * (1_048_576 // len(text.encode()) - 2) + "THE END"
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal(whole))
        await opened(pilot, app)
        await until(pilot, lambda: "lines 1–" in shown(app), 30)
        dialog = await armed(pilot, app, times)
        await pilot.press("end")
        await until(pilot, lambda: "END" in shown(app) or "T\nHE" in shown(app))
        await until(pilot, lambda: dialog.gate.unlocked)
        task.cancel()


async def test_wide_characters_keep_the_border_straight() -> None:
    text = "日本語の長い文章です。" * 20 + "\n👩‍💻 é e\u0301 สวัสดี ｆｕｌｌ\n" + "漢" * 200
    async with running(size=(41, 30)) as (app, pilot, _):
        task = app.ask(a_proposal(text))
        await opened(pilot, app)
        await pilot.press("end")
        await pilot.pause(0.1)
        from rich.cells import cell_len

        widths = {cell_len(row) for row in shown(app).splitlines()}
        assert widths == {41}
        task.cancel()


async def test_a_long_title_field_is_shown_to_its_end() -> None:
    title = "T" * 3_000 + "end-of-title"
    async with running() as (app, pilot, times):
        task = app.ask(a_proposal("x", fields=(Field("title", title),)))
        dialog = await armed(pilot, app, times)
        assert not dialog.gate.unlocked
        await pilot.press("end")
        await until(pilot, lambda: 'end-of-title"' in shown(app))
        task.cancel()


async def test_a_proposal_without_a_text_shows_its_fields_and_can_be_allowed() -> None:
    from dataclasses import replace

    async with running() as (app, pilot, times):
        task = app.ask(replace(a_proposal(), change=None, title="Run memory_retrieve"))
        await armed(pilot, app, times)
        assert "Run memory_retrieve" in shown(app)
        await pilot.press("y")
        assert (await answered(pilot, task, times)).allowed
