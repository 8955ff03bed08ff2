"""What you hold back: notes kept out of a consolidation, entries kept out of a sweep; one small file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.memory.origin import Origin
from muniment.memory.team.refusals import TeamRefused
from muniment.safety.files import FileRefused
from muniment.safety.strict_yaml import YamlFault, dump, load

if TYPE_CHECKING:
    from muniment.memory.team.workspace import Team

FILE_NAME = "held.yaml"
MAX_BYTES = 1_048_576
_KEY = "held"


class Holds:
    """The keys of held files: paths relative to the workspace, such as `notes/inbox/x.md`.

    The held files themselves stay as they are, so that holding one changes neither its text nor its time.
    """

    def __init__(self, team: Team) -> None:
        self._team = team

    def keys(self) -> frozenset[str]:
        """Return the held keys; what is no text is passed over, and an unusable file holds nothing."""
        try:
            return frozenset(_parsed(self._read()))
        except (FileRefused, OSError, YamlFault):
            return frozenset()

    def put(self, key: str, held: bool, origin: Origin, *, surface: str) -> bool:
        """Hold or release a key and tell whether that changed anything; `surface` is the journal's word."""
        with self._team.guard() as directory:
            path = directory / FILE_NAME
            try:
                before = self._read()
                keys = _parsed(before)
            except (FileRefused, YamlFault) as fault:
                raise TeamRefused(f"{path} cannot be used ({fault.sentence}) and is left alone.") from fault
            if (key in keys) == held:
                return False
            after = [each for each in keys if each != key] + ([key] if held else [])
            self._team.files.write(
                path, dump({_KEY: sorted(after)}), origin, surface=surface, item=key, before=before
            )
            return True

    def _read(self) -> bytes | None:
        return self._team.files.read(self._team.directory / FILE_NAME, max_bytes=MAX_BYTES)


def _parsed(data: bytes | None) -> list[str]:
    fields = {} if data is None else load(data)
    keys = fields.get(_KEY) if isinstance(fields, dict) else None
    return [each for each in keys if isinstance(each, str) and each] if isinstance(keys, list) else []
