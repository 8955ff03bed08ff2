"""The rows of the settings screen: complete, in words, and checked with the schema's own sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.paths import Paths
from muniment.settings import Settings, load_settings
from muniment.settings.edit import change
from muniment.tui.settings_rows import ORDER, Row, matching, parsed, rows, shown, typed, words_of

DEFAULTS = {row.key: row for row in rows(Settings())}


def paths_at(root: Path) -> Paths:
    return Paths(*(root / name for name in ("config", "data", "state", "cache")))


def test_every_setting_has_a_row_with_help_and_bounds() -> None:
    assert set(DEFAULTS) == {key for key, _, _ in Settings().leaves()}
    assert [key for key, row in DEFAULTS.items() if not (row.help and row.allowed and row.when)] == []


def test_sections_stand_in_the_order_in_which_people_look_for_them() -> None:
    sections = list(dict.fromkeys(row.key.partition(".")[0] for row in rows(Settings())))
    assert sections == list(ORDER)


@pytest.mark.parametrize("key", DEFAULTS)
def test_each_value_can_be_typed_again_as_it_is_shown(key: str) -> None:
    row = DEFAULTS[key]
    if row.value in (None, (), {}) or key == "tui.keymap":
        return
    if words_of(row):
        assert row.shown in words_of(row)
    else:
        assert parsed(row, typed(row.value)) == (row.value, "")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("retrieval.top_k", " 12 ", 12),
        ("approval.quiet_seconds", "1.5", 1.5),
        ("notebooks.agents", "ripley, dallas", ("ripley", "dallas")),
        ("notebooks.agents", "", ()),
        ("model.name", "the-model", "the-model"),
    ],
)
def test_typed_text_becomes_the_value_meant(key: str, text: str, value: object) -> None:
    assert parsed(DEFAULTS[key], text) == (value, "")


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("retrieval.top_k", "21", "a whole number from 1 to 20"),
        ("retrieval.top_k", "many", '"many" does not fit'),
        ("approval.quiet_seconds", "0", "from 0.5 to 5"),
        ("notebooks.agents", "Ripley!", "lower-case words joined by hyphens"),
        ("model.name", "", "is empty"),
        ("model.base_url", "a\nb", "text on one line"),
    ],
)
def test_what_is_not_allowed_is_said_with_what_is(key: str, text: str, words: str) -> None:
    value, sentence = parsed(DEFAULTS[key], text)
    assert value is None
    assert sentence.startswith(f"{key}: ")
    assert words in sentence
    assert "\n" not in sentence


def test_a_row_says_where_its_value_came_from(tmp_path: Path) -> None:
    paths = paths_at(tmp_path)
    change(paths, "retrieval.top_k", 12)
    environ = {"MUNIMENT_MEMORY": "0"}
    found = {row.key: row for row in rows(load_settings(paths, environ))}
    kept, overruled, untouched = (found[f"retrieval.{each}"] for each in ("top_k", "enabled", "shadow"))
    assert kept.kept
    assert kept.place(str(paths.config_file)) == "line 2"
    assert overruled.overruled == "environment MUNIMENT_MEMORY"
    assert not overruled.kept
    assert untouched.origin == "default"
    assert untouched.overruled == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not set"),
        (True, "on"),
        (0.8, "0.8"),
        ((), "none"),
        (("a", "b"), "a, b"),
        ({}, "as they come"),
        ({"a": "b"}, "1 key changed"),
    ],
)
def test_values_are_said_in_words(value: object, words: str) -> None:
    assert shown(value) == words


def test_the_filter_goes_by_name_value_meaning_and_section() -> None:
    found = rows(Settings())

    def keys(words: str) -> list[str]:
        return [each.key for each in matching(found, words)]

    assert keys("top k") == ["retrieval.top_k"]
    assert "approval.quiet_seconds" in keys("dialog")
    assert keys("theme dark") == ["tui.theme"]
    assert keys("zebra") == []


def test_what_takes_effect_at_once_says_so() -> None:
    assert DEFAULTS["tui.theme"].when == "at once"
    assert DEFAULTS["retrieval.top_k"].when.startswith("with the next session")


def test_a_label_reads_as_words() -> None:
    row: Row = DEFAULTS["notebooks.summary.days"]
    assert row.label == "summary days"
