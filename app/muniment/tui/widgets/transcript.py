"""The transcript: the tail of the conversation, streamed, at the bottom until the user scrolls away."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from muniment.tui.text import StreamText, safe
from muniment.tui.widgets.tool_line import ToolLine

if TYPE_CHECKING:
    # Markdown is heavy and nothing needs it before the first reply.
    from textual.widgets.markdown import MarkdownStream

    from muniment.tui.widgets.reply import Reply

KEPT = 200
"""How many parts stay mounted; older ones are in the log and in `muniment session show`."""


class Said(Static):
    """A line or paragraph in the transcript; `kind` chooses its look."""

    DEFAULT_CSS = """
    Said { height: auto; padding: 0 1; }
    Said.-who { color: $primary; text-style: bold; margin-top: 1; }
    Said.-user { padding-left: 3; }
    Said.-notice { color: $secondary; padding-left: 1; }
    Said.-error { color: $error; padding-left: 1; }
    """

    def __init__(self, content: Content, kind: str) -> None:
        super().__init__(content, markup=False, classes=f"-{kind}")


class Transcript(VerticalScroll, can_focus=True):
    """The conversation."""

    BINDING_GROUP_TITLE = "Transcript"
    HELP = "The conversation. Arrow keys scroll; Tab reaches the tool calls."

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._reply: Reply | None = None
        self._stream: MarkdownStream | None = None
        self._text = StreamText()
        self._calls: dict[str, ToolLine] = {}
        self._speaker = ""

    def on_mount(self) -> None:
        self.follow()

    def follow(self) -> None:
        """Stay at the bottom from now on, until the user scrolls."""
        # Before the first layout there is no bottom, and anchoring would scroll above the top.
        self.call_after_refresh(self.anchor)

    async def reset(self) -> None:
        """Empty the transcript."""
        await self.end_reply()
        self._calls.clear()
        self._speaker = ""
        await self.remove_children()

    async def user(self, text: str) -> None:
        """Show what the user said."""
        await self._say("You")
        await self._add(Said(safe(text), "user"))

    async def delta(self, delta: str, speaker: str) -> None:
        """Show a piece of the reply."""
        if self._stream is None:
            await self._say(speaker)
            from muniment.tui.widgets.reply import Reply

            self._reply = Reply()
            await self._add(self._reply)
            self._stream = self._reply.stream()
            self._text = StreamText()
        shown = self._text.feed(delta)
        if shown:
            await self._stream.write(shown)

    async def discard(self) -> None:
        """Take away the text of a reply that is tried again."""
        reply = self._reply
        await self.end_reply()
        if reply is not None:
            await reply.remove()

    async def end_reply(self) -> None:
        """End the reply that streams, if one does."""
        stream, self._stream, self._reply = self._stream, None, None
        if stream is not None:
            rest = self._text.rest()
            if rest:
                await stream.write(rest)
            await stream.stop()

    async def whole_reply(self, text: str, speaker: str) -> None:
        """Show a reply of an earlier time."""
        from muniment.safety.visible import reading

        await self._say(speaker)
        from muniment.tui.widgets.reply import Reply

        await self._add(Reply(reading(text)))

    async def tool(self, call: str, tool: str, arguments: dict[str, Any] | str, speaker: str) -> None:
        """Show a tool call."""
        await self.end_reply()
        await self._say(speaker)
        line = self._calls[call] = ToolLine(tool, arguments)
        await self._add(line)

    def call(self, call: str) -> ToolLine | None:
        """Return the line of a call."""
        return self._calls.get(call)

    async def notice(self, text: str, *, error: bool = False) -> None:
        """Show a sentence that is not part of the conversation."""
        await self.end_reply()
        mark = ("! ", "bold $error") if error else ("· ", "$secondary")
        await self._add(Said(Content.assemble(mark, safe(text)), "error" if error else "notice"))

    async def show(self, widgets: Iterable[Widget]) -> None:
        """Mount several parts at once."""
        await self.mount_all(list(widgets))

    async def _say(self, speaker: str) -> None:
        if speaker != self._speaker:
            self._speaker = speaker
            await self._add(Said(safe(speaker), "who"))

    async def _add(self, widget: Widget) -> None:
        await self.mount(widget)
        excess = len(self.children) - KEPT
        if excess > 20:
            await self.remove_children(list(self.children)[:excess])
