"""One tool call as one line that opens: what was asked, what was decided, what came of it."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from muniment.safety.visible import reading, reading_line

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


class ToolLine(Static, can_focus=True):
    """A tool call; Enter or a click opens its arguments and its result."""

    BINDING_GROUP_TITLE = "Tool call"
    HELP = "Enter opens what was asked and what came back."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open_details", "Details", show=False, tooltip="Show the details", id="tool.open"),
    ]
    DEFAULT_CSS = """
    ToolLine { height: auto; padding: 0 1; color: $foreground; pointer: pointer; }
    ToolLine:focus { background: $panel; text-style: bold; }
    """

    def __init__(self, tool: str, arguments: dict[str, Any] | str) -> None:
        super().__init__(markup=False)
        self.tool = tool
        self.arguments = arguments
        self.status = ""
        self.decision = ""
        self.result = ""
        self.opened = False

    def on_mount(self) -> None:
        self._draw()

    def decided(self, word: str, by: str, reason: str) -> None:
        """Show who decided."""
        self.decision = word if by == "user" else f"{word} by {by}"
        if reason and by == "user":
            self.decision += f": {reason}"
        self._draw()

    def finished(self, status: str, text: str) -> None:
        """Show what came of it."""
        self.status, self.result = status, text
        self._draw()

    def on_click(self) -> None:
        self.action_open_details()

    def action_open_details(self) -> None:
        """Open or close the details."""
        self.opened = not self.opened
        self._draw()

    def _draw(self) -> None:
        mark, colour = _SHAPES.get(self.status, ("…", "$secondary"))
        word = self.status or "running"
        parts: list[Content | tuple[str, str] | str] = [
            (f"{mark} ", f"bold {colour}"),
            reading_line(self.tool),
            "  ",
            reading_line(self._subject()),
            "  ",
            (word.replace("_", " "), colour),
        ]
        if self.decision:
            parts.append((f", {reading_line(self.decision)}", "$secondary"))
        parts.append(("  ▾" if self.opened else "  ▸", "$secondary"))
        if self.opened:
            parts.append("\n" + _indented(self._asked()))
            if self.result:
                parts.append("\n" + _indented(reading(self.result)))
        self.update(Content.assemble(*parts))

    def _subject(self) -> str:
        if isinstance(self.arguments, str):
            return ""
        for key in ("id", "name", "query", "path", "title"):
            value = self.arguments.get(key)
            if isinstance(value, str) and value:
                scope = self.arguments.get("scope")
                return f"{value[:60]}  {scope}" if isinstance(scope, str) else value[:60]
        return ""

    def _asked(self) -> str:
        if isinstance(self.arguments, str):
            return reading(self.arguments)
        return reading(
            "\n".join(
                f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
                for key, value in self.arguments.items()
            )
        )


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
