"""What the hands do around a draft: go on with it in an editor, and find what was said before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muniment.safety.errors import MunimentError, sentence_of
from muniment.tui.alive import stands

if TYPE_CHECKING:
    from muniment.tui.app import MunimentApp


def edit_draft(app: MunimentApp) -> None:
    """Lend the terminal to the editor; a draft survives an editor that fails, whatever it left behind."""
    from muniment.tui.editor import edit_bytes

    composer = app.session_screen.composer
    before = composer.draft
    try:
        data = edit_bytes(app, "message.md", before.encode("utf-8", "replace"))
        after = data.decode("utf-8")
    except FileNotFoundError:
        app.tell("The editor left no text; your draft is as it was.", error=True)
        return
    except UnicodeDecodeError:
        app.tell("The editor left no UTF-8 text; your draft is as it was.", error=True)
        return
    except (MunimentError, OSError) as error:
        app.tell(f"{sentence_of(error)} Your draft is as it was.", error=True)
        return
    # Editors end the last line; a message has no line there.
    after = after.removesuffix("\n") if not before.endswith("\n") else after
    if after != before:
        composer.put(after)
    composer.focus()


async def find_past(app: MunimentApp) -> None:
    """Search what was said in all sessions; a draft that gives way is found in the history again."""
    from muniment.session.logs.stored import recent_messages
    from muniment.tui.screens.past import PastScreen

    composer = app.session_screen.composer
    logged = await asyncio.to_thread(recent_messages, app.boot.paths)
    if not stands(app.session_screen):
        return
    known = set(logged)
    said = [*logged, *(text for text in composer.past if text not in known and not text.startswith("/"))]
    taken = await app.push_screen_wait(PastScreen(said))
    if taken is not None:
        composer.keep_draft()
        composer.put(taken)
    composer.focus()


async def recall(app: MunimentApp) -> None:
    """Let the arrows reach what was said here in earlier sessions; read after the screen is painted."""
    from muniment.session.logs.stored import recent_messages
    from muniment.tui.widgets.composer import HISTORY

    cwd = str(app.boot.cwd)
    said = await asyncio.to_thread(recent_messages, app.boot.paths, limit=HISTORY, cwd=cwd)
    if not stands(app.session_screen):
        return
    composer = app.session_screen.composer
    composer.remember([text for text in said if text not in composer.past])
