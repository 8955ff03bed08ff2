"""A recipe's own endpoint: a file chose where text and key go, so the person is asked once per file text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from muniment.paths import Paths
from muniment.safety.errors import InvalidInput, MunimentError
from muniment.safety.files import FileRefused, ensure_private_dir, locked, read_regular, write_atomic

_MAX_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class EndpointQuestion:
    """What to ask: may this recipe send the conversation, and the key in `key_variable`, to `base_url`?"""

    recipe: str
    base_url: str
    key_variable: str
    digest: str

    @property
    def text(self) -> str:
        return (
            f"The recipe {self.recipe} sends this conversation, and the key in {self.key_variable} if it is "
            f"set, to {self.base_url}. Allow it for this text of the recipe?"
        )


class EndpointUndecided(InvalidInput):
    """The question was not answered with yes; ask it, call `allow_endpoint`, open the session again."""

    def __init__(self, question: EndpointQuestion) -> None:
        super().__init__(
            f"The recipe {question.recipe} names its own endpoint {question.base_url} (key from "
            f"{question.key_variable}), which nobody has allowed; to allow it for this run, repeat it as "
            f"--base-url {question.base_url}."
        )
        self.question = question


def is_allowed(paths: Paths, question: EndpointQuestion) -> bool:
    """Tell whether the user said yes to this very text with this very endpoint."""
    return _read(paths).get(question.digest) == question.base_url


def allow_endpoint(paths: Paths, question: EndpointQuestion) -> None:
    """Remember a yes for this text of the recipe."""
    path = _path(paths)
    ensure_private_dir(path.parent)
    with locked(path.with_suffix(".lock")):
        known = _read(paths) | {question.digest: question.base_url}
        write_atomic(path, json.dumps(known, indent=1).encode("utf-8"))


def _path(paths: Paths) -> Path:
    return paths.state / "endpoints.json"


def _read(paths: Paths) -> dict[str, str]:
    try:
        value = json.loads(read_regular(_path(paths), max_bytes=_MAX_BYTES))
    except (FileNotFoundError, FileRefused, ValueError, MunimentError):
        # An unreadable memory of answers means that the question is asked again, never that it was answered.
        return {}
    if not isinstance(value, dict):
        return {}
    return {key: url for key, url in value.items() if isinstance(url, str)}
