"""How a session is to start; light, so that the screen can be painted before a session is put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from muniment.approval.policy import Mode

if TYPE_CHECKING:
    from muniment.session.recipes.recipe import Recipe


@dataclass(frozen=True, slots=True)
class StartOptions:
    """How a session is to start; `recipe` is a path, a name or one already read; None the assistant."""

    recipe: str | Recipe | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    resume_id: str | None = None
    mode: Mode = Mode.MANUAL
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    trace: bool = True
    approve: Literal["ask", "none"] = "ask"
    headless: bool = False
    continue_here: bool = False
    """For a resumed session whose directory is gone: go on in the present one."""
    preview: bool = False
    """Only the next request is to be looked at; a recipe's endpoint is not asked about."""
