"""Settings say what is in effect and where it came from, and refuse what they do not know."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from muniment.paths import Paths, resolve_paths
from muniment.settings import (
    ModelSettings,
    Settings,
    SettingsFault,
    default_text,
    effective_provider,
    load_settings,
    switch,
)
from muniment.settings.shape import SETTINGS


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return resolve_paths(
        {f"MUNIMENT_{each}_DIR": str(tmp_path / each) for each in ("CONFIG", "DATA", "STATE", "CACHE")}
    )


def write(paths: Paths, text: str) -> None:
    paths.config.mkdir(parents=True, exist_ok=True)
    paths.config_file.write_text(text, encoding="utf-8")


def fault(paths: Paths, text: str) -> SettingsFault:
    write(paths, text)
    with pytest.raises(SettingsFault) as caught:
        load_settings(paths, {})
    return caught.value


def test_without_a_file_everything_is_the_documented_default(paths: Paths) -> None:
    settings = load_settings(paths, {})
    values = {key: value for key, value, _ in settings.leaves()}
    assert values == {
        "model.provider": None,
        "model.name": None,
        "model.base_url": None,
        "model.api": "auto",
        "model.api_key_env": "OPENAI_API_KEY",
        "model.chat_layout": "auto",
        "model.context_window": 128_000,
        "model.timeout_seconds": 120,
        "approval.quiet_seconds": 0.8,
        "retrieval.enabled": True,
        "retrieval.shadow": False,
        "retrieval.top_k": 8,
        "retrieval.max_bytes": 8_192,
        "retrieval.candidates": 50,
        "notes.threshold": 5,
        "notes.consolidate": "ask",
        "notes.max_bytes": 50_000,
        "notes.archive_max_files": 2_000,
        "knowledge.sweep": "ask",
        "knowledge.keep_swept_days": 30,
        "notebooks.agents": (),
        "notebooks.max_entries": 300,
        "notebooks.max_bytes": 65_536,
        "notebooks.summary.enabled": False,
        "notebooks.summary.threshold": 30,
        "notebooks.summary.days": 30,
        "episodes.enabled": False,
        "fence.max_bytes": 65_536,
        "tui.theme": "dark",
        "tui.panel_width": 44,
        "tui.animations": True,
        "tui.keymap": {},
    }
    assert {origin for _, _, origin in settings.leaves()} == {"default"}
    assert not paths.config.exists(), "reading makes nothing"


def test_every_documented_key_can_be_set_and_tells_its_line(paths: Paths) -> None:
    write(
        paths,
        "model:\n  provider: openai\n  name: m\n  base_url: http://127.0.0.1:8080/v1\n  api: chat\n"
        "  api_key_env: MY_KEY\n  chat_layout: strict\n  context_window: 6000\n  timeout_seconds: 2.5\n"
        "approval: {quiet_seconds: 5}\n"
        "retrieval: {enabled: false, shadow: true, top_k: 20, max_bytes: 65536, candidates: 10}\n"
        "notes: {threshold: 1, consolidate: off, max_bytes: 1000, archive_max_files: 1}\n"
        "knowledge: {sweep: auto, keep_swept_days: 0}\n"
        "notebooks: {agents: [reviewer], max_entries: 1, max_bytes: 1000,\n"
        "  summary: {enabled: on, threshold: 1, days: 1}}\n"
        "episodes: {enabled: true}\nfence: {max_bytes: 1024}\n"
        "tui: {theme: light, panel_width: 30, animations: false, keymap: {app.quit: ctrl+q}}\n",
    )
    settings = load_settings(paths, {})
    assert settings.model == ModelSettings(
        "openai", "m", "http://127.0.0.1:8080/v1", "chat", "MY_KEY", "strict", 6000, 2.5
    )
    assert settings.retrieval.top_k == 20
    assert settings.notebooks.agents == ("reviewer",)
    assert settings.notebooks.summary.enabled is True
    assert settings.tui.keymap == {"app.quit": "ctrl+q"}
    assert settings.origin("model.name") == f"{paths.config_file}:3"
    assert settings.origin("retrieval.top_k") == f"{paths.config_file}:11"
    assert {origin for _, _, origin in settings.leaves()} & {"default"} == set()


def test_all_faults_of_a_file_are_told_with_line_and_suggestion(paths: Paths) -> None:
    told = fault(paths, "modell: {}\nretrieval: {top_k: 21, enabeld: true}\nmodel: {api_key: sk-123456}\n")
    assert [(each.line, each.key, each.suggestion) for each in told.faults] == [
        (1, "modell", "model"),
        (2, "retrieval.top_k", ""),
        (2, "retrieval.enabeld", "enabled"),
        (3, "model.api_key", ""),
    ]
    assert "has 4 faults" in str(told)
    assert "api_key_env" in told.faults[3].problem
    assert "sk-123456" not in str(told)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("approval: {quiet_seconds: 0.49}", "approval.quiet_seconds"),
        ("approval: {quiet_seconds: 5.1}", "approval.quiet_seconds"),
        ("approval: {mode: bypass}", "approval.mode"),
        ("retrieval: {top_k: 0}", "retrieval.top_k"),
        ("retrieval: {max_bytes: 511}", "retrieval.max_bytes"),
        ("retrieval: {max_bytes: 65537}", "retrieval.max_bytes"),
        ("notes: {threshold: 0}", "notes.threshold"),
        ("notes: {consolidate: yes}", "notes.consolidate"),
        ("fence: {max_bytes: 65537}", "fence.max_bytes"),
        ("notebooks: {agents: [Reviewer]}", "notebooks.agents[0]"),
        ("model: {provider: opnai}", "model.provider"),
        ("model: {name: null}", "model.name"),
        ("model: {base_url: ~}", "model.base_url"),
        ("model: {context_window: -1}", "model.context_window"),
        ("model: {api_key_env: 'a b'}", "model.api_key_env"),
    ],
)
def test_values_out_of_bounds_are_faults(paths: Paths, text: str, key: str) -> None:
    (told,) = fault(paths, text).faults
    assert told.key == key


def test_a_file_that_is_no_yaml_or_a_list_is_one_fault(paths: Paths) -> None:
    assert fault(paths, "model: [\n").faults[0].line == 2
    assert "not a mapping" in str(fault(paths, "- a\n"))
    assert "anchor" in str(fault(paths, "model: &a {}\n"))


def test_an_empty_file_and_empty_sections_are_defaults(paths: Paths) -> None:
    for text in ("", "# nothing\n", "model:\nretrieval: {}\n", "model: null\nretrieval: ~\n"):
        write(paths, text)
        assert load_settings(paths, {}).model == ModelSettings()
    write(paths, "model: {context_window: 0}\n")
    assert load_settings(paths, {}).model.context_window == 128_000
    write(paths, "model: {name: 'null'}\n")
    assert load_settings(paths, {}).model.name == "null"


def test_a_linked_settings_file_is_read(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.yaml").write_text("retrieval: {top_k: 3}\n")
    paths.config.mkdir()
    paths.config_file.symlink_to(tmp_path / "dotfiles.yaml")
    assert load_settings(paths, {}).retrieval.top_k == 3


@pytest.mark.parametrize(
    ("word", "state"),
    [
        *((each, True) for each in ("1", "true", "YES", " On ", "on\n")),
        *((each, False) for each in ("0", "false", "NO", " off ", "", "  ")),
    ],
)
def test_switches_read_the_usual_words(word: str, state: bool) -> None:
    assert switch({"X": word}, "X") == (state, None)


def test_a_garbled_switch_is_one_notice_and_ignored(paths: Paths) -> None:
    state, notice = switch({"X": "may\u202ebe"}, "X")
    assert state is None
    assert notice is not None
    assert "\\u202e" in notice
    assert switch({}, "X") == (None, None)
    settings = load_settings(paths, {"MUNIMENT_MEMORY": "maybe"})
    assert len(settings.notices) == 1
    assert settings.retrieval.enabled is True


def test_the_memory_switch_lies_over_the_file_and_says_so(paths: Paths) -> None:
    write(paths, "retrieval: {enabled: false}\n")
    settings = load_settings(paths, {"MUNIMENT_MEMORY": "on"})
    assert settings.retrieval.enabled is True
    assert settings.origin("retrieval.enabled") == "environment MUNIMENT_MEMORY"


def test_flags_lie_over_the_file_and_say_so() -> None:
    settings = Settings().with_overrides(provider="openai", model="m")
    assert (settings.model.provider, settings.model.name, settings.model.base_url) == ("openai", "m", None)
    assert settings.origin("model.name") == "flag"
    assert settings.origin("model.base_url") == "default"
    assert settings.with_overrides(base_url="http://x", origin="recipe").origin("model.base_url") == "recipe"
    assert settings.with_overrides() is settings
    assert settings.as_dict()["model.name"] == {"value": "m", "origin": "flag"}


@pytest.mark.parametrize(
    ("model", "environ", "provider", "silent"),
    [
        ({}, {}, "rehearsal", False),
        ({}, {"OPENAI_API_KEY": "k"}, "rehearsal", False),
        ({"name": "m"}, {}, "rehearsal", False),
        ({"name": "m"}, {"OPENAI_API_KEY": "  "}, "rehearsal", False),
        ({"name": "m"}, {"OPENAI_API_KEY": "k"}, "openai", False),
        ({"name": "m", "api_key_env": "MINE"}, {"OPENAI_API_KEY": "k"}, "rehearsal", False),
        ({"name": "m", "base_url": "http://x"}, {}, "openai", False),
        ({"base_url": "http://x"}, {}, "rehearsal", False),
        ({"provider": "rehearsal", "name": "m", "base_url": "http://x"}, {}, "rehearsal", True),
        ({"provider": "openai"}, {}, "openai", True),
    ],
)
def test_the_provider_follows_from_name_server_and_key(
    model: dict[str, Any], environ: dict[str, str], provider: str, silent: bool
) -> None:
    answer, why = effective_provider(Settings(model=ModelSettings(**model)), environ)
    assert answer == provider
    assert (why == "") is silent


def test_the_written_default_file_is_valid_and_changes_nothing(paths: Paths) -> None:
    write(paths, default_text())
    settings = load_settings(paths, {})
    assert {origin for _, _, origin in settings.leaves()} == {"default"}


def test_every_line_of_the_default_file_can_be_uncommented(paths: Paths) -> None:
    lines = [re.sub(r"^( +)# (?=\w+: )", r"\1", line) for line in default_text().split("\n")]
    write(paths, "\n".join(lines))
    settings = load_settings(paths, {})
    defaults = {key: value for key, value, _ in Settings().leaves()}
    for key, value, origin in settings.leaves():
        assert origin != "default", key
        if key not in ("model.provider", "model.name", "model.base_url"):
            assert value == defaults[key], key


def test_values_and_shape_name_the_same_keys() -> None:
    def dotted(shape: Any, prefix: str = "") -> list[str]:
        return [
            each
            for name, key in shape.keys.items()
            for each in (
                dotted(key.shape, f"{prefix}{name}.") if hasattr(key.shape, "keys") else [f"{prefix}{name}"]
            )
        ]

    assert dotted(SETTINGS) == [key for key, _, _ in Settings().leaves()]


@pytest.mark.parametrize(
    ("text", "place", "key", "words", "near"),
    [
        (
            "tui:\n  keymap:\n    session.serch: f12\n",
            (3, 5),
            "tui.keymap.session.serch",
            "no binding",
            "session.search",
        ),
        (
            "tui: {keymap: {Session.Search: f12}}\n",
            (1, 16),
            "tui.keymap.Session.Search",
            "no binding",
            "session.search",
        ),
        ("tui: {keymap: {zzz: f12}}\n", (1, 16), "tui.keymap.zzz", "no binding", ""),
        (
            "tui:\n  keymap:\n    app.quit: ctrl+foo\n",
            (3, 15),
            "tui.keymap.app.quit",
            '"ctrl+foo" is no key',
            "",
        ),
        ("tui:\n  keymap:\n    app.quit: f10, \n", (3, 15), "tui.keymap.app.quit", '"" is no key', ""),
        ("tui:\n  keymap:\n    app.quit: [f10]\n", (3, 15), "tui.keymap.app.quit", "is not text", ""),
        ("tui:\n  keymap: f10\n", (2, 11), "tui.keymap", "is not a mapping", ""),
    ],
)
def test_a_keymap_names_bindings_and_keys_that_there_are(
    paths: Paths, text: str, place: tuple[int, int], key: str, words: str, near: str
) -> None:
    (told,) = fault(paths, text).faults
    assert (told.line, told.column, told.key, told.suggestion) == (*place, key, near)
    assert words in told.problem
    assert told.sentence.startswith(f"{paths.config_file}:{place[0]}:{place[1]}: ")
