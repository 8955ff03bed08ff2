"""What the screen starts from: where, with which settings, and which session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from muniment.paths import Paths
from muniment.session.options import StartOptions
from muniment.settings import Settings


@dataclass(frozen=True, slots=True)
class Boot:
    """Everything the app is given; `pick` opens the choice of recipes before a session."""

    paths: Paths
    cwd: Path
    environ: Mapping[str, str]
    settings: Settings
    options: StartOptions
    pick: bool = False
