"""Switches in the environment: on, off, or garbage that is said once and then ignored."""

from __future__ import annotations

from collections.abc import Mapping

MEMORY_SWITCH = "MUNIMENT_MEMORY"
NO_DIGEST_SWITCH = "MUNIMENT_NO_MEMORY_INJECT"

_ON = frozenset(("1", "true", "yes", "on"))
_OFF = frozenset(("0", "false", "no", "off", ""))


def switch(environ: Mapping[str, str], name: str) -> tuple[bool | None, str | None]:
    """Read a switch: True, False, or None where unset or garbage; the second is the notice for garbage."""
    raw = environ.get(name)
    if raw is None:
        return None, None
    word = raw.strip().lower()
    if word in _ON:
        return True, None
    if word in _OFF:
        return False, None
    from muniment.safety.visible import exact_line

    shown = exact_line(raw if len(raw) <= 60 else raw[:59] + "…").text
    return None, f"{name} is {shown}, which is neither on nor off; it is ignored (write 1 or 0)."
