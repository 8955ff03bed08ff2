"""The environment of an isolated user: four private directories, UTC, no colour settings, no keys."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

REMOVED = (
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_LOG",
    "COLORTERM",
    "EDITOR",
    "VISUAL",
)


def user_variables(base: Path) -> dict[str, str]:
    """Return the variables that put every directory of Muniment below `base`."""
    return {
        "MUNIMENT_CONFIG_DIR": str(base / "config"),
        "MUNIMENT_DATA_DIR": str(base / "data"),
        "MUNIMENT_STATE_DIR": str(base / "state"),
        "MUNIMENT_CACHE_DIR": str(base / "cache"),
        "HOME": str(base / "home"),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TEXTUAL_ANIMATIONS": "none",
    }


def isolated(base: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a whole environment for a child process, isolated below `base`."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in REMOVED and not name.startswith("MUNIMENT_")
    }
    env |= user_variables(base)
    (base / "home").mkdir(parents=True, exist_ok=True)
    return env | dict(extra or {})
