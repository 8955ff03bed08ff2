"""A reply of the model as Markdown; its links are shown, and opened only after a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Markdown, Static
from textual.widgets._markdown import MarkdownBlock, MarkdownFence
from textual.widgets.markdown import MarkdownStream

from muniment.safety.visible import reading_line
from muniment.tui.code import code_as_written, hidden_in
from muniment.tui.widgets.drawn import without_looks
from muniment.tui.widgets.prose import Prose
from muniment.tui.widgets.prose_tokens import parser

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


class CodeHead(Static):
    """The line above a block of code: its language, and the word that copies it."""

    DEFAULT_CSS = "CodeHead { height: 1; width: 100%; color: $secondary; pointer: pointer; }"

    def __init__(self, language: str) -> None:
        name = reading_line(language.split()[0])[:20] if language.split() else "text"
        super().__init__(Content.assemble(name, "  ", ("copy", "bold underline")), markup=False)


@without_looks
class CodeBlock(MarkdownFence, can_focus=True):
    """Code in a reply; y, Enter or a click on its first line copies it."""

    BINDING_GROUP_TITLE = "Code"
    HELP = "y copies the code to the clipboard as the model wrote it; the mouse can select a part of it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "copy", "Copy code", tooltip="Copy this code to the clipboard", id="code.copy"),
    ]

    def compose(self) -> ComposeResult:
        yield CodeHead(self.lexer)
        yield from super().compose()

    @dataclass
    class CopyAsked(Message):
        """The user wants this code in the clipboard."""

        block: CodeBlock

    def action_copy(self) -> None:
        """Copy the code."""
        self.post_message(self.CopyAsked(self))

    def on_click(self, event: Click) -> None:
        if isinstance(event.widget, CodeHead):
            event.stop()
            self.action_copy()


class Reply(Prose):
    """Markdown that opens nothing by itself."""

    DEFAULT_CSS = """
    Reply {
        padding: 0 1 0 3; max-width: 120;
        & > MarkdownBlock.-last { margin-bottom: 0; }
        & CodeBlock, & CodeBlock:light { background: $surface; border-left: blank; }
        & CodeBlock > Label { padding: 0 1 0 0; }
        & CodeBlock:focus { background: $panel; border-left: outer $primary; }
    }
    """

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        """Return the class for a block; code has one of our own."""
        return CodeBlock if block_name in ("fence", "code_block") else super().get_block_class(block_name)

    def __init__(self, text: str = "", written: Callable[[], str] | None = None) -> None:
        """Show a text in its reading form; `written` returns it as the model wrote it, for copying."""
        self._written = written
        super().__init__(text, parser_factory=self._own_parser)
        self._parser: MarkdownIt | None = None
        self._streams = False

    def _own_parser(self) -> MarkdownIt:
        """Return one parser for all the pieces of this reply; making one costs more than most pieces."""
        if self._parser is None:
            self._parser = parser()
        return self._parser

    @on(CodeBlock.CopyAsked)
    def _copy(self, event: CodeBlock.CopyAsked) -> None:
        event.stop()
        shown = event.block.code
        at = list(self.query(CodeBlock)).index(event.block)
        code = shown if self._written is None else code_as_written(self._written(), at, shown)
        self.app.copy_to_clipboard(code)
        lines = code.count("\n") + 1
        told = f"Copied {lines} line{'' if lines == 1 else 's'} of code."
        hidden = hidden_in(code)
        if hidden:
            told += f" It holds {hidden} hidden character{'' if hidden == 1 else 's'}."
        self.app.notify(told, markup=False)

    def on_markdown_table_of_contents_updated(self, event: Markdown.TableOfContentsUpdated) -> None:
        """Take the end of an update as it is announced; a stream ends with a word of its own."""
        event.stop()
        if not self._streams:
            self.settle()

    def settle(self) -> None:
        """Leave no blank line below the last block, once no more of them come.

        A rule about the last child would do the same, at the price of styling all of them again with each.
        """
        self._streams, self._parser = False, None
        for block in self.query("MarkdownBlock.-last"):
            block.remove_class("-last")
        if self.children:
            self.children[-1].add_class("-last")

    def stream(self) -> MarkdownStream:
        """Return a stream that appends to this reply without parsing all of it again."""
        self._streams = True
        return Markdown.get_stream(self)
