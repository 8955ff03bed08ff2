"""Changing one setting leaves the rest of the file as its owner wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.paths import Paths, resolve_paths
from muniment.safety.strict_yaml import load
from muniment.settings import Settings, SettingsFault, change, default_text, load_settings
from muniment.settings.edit import edited

FILE = """\
# my settings
model:
  # the one at work
  name: work-model   # fast
  base_url: "http://127.0.0.1:8080/v1"

retrieval: {top_k: 8, shadow: false}  # pack

notebooks:
  agents:
    - reviewer
    # soon more
    - writer
  max_entries: 20
"""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return resolve_paths(
        {f"MUNIMENT_{each}_DIR": str(tmp_path / each) for each in ("CONFIG", "DATA", "STATE", "CACHE")}
    )


def start(paths: Paths, text: str) -> None:
    paths.config.mkdir()
    paths.config_file.write_text(text)


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("model.name", "other", "name: work-model   # fast", "name: other   # fast"),
        ("model.name", "no", "name: work-model   # fast", 'name: "no"   # fast'),
        ("model.base_url", "http://h/v1", '"http://127.0.0.1:8080/v1"', "http://h/v1"),
        ("retrieval.top_k", 3, "{top_k: 8, shadow: false}", "{top_k: 3, shadow: false}"),
        ("retrieval.enabled", False, "shadow: false}", "shadow: false, enabled: false}"),
        ("retrieval.top_k", None, "{top_k: 8, shadow: false}", "{shadow: false}"),
        ("retrieval.shadow", None, "{top_k: 8, shadow: false}", "{top_k: 8}"),
        ("notebooks.max_entries", 21, "max_entries: 20", "max_entries: 21"),
        ("notebooks.max_entries", None, "  max_entries: 20\n", ""),
        ("model.api", "chat", "  # the one at work\n  name", "  # the one at work\n  api: chat\n  name"),
        (
            "notebooks.agents",
            ["a"],
            "  agents:\n    - reviewer\n    # soon more\n    - writer\n",
            "  agents: [a]\n",
        ),
    ],
)
def test_one_change_touches_one_place(paths: Paths, key: str, value: Any, old: str, new: str) -> None:
    start(paths, FILE)
    change(paths, key, value)
    assert paths.config_file.read_text() == FILE.replace(old, new)


def test_a_new_section_and_a_nested_one_go_to_the_end(paths: Paths) -> None:
    start(paths, FILE)
    assert change(paths, "tui.theme", "light").tui.theme == "light"
    assert change(paths, "notebooks.summary.days", 3).notebooks.summary.days == 3
    settings = change(paths, ("tui", "keymap", "app.quit"), "ctrl+q,f10")
    assert settings.tui.keymap == {"app.quit": "ctrl+q,f10"}
    text = paths.config_file.read_text()
    assert text.startswith(FILE[:40])
    assert "# soon more" in text
    assert settings.model.name == "work-model"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "tui:\n  # my own keys\n  keymap:\n    # the far one\n    app.quit: f10\n  theme: dark\n",
            "tui:\n  # my own keys\n    # the far one\n  theme: dark\n",
        ),
        ("tui:\n  keymap:\n    app.quit: f10\n", "tui:\n"),
        ("tui:\n  keymap:\n    app.quit: f10\n\n# end\n", "tui:\n\n# end\n"),
        ("tui:\n  keymap: {app.quit: f10}\n", "tui:\n  keymap: {}\n"),
        ("tui: {keymap: {app.quit: f10}, theme: dark}\n", "tui: {keymap: {}, theme: dark}\n"),
    ],
    ids=["comments", "alone", "end", "flow", "flow-in-flow"],
)
def test_the_last_key_of_a_mapping_leaves_a_file_that_can_be_read(
    paths: Paths, before: str, after: str
) -> None:
    start(paths, before)
    assert change(paths, ("tui", "keymap", "app.quit"), None).tui.keymap == {}
    assert paths.config_file.read_text() == after
    assert change(paths, ("tui", "keymap", "app.stop"), "f9").tui.keymap == {"app.stop": "f9"}


def test_a_missing_file_is_made_private(paths: Paths) -> None:
    settings = change(paths, "retrieval.top_k", 4)
    assert settings.origin("retrieval.top_k") == f"{paths.config_file}:2"
    assert paths.config_file.stat().st_mode & 0o777 == 0o600
    assert paths.config.stat().st_mode & 0o777 == 0o700


def test_a_wrong_value_or_key_changes_nothing(paths: Paths) -> None:
    start(paths, FILE)
    for key, value in (
        ("retrieval.top_k", 21),
        ("retrieval.topk", 3),
        ("model.api", "x"),
        ("nothing.here", 1),
    ):
        with pytest.raises(SettingsFault):
            change(paths, key, value)
    assert paths.config_file.read_text() == FILE


def test_a_file_with_faults_is_left_to_its_owner(paths: Paths) -> None:
    start(paths, "modell: {}\n")
    with pytest.raises(SettingsFault, match="did you mean model"):
        change(paths, "tui.theme", "light")
    assert paths.config_file.read_text() == "modell: {}\n"
    paths.config_file.write_text("model: [\n")
    with pytest.raises(SettingsFault, match="cannot be read"):
        change(paths, "tui.theme", "light")
    assert paths.config_file.read_text() == "model: [\n"


def test_a_link_to_a_file_kept_elsewhere_stays_a_link(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.yaml").write_text(FILE)
    paths.config.mkdir()
    paths.config_file.symlink_to(tmp_path / "dotfiles.yaml")
    change(paths, "retrieval.top_k", 3)
    assert paths.config_file.is_symlink()
    assert "top_k: 3" in (tmp_path / "dotfiles.yaml").read_text()


def test_the_written_default_file_can_be_changed_key_by_key(paths: Paths) -> None:
    start(paths, default_text())
    for key, value, _ in Settings().leaves():
        if value is not None and key != "tui.keymap":
            change(paths, key, list(value) if isinstance(value, tuple) else value)
    settings = load_settings(paths, {})
    assert all(
        origin != "default"
        for key, value, origin in settings.leaves()
        if value is not None and key != "tui.keymap"
    )
    assert [line for line in default_text().split("\n") if line.startswith("#")] == [
        line for line in paths.config_file.read_text().split("\n") if line.startswith("#")
    ]


texts = st.text(
    st.one_of(
        st.sampled_from(" #:[]{},\"'\\-no1"), st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))
    ),
    min_size=1,
    max_size=12,
)


@given(
    st.sampled_from(
        [FILE, "", "a: {}\n", "model:\n", "model: {}", "model: {name: x}", "# only\n", FILE.rstrip()]
    ),
    texts,
)
def test_any_text_set_is_the_text_read(file: str, value: str) -> None:
    document = load(edited(file, ("model", "name"), value))
    assert isinstance(document, dict)
    model = document["model"]
    assert isinstance(model, dict)
    assert model["name"] == value
    before = load(file) or {}
    assert isinstance(before, dict)
    assert {key: each for key, each in document.items() if key != "model"} == {
        key: each for key, each in before.items() if key != "model"
    }
