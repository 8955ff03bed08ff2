"""Settings: one file, read once into frozen values that know where each of them came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from muniment.paths import Paths
from muniment.settings.environment import switch
from muniment.settings.load import SettingsFault, effective_provider, load_settings
from muniment.settings.values import (
    ApprovalSettings,
    EpisodeSettings,
    FenceSettings,
    KnowledgeSettings,
    ModelSettings,
    NotebookSettings,
    NoteSettings,
    RetrievalSettings,
    Settings,
    SummarySettings,
    TuiSettings,
)

__all__ = [
    "ApprovalSettings",
    "EpisodeSettings",
    "FenceSettings",
    "KnowledgeSettings",
    "ModelSettings",
    "NoteSettings",
    "NotebookSettings",
    "RetrievalSettings",
    "Settings",
    "SettingsFault",
    "SummarySettings",
    "TuiSettings",
    "change",
    "default_text",
    "effective_provider",
    "load_settings",
    "switch",
]


def change(paths: Paths, key: str | Sequence[str], value: Any) -> Settings:
    """Set one key in the settings file, or take it out with None; see `muniment.settings.edit`."""
    # Most processes only read settings; what writes them is loaded when it is wanted.
    from muniment.settings.edit import change as change_in_file

    return change_in_file(paths, key, value)


def default_text() -> str:
    """Return a valid settings file that changes nothing; see `muniment.settings.template`."""
    from muniment.settings.template import default_text as text

    return text()
