"""The transcript: the end of the conversation, streamed, at the bottom until the user scrolls away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from muniment.safety.visible import reading
from muniment.tui.parts import TAIL, Part, Window
from muniment.tui.text import StreamText, safe
from muniment.tui.widgets.hanging import Hanging, hanging
from muniment.tui.widgets.tool_line import ToolLine

if TYPE_CHECKING:
    from textual.selection import Selection
    from textual.widgets.markdown import MarkdownStream

    from muniment.tui.widgets.reply import Reply

_NEAR_TOP = 3
LEAST = 8
"""So many parts at least are drawn at once when an earlier conversation is opened."""


class Said(Static):
    """A line or paragraph in the transcript; `kind` chooses its look."""

    DEFAULT_CSS = """
    Said { height: auto; padding: 0 1; }
    Said.-who { color: $primary; text-style: bold; margin-top: 1; padding: 0 1 0 1; }
    Said.-user { padding: 0 1 0 2; border-left: outer $primary; margin-left: 0; background: $surface; }
    Said.-notice { color: $secondary; padding: 0 1 0 1; }
    Said.-error { color: $error; padding: 0 1 0 1; }
    """

    def __init__(self, content: Content | Hanging, kind: str) -> None:
        super().__init__(content, markup=False, classes=f"-{kind}")

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected, without the breaks that only the width made."""
        return selection.extract(str(self.visual)), "\n"


class Transcript(VerticalScroll, can_focus=True):
    """The conversation."""

    BINDING_GROUP_TITLE = "Transcript"
    HELP = "Arrow keys scroll; older parts come when the top is reached. Tab reaches tool calls and code."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "y", "copy", "Copy reply", tooltip="Copy the newest reply to the clipboard", id="transcript.copy"
        ),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.parts: list[Part] = []
        self.window = Window()
        self._reply: tuple[Part, Reply] | None = None
        self._stream: MarkdownStream | None = None
        self._text = StreamText()
        self._calls: dict[str, Part] = {}
        self._speaker = ""
        self._growing = False

    def on_mount(self) -> None:
        self.follow()

    def action_copy(self) -> None:
        """Copy the newest reply, as the model wrote it."""
        text = next((part.text for part in reversed(self.parts) if part.kind == "reply"), "")
        if text:
            self.app.copy_to_clipboard(text)
        self.app.notify("Copied the newest reply." if text else "There is no reply yet.", markup=False)

    @property
    def _anchored(self) -> bool:
        """Whether the layout keeps the end in view: a short conversation stands at the top of the screen."""
        return self._follows and self.virtual_size.height > self.container_size.height

    @_anchored.setter
    def _anchored(self, follows: bool) -> None:
        self._follows = follows

    def follow(self) -> None:
        """Stay at the bottom from now on, until the user scrolls."""
        # Before the first layout there is no bottom, and anchoring would scroll above the top.
        self.call_after_refresh(self.anchor)

    async def reset(self) -> None:
        """Empty the transcript."""
        await self.end_reply()
        self._calls.clear()
        self._speaker = ""
        self.parts.clear()
        self.window.open(0)
        await self.remove_children()

    async def user(self, text: str) -> None:
        """Show what the user said; also where nobody answered what was said before."""
        self._speaker = ""
        await self._say("You")
        await self._add(Part("user", text))

    async def delta(self, delta: str, speaker: str) -> None:
        """Show a piece of the reply."""
        if self._stream is None:
            await self._say(speaker)
            part = Part("reply")
            widget = await self._add(part)
            self._begin(part, widget)
        if self._reply is not None:
            self._reply[0].text += delta
        shown = self._text.feed(delta)
        if shown and self._stream is not None:
            await self._stream.write(shown)

    def _begin(self, part: Part, widget: Widget) -> None:
        from muniment.tui.widgets.reply import Reply

        if isinstance(widget, Reply):
            self._reply = (part, widget)
            self._stream = widget.stream()
            self._text = StreamText()

    async def discard(self) -> None:
        """Take away the text of a reply that is tried again."""
        reply = self._reply
        await self.end_reply()
        if reply is not None:
            part, widget = reply
            if part in self.parts:
                self.parts.remove(part)
                self.window.total -= 1
            await widget.remove()

    async def end_reply(self) -> None:
        """End the reply that streams, if one does."""
        stream, reply, self._stream, self._reply = self._stream, self._reply, None, None
        if stream is not None:
            rest = self._text.rest()
            if rest:
                await stream.write(rest)
            await stream.stop()
            if reply is not None:
                reply[1].settle()

    async def tool(self, call: str, tool: str, arguments: dict[str, Any] | str, speaker: str) -> None:
        """Show a tool call."""
        await self.end_reply()
        await self._say(speaker)
        part = self._calls[call] = Part("tool", tool, call, arguments)
        await self._add(part)

    def decided(self, call: str, word: str, by: str, reason: str) -> None:
        """Show who decided a call."""
        part = self._calls.get(call)
        if part is not None:
            part.decided(word, by, reason)
            self._redraw(part)

    def finished(self, call: str, status: str, text: str) -> None:
        """Show what came of a call."""
        part = self._calls.get(call)
        if part is not None:
            part.status, part.result = status, text
            self._redraw(part)

    async def notice(self, text: str, *, error: bool = False) -> None:
        """Show a sentence that is not part of the conversation."""
        await self.end_reply()
        await self._add(Part("error" if error else "notice", text))

    async def summary(self, text: str, turns: int) -> None:
        """Show that older turns are summarised in what the model receives."""
        await self.end_reply()
        await self._add(Part("summary", text, turns=turns))

    async def tell_again(self, parts: list[Part], speaker: str) -> None:
        """Show an earlier conversation: its end at once, the rest when it is scrolled to."""
        await self.reset()
        self.parts = parts
        self._speaker = speaker
        # What fills the screen is drawn at once; what lies above it when that stands there.
        self.window.open(len(parts), min(TAIL, max(LEAST, self.app.size.height // 2)))
        await self.mount_all([self._make(part) for part in parts[self.window.first :]])
        if self.window.first:
            self._growing = True
            self.call_after_refresh(self._grow)

    def prepend(self, parts: list[Part]) -> None:
        """Take in what was said before all that is known; it is drawn when it is scrolled to."""
        self.parts[:0] = parts
        self.window.prepend(len(parts))

    # The window

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < _NEAR_TOP and new_value < old_value and self.window.first and not self._growing:
            self._growing = True
            self.call_later(self._grow)

    async def _grow(self) -> None:
        """Draw older parts above, and keep what was read where it is."""
        before = self.virtual_size.height
        batch = self.window.older()
        if batch:
            await self.mount_all([self._make(self.parts[at]) for at in batch], before=0)

        def settle() -> None:
            grown = self.virtual_size.height - before
            self.scroll_to(y=self.scroll_y + grown, animate=False, force=True)
            self._growing = False

        self.call_after_refresh(settle)

    async def _add(self, part: Part) -> Widget:
        self.parts.append(part)
        self.window.add()
        widget = self._make(part)
        await self.mount(widget)
        if self.is_vertical_scroll_end:
            gone = self.window.prune()
            if gone:
                await self.remove_children(list(self.children)[:gone])
        return widget

    def _make(self, part: Part) -> Widget:
        match part.kind:
            case "reply":
                from muniment.tui.widgets.reply import Reply

                return Reply(reading(part.text), lambda: part.text)
            case "tool":
                return ToolLine(part)
            case "summary":
                from muniment.tui.widgets.summary_line import SummaryLine

                return SummaryLine(part)
            case "notice":
                return Said(hanging(safe(part.text), Content.styled("· ", "bold")), part.kind)
            case "error":
                return Said(hanging(safe(part.text), Content.styled("! ", "bold")), part.kind)
            case _:
                return Said(safe(part.text), part.kind)

    def _redraw(self, part: Part) -> None:
        for line in self.query(ToolLine):
            if line.part is part:
                line.redraw()

    async def _say(self, speaker: str) -> None:
        if speaker != self._speaker:
            self._speaker = speaker
            await self._add(Part("who", speaker))
