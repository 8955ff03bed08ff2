"""Settings: one file, read once into frozen values that know where each of them came from."""

from __future__ import annotations

from muniment.settings.edit import change
from muniment.settings.environment import switch
from muniment.settings.load import SettingsFault, effective_provider, load_settings
from muniment.settings.template import default_text
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
