"""Code in a reply as the model wrote it; what is drawn has spaces for tabs, and escapes for what hides."""

from __future__ import annotations

from muniment.safety.visible import copyable, is_hidden, reading


def code_as_written(text: str, at: int, shown: str) -> str:
    """Return the code of the block at a place in a reply as it was written, without what acts in a terminal.

    `shown` is the block as it is drawn; it is returned itself where the place holds another one.
    """
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("gfm-like").parse(copyable(text))
    found = [each.content for each in tokens if each.type in ("fence", "code_block")]
    code = found[at].rstrip() if at < len(found) else ""
    return code if _bare(reading(code)) == _bare(shown) else shown


def hidden_in(code: str) -> int:
    """Return how many characters of a code nobody sees; those that scripts and emoji need do not count."""
    plain = code.replace("\t", " ")
    if reading(plain) == plain:
        return 0
    return sum(is_hidden(each) for each in code if each not in "\n\t")


def _bare(text: str) -> str:
    """Return a text without its spaces: how wide a tab is drawn depends on where it stands."""
    return "".join(text.split())
