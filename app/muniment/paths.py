"""Where Muniment keeps things: four private directories, each overridable by one environment variable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APP_NAME = "muniment"
PROJECT_DIR_NAME = ".muniment"
"""Name of a project's own directory; each one on the way down to the working directory is a scope."""


class HomeUnknown(Exception):  # noqa: N818 - named for what it says
    """A place lies in a home directory that nobody knows; the text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The user's directories for settings, data, state and cache; all absolute, none created here."""

    config: Path
    data: Path
    state: Path
    cache: Path

    @property
    def config_file(self) -> Path:
        return self.config / "config.yaml"

    @property
    def soul_file(self) -> Path:
        return self.config / "SOUL.md"

    @property
    def recipes(self) -> Path:
        return self.config / "recipes"

    @property
    def user_memory(self) -> Path:
        return self.data / "user"

    @property
    def ledger(self) -> Path:
        return self.data / "ledger.db"

    @property
    def journal(self) -> Path:
        return self.data / "journal"

    @property
    def sessions(self) -> Path:
        return self.state / "sessions"

    @property
    def traces(self) -> Path:
        return self.state / "traces"

    @property
    def recall(self) -> Path:
        """What recall did, turn by turn."""
        return self.state / "recall.db"

    @property
    def memindex(self) -> Path:
        return self.cache / "memindex"

    def private_dirs(self) -> tuple[Path, ...]:
        """The four roots, which no file tool may ever reach into."""
        return (self.config, self.data, self.state, self.cache)


def resolve_paths(environ: Mapping[str, str] | None = None) -> Paths:
    """Return the directories from `MUNIMENT_*_DIR`, falling back to the platform's own places.

    Raise `HomeUnknown` where such a place lies in a home directory that nobody knows.
    """
    env = os.environ if environ is None else environ

    def place(variable: str, kind: str) -> Path:
        override = env.get(variable, "").strip()
        try:
            if override:
                return Path(override).expanduser().absolute()
            # Imported only where an override is missing: tests and scripts then start without it.
            import platformdirs

            return Path(getattr(platformdirs, f"user_{kind}_path")(APP_NAME, appauthor=False))
        except RuntimeError as error:  # a user that no list of users has, as in a container
            whose = f"The home directory in {variable}" if override else "Your home directory"
            raise HomeUnknown(
                f"{whose} is not known, so there is no place for {kind}; set "
                f"{variable if override else f'HOME or {variable}'} to an absolute path."
            ) from error

    return Paths(
        config=place("MUNIMENT_CONFIG_DIR", "config"),
        data=place("MUNIMENT_DATA_DIR", "data"),
        state=place("MUNIMENT_STATE_DIR", "state"),
        cache=place("MUNIMENT_CACHE_DIR", "cache"),
    )
