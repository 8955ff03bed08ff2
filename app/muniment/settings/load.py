"""From the settings file, the environment and the defaults to one frozen value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.paths import Paths
from muniment.safety.errors import InvalidInput
from muniment.settings.environment import MEMORY_SWITCH, switch
from muniment.settings.values import Provider, Settings

if TYPE_CHECKING:
    from muniment.safety.schema import Fault
    from muniment.safety.strict_yaml import KeyPath, Marks

MAX_BYTES = 1_048_576


class SettingsFault(InvalidInput):
    """The settings file cannot be used; `faults` names each place in it."""

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        if len(faults) == 1:
            text = faults[0].sentence
        else:
            text = f"{path} has {len(faults)} faults:\n" + "\n".join(each.sentence for each in faults)
        super().__init__(text)
        self.path = path
        self.faults = tuple(faults)

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(each.sentence for each in self.faults)


def load_settings(paths: Paths, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; a missing file means defaults. Raise `SettingsFault` with all its faults."""
    env = os.environ if environ is None else environ
    settings = Settings()
    data = read_file(paths.config_file)
    if data is not None:
        settings = parse(data, paths.config_file)
    state, notice = switch(env, MEMORY_SWITCH)
    if notice is not None:
        settings = replace(settings, notices=(*settings.notices, notice))
    if state is not None:
        origins = dict(settings.origins) | {"retrieval.enabled": f"environment {MEMORY_SWITCH}"}
        settings = replace(settings, retrieval=replace(settings.retrieval, enabled=state), origins=origins)
    return settings


def read_file(path: Path) -> bytes | None:
    """Return the bytes of the settings file, None where there is none; a link to it is followed."""
    if not os.path.lexists(path):
        return None
    from muniment.safety.files import read_regular

    try:
        return read_regular(Path(os.path.realpath(path)), max_bytes=MAX_BYTES, single_link=False)
    except FileNotFoundError:
        return None


def parse(data: bytes, path: Path) -> Settings:
    """Turn the bytes of a settings file into settings; `path` is for messages and origins."""
    from muniment.safety.schema import check_text
    from muniment.settings.shape import SETTINGS

    checked, _, report = check_text(data, SETTINGS, file=str(path), may_be_empty=True)
    if report.faults:
        raise SettingsFault(path, report.faults)
    origins = {
        ".".join(map(str, key)): f"{path}:{report.marks[key][0]}" for key in _keys((), checked, report.marks)
    }
    if checked.get("model", {}).get("context_window") == 0:
        del checked["model"]["context_window"]
    settings: Settings = _laid_over(Settings(), checked)
    return replace(settings, origins=origins)


def effective_provider(settings: Settings, environ: Mapping[str, str]) -> tuple[Provider, str]:
    """Return the provider that answers, and why where nobody named one (else an empty text)."""
    model = settings.model
    if model.provider is not None:
        return model.provider, ""
    if model.name and model.base_url:
        return "openai", "The model answers as set: a model name and a server stand in the settings or flags."
    if model.name and environ.get(model.api_key_env, "").strip():
        return "openai", f"The model answers as set: a model name stands and {model.api_key_env} holds a key."
    if model.name:
        missing = f"neither model.base_url nor a key in {model.api_key_env} is set"
        return "rehearsal", f"The rehearsal model answers: {model.name} is named, but {missing}."
    return (
        "rehearsal",
        "The rehearsal model answers: no real model is configured (see: muniment config init).",
    )


def _keys(path: KeyPath, checked: Mapping[str, Any], marks: Marks) -> Iterator[KeyPath]:
    for name, value in checked.items():
        here = (*path, name)
        if here in marks.keys:
            yield here
        if isinstance(value, Mapping):
            yield from _keys(here, value, marks)


def _laid_over(target: Any, values: Mapping[str, Any]) -> Any:
    """Return a settings value with checked values laid over it, level by level."""
    new: dict[str, Any] = {}
    for each in fields(target):
        if each.name in values:
            current, value = getattr(target, each.name), values[each.name]
            new[each.name] = _laid_over(current, value) if is_dataclass(current) else value
    return replace(target, **new)
