"""A reply of the model as Markdown; its links are shown, and opened only after a question."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.widgets import Markdown, Static
from textual.widgets._markdown import MarkdownBlock, MarkdownFence
from textual.widgets.markdown import MarkdownStream

from muniment.safety.visible import reading_line


class CodeHead(Static):
    """The line above a block of code: its language, and the word that copies it."""

    DEFAULT_CSS = "CodeHead { height: 1; width: 100%; padding: 0 1; color: $secondary; pointer: pointer; }"

    def __init__(self, language: str) -> None:
        name = reading_line(language.split()[0])[:20] if language.split() else "text"
        super().__init__(Content.assemble((name, ""), ("  ⧉ copy", "bold")), markup=False)


class CodeBlock(MarkdownFence, can_focus=True):
    """Code in a reply; y, Enter or a click on its first line copies it."""

    BINDING_GROUP_TITLE = "Code"
    HELP = "y copies the code to the clipboard as it is shown; the mouse can select a part of it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "copy", "Copy code", tooltip="Copy this code to the clipboard", id="code.copy"),
    ]

    def compose(self) -> ComposeResult:
        yield CodeHead(self.lexer)
        yield from super().compose()

    def action_copy(self) -> None:
        """Copy the code."""
        self.app.copy_to_clipboard(self.code)
        lines = self.code.count("\n") + 1
        self.app.notify(f"Copied {lines} line{'' if lines == 1 else 's'} of code.", markup=False)

    def on_click(self, event: Click) -> None:
        if isinstance(event.widget, CodeHead):
            event.stop()
            self.action_copy()


class Reply(Markdown):
    """Markdown that opens nothing by itself."""

    DEFAULT_CSS = """
    Reply { padding: 0 1 0 3; margin: 0; background: transparent; }
    Reply MarkdownParagraph, Reply CodeBlock, Reply MarkdownBulletList, Reply MarkdownOrderedList,
    Reply MarkdownBlockQuote, Reply MarkdownTable { margin: 0 0 1 0; }
    Reply > MarkdownBlock:last-child { margin-bottom: 0; }
    Reply MarkdownH1, Reply MarkdownH2, Reply MarkdownH3, Reply MarkdownH4 {
        margin: 0 0 1 0; padding: 0; content-align: left middle; color: $primary; background: transparent;
        text-style: bold;
    }
    Reply CodeBlock { background: $surface; color: $foreground; }
    Reply CodeBlock:focus { background: $panel; }
    Reply CodeBlock > Label { width: 100%; padding: 0 1; text-wrap: wrap; }
    """

    BLOCKS: ClassVar[dict[str, type[MarkdownBlock]]] = {
        **Markdown.BLOCKS,
        "fence": CodeBlock,
        "code_block": CodeBlock,
    }

    def __init__(self, text: str = "") -> None:
        super().__init__(text, open_links=False)

    def stream(self) -> MarkdownStream:
        """Return a stream that appends to this reply without parsing all of it again."""
        return Markdown.get_stream(self)
