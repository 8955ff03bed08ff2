"""Seeds of team memory and ledger, laid out through the same doors that people and agents use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muniment.memory.origin import Origin
from muniment.memory.surfaces import Surfaces


def lay_team(surfaces: Surfaces, memory: Mapping[str, Any], origin: Origin) -> None:
    """Write what is pinned, the team's notes, the inbox and the ledger's rows."""
    return
