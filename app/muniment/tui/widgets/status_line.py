"""The status line: mode in words, what happens now, the last write and its undo, model, context, digest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from textual.content import Content
from textual.widgets import Static

from muniment.safety.visible import reading_line

READY = "ready"
_WRITE_CELLS = (24, 12)
"""So long the words about the last write are where a narrow line would lose what stands behind them."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the line says."""

    mode: str = "manual"
    model: str = ""
    session: str = ""
    used: int | None = None
    """Per cent of the context budget."""
    digest: int | None = None
    """How many titles the digest lists; None where this session carries none."""
    state: str = "opening"
    busy: bool = False
    last_write: str = ""
    unsaved: bool = False
    waits: str = ""
    """What waits in the review beside proposals, in words."""


class StatusLine(Static):
    """One line; what matters most stands first, so that a narrow screen leaves out the rest."""

    DEFAULT_CSS = """
    StatusLine { height: 1; padding: 0 1 0 0; background: $background; color: $foreground; }
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
        changed = replace(self.status, **changes)  # type: ignore[arg-type]  # the caller names fields of Status
        if changed != self.status:
            self.status = changed
            if self.is_attached:
                self._draw()

    def _draw(self) -> None:
        width = self.size.width - 1
        content = line(self.status)
        for most in _WRITE_CELLS:
            if content.cell_length > width > 0:
                content = line(self.status, most)
        self.update(content.truncate(width, ellipsis=True) if width > 0 else content)


def line(now: Status, most: int | None = None) -> Content:
    """Return the line for a state of things, with `most` cells at most for what was written."""
    loud = now.mode != "manual"
    mark = f"{'▲ ' if loud else ''}{now.mode.upper()}"
    parts: list[tuple[str, str]] = [
        (f" {mark} ", "bold reverse $warning" if loud else "bold $foreground on $panel"),
        (f"  {now.state}", "bold $accent" if now.busy else "$foreground"),
    ]
    if now.busy:
        parts.append((" · Esc stops", "$secondary"))
    if now.unsaved:
        parts.append(("  ✗ NOT SAVED", "bold $error"))
    if now.last_write:
        what = Content(reading_line(now.last_write))
        told = what.plain if most is None else what.truncate(most, ellipsis=True).plain
        parts.append((f"  ✓ {told.rstrip()} – /undo", "$success"))
    if now.waits:
        parts.append((f"  ● {now.waits} – F4", "$accent"))
    parts.append((f"  {now.model}", "$secondary"))
    if now.used is not None:
        parts.append((f"  context {now.used}%", "$secondary"))
    if now.session:
        parts.append(("  digest off" if now.digest is None else f"  digest {now.digest}", "$secondary"))
    return Content.assemble(*((reading_line(text), style) for text, style in parts))
