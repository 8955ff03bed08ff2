"""The text that `config init` writes: every setting with its default, commented out and explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muniment.safety.yaml_writer import scalar
from muniment.settings.values import Settings

_HEAD = """\
# Muniment's settings. Each line below shows a default; take the "# " away in front of a line to change it.
# `muniment config show` prints what is in effect and where it came from.
"""
_EXAMPLES = {
    "model.provider": "rehearsal",
    "model.name": "the-model-you-use",
    "model.base_url": "http://127.0.0.1:8080/v1",
    "tui.keymap": "{}",
}
"""What stands where there is no default."""


def default_text() -> str:
    """Return a valid settings file that changes nothing."""
    from muniment.settings.shape import SETTINGS

    values = {key: value for key, value, _ in Settings().leaves()}
    lines = [_HEAD]
    for name, section in SETTINGS.keys.items():
        lines.append(f"# {section.help[:1].upper()}{section.help[1:]}.")
        lines.append(f"{name}:")
        lines += _keys(section.shape, name, "  ", values)
        lines.append("")
    return "\n".join(lines)


def _keys(shape: Any, prefix: str, indent: str, values: Mapping[str, Any]) -> list[str]:
    from muniment.safety.schema import Fields

    lines: list[str] = []
    for name, key in shape.keys.items():
        dotted = f"{prefix}.{name}"
        if isinstance(key.shape, Fields):
            lines.append(f"{indent}{name}:")
            lines += _keys(key.shape, dotted, indent + "  ", values)
            continue
        shown = _EXAMPLES.get(dotted) or written(values[dotted])
        lines.append(f"{indent}# {name}: {shown}".ljust(44) + f"  # {key.help} ({key.shape.allowed()})")
    return lines


def written(value: Any) -> str:
    """Write a value on one line, as it may stand after a key or inside brackets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key)}: {written(each)}" for key, each in value.items()) + "}"
    return scalar(str(value), inside_brackets=True)
