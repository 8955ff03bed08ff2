"""Whether git would leave a project's memory alone, told from ignore files only; git itself is never run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_MAX_BYTES = 262_144


def tracked_by_git(directory: Path) -> Path | None:
    """Return the work tree that would take a new directory's files into version control, or None.

    None where no work tree encloses it or where an ignore file names it. Running git would obey the
    configuration of a repository that may be hostile; reading its ignore files obeys nothing.
    """
    tree = next((each for each in directory.parents if os.path.lexists(each / ".git")), None)
    if tree is None:
        return None
    parts = directory.relative_to(tree).parts
    for depth in range(1, len(parts) + 1):
        if _ignored(tree, parts[:depth]):
            return None
    if any(_matches(line, ("memory",)) for line in _lines(directory / ".gitignore")):
        return None
    return tree


def _ignored(tree: Path, parts: tuple[str, ...]) -> bool:
    """Judge one directory by all ignore files above it; the last line that matches decides."""
    verdict = False
    sources: list[tuple[Path, tuple[str, ...]]] = [(_user_excludes(), parts), (_info_exclude(tree), parts)]
    sources += [(tree.joinpath(*parts[:depth], ".gitignore"), parts[depth:]) for depth in range(len(parts))]
    for source, rest in sources:
        for line in _lines(source):
            negated = line.startswith("!")
            if _matches(line.removeprefix("!"), rest):
                verdict = not negated
    return verdict


def _matches(pattern: str, parts: tuple[str, ...]) -> bool:
    text = pattern.rstrip("/")
    if not text:
        return False
    if "/" not in text:
        return re.fullmatch(_translate(text), parts[-1]) is not None
    return re.fullmatch(_translate(text.lstrip("/")), "/".join(parts)) is not None


def _translate(pattern: str) -> str:
    """Turn an ignore pattern into a regular expression: `*` and `?` stay within a name, `**/` spans names."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            out.append("(?:[^/]+/)*")
            at += 3
        elif pattern.startswith("**", at):
            out.append(".*")
            at += 2
        elif pattern[at] == "*":
            out.append("[^/]*")
            at += 1
        elif pattern[at] == "?":
            out.append("[^/]")
            at += 1
        else:
            at += 1 if pattern[at] == "\\" and at + 1 < len(pattern) else 0
            out.append(re.escape(pattern[at]))
            at += 1
    return "".join(out)


def _lines(path: Path) -> Iterator[str]:
    from muniment.safety.files import FileRefused, read_regular

    try:
        data = read_regular(path, max_bytes=_MAX_BYTES, single_link=False)
    except (OSError, FileRefused):
        return
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.rstrip()
        if text and not text.startswith("#"):
            yield text


def _info_exclude(tree: Path) -> Path:
    """Return the repository's own exclude file; in a linked work tree `.git` is a file that points at it."""
    return tree / ".git" / "info" / "exclude"


def _user_excludes() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    # Where no home is known the sign stays as it is and names a file that is not there.
    return Path(os.path.expanduser(base)) / "git" / "ignore"  # noqa: PTH111 - pathlib raises there
