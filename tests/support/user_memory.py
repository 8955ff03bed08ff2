"""User memory for tests: files written by hand, and requests looked at for its block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from muniment.model.base import AssistantItem, InputItem
from muniment.paths import Paths

TAG = "<UNTRUSTED-INPUT source="


def put_entry(paths: Paths, name: str, summary: str = "", *, kind: str = "user", details: str = "") -> Path:
    """Write a valid entry as a person would."""
    return put_file(
        paths,
        f"{name}.md",
        f"---\nname: {name}\ntype: {kind}\nsummary: {summary or f'About {name}'}\n---\n{details}",
    )


def put_file(paths: Paths, file_name: str, data: str | bytes) -> Path:
    paths.user_memory.mkdir(parents=True, exist_ok=True)
    path = paths.user_memory / file_name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def memory_of(items: tuple[InputItem, ...]) -> str:
    """Return the memory message of a request, which stands first; empty where there is none."""
    first = items[0]
    return first.text if isinstance(first, AssistantItem) else ""


def lines_of(items: tuple[InputItem, ...]) -> list[str]:
    """Return the index lines in a request's memory message."""
    return [line for line in memory_of(items).split("\n") if line.startswith("- [")]


def save_arguments(name: str = "fruit", mode: str = "create", **more: Any) -> dict[str, Any]:
    return {"mode": mode, "name": name, "type": "user", "summary": "Likes plums."} | more
