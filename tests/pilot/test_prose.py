"""Markdown on the screen: one widget for a table or a list, which is selected and clicked as ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets._markdown import MarkdownBlock

from muniment.session import events as ev
from muniment.tui.app import MunimentApp
from muniment.tui.modals.question import Question
from muniment.tui.widgets.drawn import Drawn
from muniment.tui.widgets.reply import Reply
from support.app import boot_for, opened, project_at, screen_text, text_in, until

TABLE = "| n | said |\n|---|---|\n" + "\n".join(f"| {n} | row `{n}` of **many** |" for n in range(300))
LIST = "\n".join(f"- point {n}\n  1. first of {n}" for n in range(300))
MIXED = """\
## Notes

| coder | sheets |
| --- | --: |
| Ada | 46 |

Between *them*.

- one
- two
  - under two

1. first
2. second, with `code`

```
fence
```

- a point with code

  ```
  inner
  ```
"""


async def replied(app: MunimentApp, pilot: Pilot[int], *pieces: str) -> Reply:
    emit = app.session_screen.emit
    emit(ev.UserSaid("Say it."))
    for piece in pieces:
        emit(ev.TextDelta(piece))
    emit(ev.ReplyEnded("".join(pieces), 0))
    emit(ev.TurnEnded("completed"))
    await app.session_screen.drained()
    await pilot.pause()
    return list(app.session_screen.transcript.query(Reply))[-1]


def place_of(app: MunimentApp, text: str) -> tuple[int, int]:
    """Return where a text begins on the screen."""
    for y, line in enumerate(screen_text(app).split("\n")):
        if text in line:
            return line.index(text), y
    raise AssertionError(f"{text!r} is not on\n{screen_text(app)}")


@pytest.mark.parametrize("text", [TABLE, LIST], ids=["table", "list"])
async def test_a_long_table_or_list_is_one_widget(tmp_path: Path, text: str) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        reply = await replied(app, pilot, text)
        (drawn,) = reply.children
        assert isinstance(drawn, Drawn)
        assert not drawn.children
        assert drawn.size.height >= 300


async def test_a_new_size_lays_out_a_table_anew_without_styling_the_conversation(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(140, 30)) as (app, pilot):
        reply = await replied(app, pilot, MIXED)
        styled: list[object] = []
        for block in reply.query(MarkdownBlock):
            block.notify_style_update = lambda block=block: styled.append(block)  # type: ignore[method-assign]
        await pilot.resize_terminal(40, 20)
        await until(pilot, lambda: reply.size.width < 40)
        await pilot.resize_terminal(140, 30)
        await until(pilot, lambda: reply.size.width > 40)
        assert not styled


async def test_looks_within_a_text_are_worked_out_once_for_all_blocks(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        reply = await replied(app, pilot, MIXED)
        blocks = list(reply.query(MarkdownBlock))
        assert len(blocks) > 5
        assert not [each for each in blocks if each._get_component_classes()]
        assert all(each._get_style(".strong").bold for each in blocks)


@pytest.mark.parametrize("step", [1, 7, 40])
async def test_a_reply_that_comes_in_pieces_ends_as_the_whole_one(tmp_path: Path, step: int) -> None:
    async with opened(boot_for(project_at(tmp_path / "p")), size=(80, 60)) as (app, pilot):
        whole = text_in(app, await replied(app, pilot, MIXED))
        pieces = [MIXED[at : at + step] for at in range(0, len(MIXED), step)]
        reply = await replied(app, pilot, *pieces)
        app.session_screen.transcript.scroll_end(animate=False)
        await until(pilot, lambda: text_in(app, reply) == whole)


async def test_what_the_mouse_selects_in_a_broken_line_is_copied_as_one(tmp_path: Path) -> None:
    long = "The point goes on " + "and on " * 20 + "to its end"
    async with opened(boot_for(project_at(tmp_path / "p")), size=(60, 30)) as (app, pilot):
        await replied(app, pilot, f"- {long}\n\n| who | what |\n|---|---|\n| Ada | counts |\n| Bob | reads |")
        await pilot.mouse_down(offset=place_of(app, "• The point"))
        x, y = place_of(app, "Bob")
        await pilot.hover(offset=(x + 2, y))
        await pilot.mouse_up(offset=(x + 2, y))
        assert app.screen.get_selected_text() == f"• {long}\nwho  what\nAda  counts\nBo"


async def test_a_link_in_a_table_is_asked_about_before_it_opens(tmp_path: Path) -> None:
    async with opened(boot_for(project_at(tmp_path / "p"))) as (app, pilot):
        await replied(app, pilot, "| where |\n|---|\n| [there](https://example.org/x) |")
        await pilot.click(offset=place_of(app, "there"))
        await until(pilot, lambda: isinstance(app.screen, Question))
        assert "example.org" in screen_text(app)
