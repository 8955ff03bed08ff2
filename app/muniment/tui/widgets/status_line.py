"""The status line: mode in words, model, context used, digest, the last write and how to take it back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from textual.content import Content
from textual.widgets import Static

from muniment.safety.visible import reading_line


@dataclass(frozen=True, slots=True)
class Status:
    """What the line says."""

    mode: str = "manual"
    model: str = ""
    session: str = ""
    used: int | None = None
    """Per cent of the context budget."""
    digest: int = 0
    state: str = "opening"
    last_write: str = ""
    unsaved: bool = False


class StatusLine(Static):
    """One line; what matters most stands first, so that a narrow screen cuts the rest."""

    DEFAULT_CSS = """
    StatusLine { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(markup=False, id=id)
        self.status = Status()

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def say(self, **changes: object) -> None:
        """Change what the line says."""
        self.status = replace(self.status, **changes)  # type: ignore[arg-type]  # the caller names fields of Status
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        now = self.status
        loud = now.mode != "manual"
        parts: list[tuple[str, str]] = [
            (
                f" {now.mode.upper()} ",
                "bold $background on $warning" if loud else "bold $foreground on $surface",
            ),
            (f" {now.state}", "$secondary" if now.state == "ready" else "bold $accent"),
        ]
        if now.unsaved:
            parts.append(("  NOT SAVED", "bold $error"))
        if now.last_write:
            parts.append((f"  {now.last_write} – /undo", "$success"))
        parts.append((f"  {now.model}", "$foreground"))
        if now.used is not None:
            parts.append((f"  context {now.used}%", "$secondary"))
        parts.append((f"  digest {now.digest}" if now.digest else "  digest off", "$secondary"))
        content = Content.assemble(*((reading_line(text), style) for text, style in parts))
        width = self.size.width - 2
        self.update(content.truncate(width, ellipsis=True) if width > 0 else content)
