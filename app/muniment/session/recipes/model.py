"""A recipe as a frozen value, with the form in which a session's log keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from muniment.settings import Settings, switch
from muniment.settings.environment import MEMORY_SWITCH

RetrievalState = Literal["on", "off", "shadow"]
NO_TOOLS = ("-",)
"""The patterns of a recipe that offers no tool: no tool has this name, and no patterns would mean all."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value asked for before the session starts; `default` is None where there is none."""

    name: str
    description: str
    required: bool = True
    default: str | None = None


@dataclass(frozen=True, slots=True)
class RecipeModel:
    """The model a recipe wants, laid over the settings; None leaves a setting as it is."""

    provider: str | None = None
    name: str | None = None
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """What of memory a request carries; None means as the settings say."""

    digest: bool = True
    user_memory: bool = True
    retrieval: RetrievalState | None = None
    sources: tuple[str, ...] = ("ledger", "records")
    top_k: int | None = None
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class TaskPolicy:
    """Whether a run is a task; None leaves it to the way it was started."""

    capture: bool | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """What sets up a session. `path` is the file's absolute path, None for the built-in one."""

    name: str
    description: str
    agent: str
    temporary: bool = False
    instructions: str = ""
    prompt: str | None = None
    parameters: tuple[Parameter, ...] = ()
    """Values still to be filled in; none once they are."""
    model: RecipeModel | None = None
    tools: tuple[str, ...] = ()
    """Patterns of tools to offer; none means all."""
    approve: tuple[str, ...] = ()
    memory: MemoryPolicy = MemoryPolicy()
    task: TaskPolicy = TaskPolicy()
    path: Path | None = None
    digest: str = ""
    """SHA-256 of the file's bytes."""
    text: str = ""
    """The file's text, for reading before it runs."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The values that were filled in."""

    def as_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON values, complete enough to go on without its file; the text stays out."""
        fields = asdict(self)
        del fields["text"]
        fields["path"] = None if self.path is None else str(self.path)
        fields["values"] = dict(self.values)
        return fields

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe:
        """Return the recipe of a session's log; unknown keys of a later version are left out."""
        model = fields.get("model")
        path = fields.get("path")
        memory = _known(MemoryPolicy, fields.get("memory") or {})
        if "sources" in memory:
            memory["sources"] = tuple(memory["sources"])
        plain = {
            key: fields[key]
            for key in ("name", "description", "temporary", "instructions", "prompt", "digest")
            if key in fields
        }
        return cls(
            **plain,
            agent=fields.get("agent") or fields["name"],
            parameters=tuple(Parameter(**_known(Parameter, each)) for each in fields.get("parameters") or ()),
            model=None if model is None else RecipeModel(**_known(RecipeModel, model)),
            tools=tuple(fields.get("tools") or ()),
            approve=tuple(fields.get("approve") or ()),
            memory=MemoryPolicy(**memory),
            task=TaskPolicy(**_known(TaskPolicy, fields.get("task") or {})),
            path=None if path is None else Path(path),
            values=dict(fields.get("values") or {}),
        )


def _known(kind: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    names = kind.__dataclass_fields__
    return {key: value for key, value in fields.items() if key in names}


def retrieval_state(recipe: Recipe, settings: Settings, environ: Mapping[str, str]) -> RetrievalState:
    """Tell whether recall runs: the environment decides over the recipe, the recipe over the settings."""
    wanted = recipe.memory.retrieval
    if wanted is None:
        wanted = "off" if not settings.retrieval.enabled else "shadow" if settings.retrieval.shadow else "on"
    forced, _ = switch(environ, MEMORY_SWITCH)
    if forced is None:
        return wanted
    if not forced:
        return "off"
    return "on" if wanted == "off" else wanted


ASSISTANT = Recipe(
    name="assistant",
    description="A general assistant that remembers what you approve",
    agent="assistant",
    instructions=(
        "You help with whatever this person works on in this directory. Be brief and concrete, say what you "
        "do not know, and look at files before you speak about them."
    ),
)
"""The recipe of a session that names none."""
