"""Identifiers: the rule, how titles become ids, and that two titles never share one by accident."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.memory.records.ids import derive_id, free_id, is_valid_id
from muniment.memory.records.plans import DeleteRequest, InvalidRecord
from support.records import World, put, store

RULE = re.compile(r"^[a-z0-9][a-z0-9-]{0,63}\Z")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Review rule!", "review-rule"),
        ("Review: rule", "review-rule"),
        ("  Café résumé  ", "cafe-resume"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("ＡＢＣ 12", "abc-12"),
        ("Smørrebrød", "smorrebrod"),
        ("---a___b---", "a-b"),
        ("v2 中文", "v2"),
        ("x" * 200, "x" * 64),
        ("a" * 63 + " b", "a" * 63),
    ],
)
def test_an_id_is_the_words_of_the_title(title: str, expected: str) -> None:
    assert derive_id(title) == expected


def test_half_a_character_in_a_title_is_no_error() -> None:
    assert is_valid_id(derive_id("\ud800"))


def test_titles_without_latin_letters_get_different_stable_ids() -> None:
    titles = ["中文标题", "发布清单", "Правила проверки", "รายการตรวจ", "📌🧪"]
    ids = [derive_id(title) for title in titles]
    assert len(set(ids)) == 5
    assert all(is_valid_id(each) for each in ids)
    assert ids == [derive_id(title) for title in titles]


@pytest.mark.parametrize(
    "bad",
    [
        "../escape",
        "/etc/passwd",
        "rule.yaml",
        "Rule",
        "rule_1",
        "-rule",
        "rule/child",
        ".",
        "",
        "rülé",
        "rule\u200b1",
        "rule\n1",
        "rule\n",
        "a" * 65,
    ],
)
def test_an_id_outside_the_rule_is_refused_by_every_operation_before_the_disk_is_touched(
    bad: str, tmp_path: Path
) -> None:
    records = World(tmp_path).store()
    for operation in (
        lambda: store(records, "T", id=bad),
        lambda: records.get(bad),
        lambda: records.plan_delete(DeleteRequest(bad)),
    ):
        with pytest.raises(InvalidRecord) as refused:
            operation()
        assert str(refused.value).isascii()
        assert "64" in str(refused.value)
    assert not list(tmp_path.rglob("*.yaml"))


@pytest.mark.parametrize("good", ["a", "0", "con", "nul", "a--b", "a-", "a" * 64])
def test_an_id_within_the_rule_is_stored_under_exactly_that_name(good: str, tmp_path: Path) -> None:
    outcome = store(World(tmp_path).store(), "T", id=good)
    assert outcome.path.name == f"{good}.yaml"
    assert outcome.path.is_file()


def test_the_same_title_again_is_a_new_record_with_a_suffix(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    assert [store(records, "Use tabs").id for _ in range(3)] == ["use-tabs", "use-tabs-2", "use-tabs-3"]


def test_a_suffix_shortens_the_stem_to_stay_within_the_limit(tmp_path: Path) -> None:
    records = World(tmp_path).store()
    title = "y" * 200
    ids = [store(records, title + end).id for end in ("", "different after the cut")]
    assert ids == ["y" * 64, "y" * 62 + "-2"]


def test_a_name_taken_by_an_unreadable_file_in_any_scope_gives_a_suffix(tmp_path: Path) -> None:
    world = World(tmp_path)
    parent = world.directory("p", scope=True)
    child = world.directory("p/c", scope=True)
    put(parent / ".muniment", "plan", "broken: [")
    (world.global_dir / "memory").mkdir(parents=True)
    (world.global_dir / "memory" / "plan-2.yaml").mkdir()
    (child / ".muniment" / "memory" / "plan-3.yaml").symlink_to("nowhere")
    assert store(world.store(child), "Plan").id == "plan-4"


@given(st.text(max_size=120))
def test_any_title_gives_a_valid_id(title: str) -> None:
    assert RULE.match(derive_id(title))


@given(st.text(alphabet="ab-", min_size=1, max_size=70), st.integers(0, 30))
def test_a_free_id_is_valid_and_never_taken(title: str, count: int) -> None:
    taken: set[str] = set()
    for _ in range(count + 1):
        name = free_id(derive_id(title), taken.__contains__)
        assert RULE.match(name)
        assert name not in taken
        taken.add(name)
