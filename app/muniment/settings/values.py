"""What can be set, with its default; plain frozen values that read nothing by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

Provider = Literal["rehearsal", "openai"]
Willingness = Literal["ask", "auto", "off"]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model answers, and where; `provider`, `name` and `base_url` are None where nobody set them."""

    provider: Provider | None = None
    name: str | None = None
    base_url: str | None = None
    api: Literal["auto", "responses", "chat"] = "auto"
    api_key_env: str = "OPENAI_API_KEY"
    chat_layout: Literal["auto", "strict"] = "auto"
    context_window: int = 128_000
    timeout_seconds: float = 120


QUIET_LEAST, QUIET_DEFAULT, QUIET_MOST = 0.5, 0.8, 5
"""The bounds of `ApprovalSettings.quiet_seconds`, and what it is where nobody sets it."""


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """How long the dialog stays deaf, in seconds."""

    quiet_seconds: float = QUIET_DEFAULT


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Recall for a task; bounds of the pack."""

    enabled: bool = True
    shadow: bool = False
    top_k: int = 8
    max_bytes: int = 8192
    candidates: int = 50


@dataclass(frozen=True, slots=True)
class NoteSettings:
    """The inbox and the team notes."""

    threshold: int = 5
    consolidate: Willingness = "ask"
    max_bytes: int = 50_000
    archive_max_files: int = 2_000


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """The sweep of the knowledge base."""

    sweep: Willingness = "ask"
    keep_swept_days: int = 30


@dataclass(frozen=True, slots=True)
class SummarySettings:
    """The conservative summary of old notebook entries."""

    enabled: bool = False
    threshold: int = 30
    days: int = 30


@dataclass(frozen=True, slots=True)
class NotebookSettings:
    """Agents that keep a notebook, and its bounds."""

    agents: tuple[str, ...] = ()
    max_entries: int = 300
    max_bytes: int = 65_536
    summary: SummarySettings = SummarySettings()


@dataclass(frozen=True, slots=True)
class EpisodeSettings:
    """Whether tasks leave an episode in the ledger."""

    enabled: bool = False


@dataclass(frozen=True, slots=True)
class FenceSettings:
    """The bound of a fenced text in bytes."""

    max_bytes: int = 65_536


@dataclass(frozen=True, slots=True)
class TuiSettings:
    """The screen; `panel_width` counts cells."""

    theme: str = "dark"
    panel_width: int = 44
    animations: bool = True
    keymap: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one process. `origins` tells for each dotted key where its value came from:

    `default`, `FILE:LINE`, `flag`, `recipe`, or `environment NAME`.
    """

    model: ModelSettings = ModelSettings()
    approval: ApprovalSettings = ApprovalSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    notes: NoteSettings = NoteSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    notebooks: NotebookSettings = NotebookSettings()
    episodes: EpisodeSettings = EpisodeSettings()
    fence: FenceSettings = FenceSettings()
    tui: TuiSettings = field(default_factory=TuiSettings)
    origins: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    """What should be said once, such as an environment switch that is neither on nor off."""

    def with_overrides(
        self,
        provider: str | None = None,
        model: str | None = None,
        base_url: str | None = None,
        *,
        origin: str = "flag",
    ) -> Settings:
        """Return the settings with what was given laid over them; None leaves a value as it is."""
        given = {"provider": provider, "name": model, "base_url": base_url}
        named: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if not named:
            return self
        origins = dict(self.origins) | {f"model.{key}": origin for key in named}
        return replace(self, model=replace(self.model, **named), origins=origins)

    def origin(self, key: str) -> str:
        """Return where the value of a dotted key came from."""
        return self.origins.get(key, "default")

    def leaves(self) -> Iterator[tuple[str, Any, str]]:
        """Yield every dotted key with its value and its origin, in the order of the settings file."""
        for key, value in _leaves("", self):
            yield key, value, self.origin(key)

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return `{key: {"value", "origin"}}` for programs."""
        return {key: {"value": _plain(value), "origin": origin} for key, value, origin in self.leaves()}


def _leaves(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    for each in fields(value):
        if not prefix and each.name in ("origins", "notices"):
            continue
        inner = getattr(value, each.name)
        if is_dataclass(inner):
            yield from _leaves(f"{prefix}{each.name}.", inner)
        else:
            yield f"{prefix}{each.name}", inner


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
