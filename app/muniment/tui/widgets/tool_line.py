"""One tool call as one line that opens: what was asked, what was decided, what came of it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from muniment.safety.visible import reading, reading_line
from muniment.tui.parts import Part

_SHAPES = {
    "completed": ("✓", "$success"),
    "failed": ("✗", "$error"),
    "denied": ("⊘", "$warning"),
    "invalid_arguments": ("✗", "$error"),
    "unknown_tool": ("✗", "$error"),
    "not_executed": ("–", "$warning"),
    "unknown": ("?", "$warning"),
    "cancelled": ("–", "$warning"),
}
_SUBJECTS = ("id", "name", "query", "path", "title", "pattern")
_INDENT = 4
_SHOWN_CHARACTERS = 400
"""A reason that stands below a closed line is cut here."""
_SHOWN_LINES = 400
"""A longer result is opened up to here; the session log has it whole."""


class ToolLine(Static, can_focus=True):
    """A tool call; Enter or a click opens its arguments and its result."""

    BINDING_GROUP_TITLE = "Tool call"
    HELP = "Enter opens what was asked and what came back."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open or close", tooltip="Show or hide the details", id="tool.toggle"),
        Binding("y", "copy", "Copy", tooltip="Copy the result to the clipboard", id="tool.copy"),
    ]
    DEFAULT_CSS = """
    ToolLine {
        height: auto; padding: 0 1 0 2; border-left: blank; color: $foreground; pointer: pointer;
    }
    ToolLine:hover { background: $surface; }
    ToolLine:focus { background: $panel; border-left: outer $primary; text-style: bold; }
    """

    def __init__(self, part: Part) -> None:
        super().__init__(markup=False)
        self.part = part
        self.opened = False

    def on_mount(self) -> None:
        self.redraw()

    def on_resize(self) -> None:
        self.redraw()

    def on_click(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open or close the details."""
        self.opened = not self.opened
        self.redraw()

    def action_copy(self) -> None:
        """Copy what came back, or what was asked while nothing did."""
        self.app.copy_to_clipboard(self.part.result or self._asked())
        self.app.notify("Copied.", markup=False)

    def redraw(self) -> None:
        """Draw the call as it stands now."""
        part = self.part
        mark, colour = _SHAPES.get(part.status, ("…", "$secondary"))
        word = (part.status or "running").replace("_", " ")
        # A call that was denied by a decision says so once.
        end = f", {reading_line(part.decision)}" if part.decision and part.decision != word else ""
        tail = Content.assemble(
            (word, colour), (end, "$secondary"), ("  ▾" if self.opened else "  ▸", "$secondary")
        )
        head = Content.assemble((f"{mark} ", f"bold {colour}"), reading_line(part.text))
        subject = Content(reading_line(self._subject()))
        room = self.size.width - 4 - head.cell_length - tail.cell_length - 4
        if self.size.width and subject.cell_length > room:
            # The state must stay in view, so the subject gives way.
            subject = subject.truncate(max(0, room), ellipsis=True) if room > 3 else Content("")
        line = Content.assemble(head, "  ", subject.stylize("$secondary"), "  " if subject else "", tail)
        if self.opened:
            line = Content.assemble(line, "\n", self._details())
        elif part.status == "failed" and part.decision == "allowed" and part.result:
            # Who allowed it is told without asking why nothing came of it.
            why = self._indented(reading_line(part.result.split("\n", 1)[0])[:_SHOWN_CHARACTERS])
            line = Content.assemble(line, "\n", (why, "$error"))
        self.update(line)

    def _details(self) -> Content:
        parts: list[Content | tuple[str, str] | str] = [
            ("  asked\n", "$primary"),
            self._indented(self._asked()),
        ]
        if self.part.result:
            lines = reading(self.part.result).split("\n")
            text = self._indented("\n".join(lines[:_SHOWN_LINES]))
            parts += [("\n  came back\n", "$primary"), text]
            if len(lines) > _SHOWN_LINES:
                parts.append((f"\n    … {len(lines) - _SHOWN_LINES} more lines; y copies all", "$warning"))
        return Content.assemble(*parts)

    def _indented(self, text: str) -> str:
        """Return text in its own column, where the lines that it breaks into stand as well."""
        room = self.size.width - _INDENT
        lines = text.split("\n")
        if room > 0:
            lines = [part.plain for line in lines for part in Content(line).wrap(room)]
        return "\n".join(f"{'':{_INDENT}}{line}" for line in lines)

    def _subject(self) -> str:
        arguments = self.part.arguments
        if isinstance(arguments, str):
            return ""
        for key in _SUBJECTS:
            value = arguments.get(key)
            if isinstance(value, str) and value:
                scope = arguments.get("scope")
                return f"{value[:200]}  {scope}" if isinstance(scope, str) else value[:200]
        return ""

    def _asked(self) -> str:
        arguments = self.part.arguments
        if isinstance(arguments, str):
            return reading(arguments) or "no arguments"
        import json

        lines = [
            f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            for key, value in arguments.items()
        ]
        return reading("\n".join(lines)) or "no arguments"
