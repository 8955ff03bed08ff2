"""Keys: every binding is known by its id, and a keymap that cannot be used is said in one sentence."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.safety.visible import reading
from muniment.session.holdings.items import KIND_WORDS, Item
from muniment.settings.bindings import AROUND, BINDINGS
from muniment.settings.keymap import group_of, is_key, usable
from muniment.tui.by_hand.door import verbs_of
from muniment.tui.keymap import keys_page, known_bindings
from muniment.tui.keynames import cell, key_name
from muniment.tui.widgets.key_bar import LAST, YIELDS, Entry, fit

SESSION = [
    Entry("F1", "Help", "app.help"),
    Entry("F2", "Memory", "session.memory"),
    Entry("F3", "Search", "session.search"),
    Entry("F4", "Review", "session.review"),
    Entry("F5", "Context", "session.context"),
    Entry("F6", "Sessions", "session.sessions"),
    Entry("F8", "Mode", "session.mode"),
    Entry("^Q", "Quit", "app.quit"),
    Entry("^P", "Commands", "app.commands"),
]


def test_every_binding_has_an_id_a_word_and_a_sentence() -> None:
    known = known_bindings()
    assert len(known) > 60
    assert [each.id for each in known if not (each.word and each.about and each.keys)] == []


def test_no_place_has_one_id_or_one_key_twice() -> None:
    known = known_bindings()
    ids = Counter((each.owner, each.id) for each in known)
    keys = Counter((each.owner, key.strip()) for each in known for key in each.keys.split(","))
    assert [each for each, count in ids.items() if count > 1] == []
    assert [each for each, count in keys.items() if count > 1] == []


def test_every_key_that_is_declared_is_a_key() -> None:
    assert [key for each in known_bindings() for key in each.keys.split(",") if not is_key(key.strip())] == []


@pytest.mark.parametrize("key", ["ctrl+f", "f7", "x", "slash", "alt+enter", "ctrl+shift+a", "+", "ß", "f24"])
def test_keys_are_known(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize("key", ["", "ctrl+foo", "hello", "ctrl+ctrl+a", "f25", "f0", " ", "crtl+a", "ctrl+"])
def test_what_is_no_key_is_known_as_well(key: str) -> None:
    assert not is_key(key)


def test_an_empty_keymap_is_fine() -> None:
    assert usable({}) == ({}, "")


def test_a_keymap_is_used_with_its_blanks_taken_out() -> None:
    assert usable({"session.search": "ctrl+f, f12"}) == ({"session.search": "ctrl+f,f12"}, "")


@pytest.mark.parametrize(
    ("keymap", "words"),
    [
        ({"session.serch": "f12"}, ["session.serch", "names no binding", "did you mean session.search?"]),
        ({"session.search": "ctrl+foo"}, ["session.search", "ctrl+foo", "no key"]),
        ({"session.search": "f2"}, ["session.search", "f2", "session.memory", "same place"]),
        ({"session.search": "f1"}, ["session.search", "f1", "app.help", "same place"]),
        ({"app.help": "f2"}, ["app.help", "f2", "session.memory", "same place"]),
        ({"memory.edit": "f3"}, ["memory.edit", "f3", "session.search", "same place"]),
        ({"code.copy": "f5"}, ["code.copy", "f5", "session.context", "same place"]),
        ({"reading.down": "t"}, ["reading.down", "t", "inspector.turn", "same place"]),
        ({"question.yes": "ctrl+q"}, ["question.yes", "ctrl+q", "app.quit", "same place"]),
        ({"memory.note": "/"}, ["memory.note", "slash", "memory.filter", "same place"]),
    ],
)
def test_one_bad_entry_is_one_sentence_and_the_rest_counts(keymap: dict[str, str], words: list[str]) -> None:
    good, fault = usable({**keymap, "composer.send": "ctrl+t"})
    assert good == {"composer.send": "ctrl+t"}
    assert fault.startswith("1 entry is ignored in tui.keymap: ")
    assert "\n" not in fault
    assert all(word in fault for word in words)


@pytest.mark.parametrize(
    "keymap",
    [
        # Places that are never seen together.
        {"question.yes": "f2"},
        {"memory.edit": "w", "settings.filter": "w"},
        {"guide.next": "r"},
        # What two places share by themselves is meant so, and stays.
        {"code.copy": "y,enter,c"},
        {"composer.stop": "ctrl+c,f12"},
    ],
)
def test_a_key_of_another_place_is_no_clash(keymap: dict[str, str]) -> None:
    assert usable(keymap) == (keymap, "")


def test_the_ids_that_settings_know_are_those_of_the_screen_with_the_keys_that_they_have() -> None:
    assert {each.id: each.keys for each in known_bindings()} == dict(BINDINGS)
    offered = {
        f"reader.{verb}": key
        for kind in KIND_WORDS
        for state in ("", "held", "retracted")
        for key, verb, _ in verbs_of(Item(kind, "an-id", "A title", "", state=state))
    }
    assert offered.items() <= BINDINGS.items()


def test_every_group_says_what_lies_around_it() -> None:
    groups = {group_of(id_) for id_ in BINDINGS}
    assert set(AROUND) == groups - {"app"}
    assert {each for around in AROUND.values() for each in around} <= groups | set(BINDINGS)


def test_two_bindings_may_change_keys_with_each_other() -> None:
    swapped = {"session.search": "f4", "session.review": "f3"}
    assert usable(swapped) == (swapped, "")


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=4))
def test_no_keymap_breaks_the_check_and_no_bad_character_reaches_the_sentence(keymap: dict[str, str]) -> None:
    good, fault = usable(keymap)
    assert set(good) <= set(keymap)
    assert bool(fault) == (len(good) < len(keymap))
    assert reading(fault) == fault
    assert "\n" not in fault


def test_the_page_of_keys_holds_every_id_and_the_users_own_keys() -> None:
    page = keys_page({"session.search": "ctrl+f"})
    assert page.startswith("# Keys\n")
    assert [each.id for each in known_bindings() if f"`{each.id}`" not in page] == []
    (row,) = [line for line in page.splitlines() if "`session.search`" in line]
    assert "`^F`" in row
    assert "F3" not in row


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("ctrl+p", "^P"),
        ("^p", "^P"),
        ("f1", "F1"),
        ("slash", "/"),
        ("escape", "Esc"),
        ("alt+enter", "Alt+Enter"),
        ("shift+tab", "Shift+Tab"),
        ("x", "x"),
        ("+", "+"),
    ],
)
def test_keys_are_written_as_people_write_them(key: str, written: str) -> None:
    assert key_name(key) == written


def test_no_key_ends_the_cell_of_a_table() -> None:
    assert cell(["|", "`"]) == "`\\|` `` ` ``"


# The key bar


def words(room: int) -> list[str]:
    return [f"{each.key} {each.word}" for each in fit(SESSION, room).entries]


def test_eighty_columns_show_every_key_that_a_session_needs() -> None:
    found = fit(SESSION, 78)
    assert [each.key for each in found.entries] == ["F1", "F2", "F3", "F4", "F5", "F6", "^P"]
    assert found.cut is None
    assert all(each.word for each in found.entries)


def test_a_wide_screen_shows_everything_in_full() -> None:
    assert fit(SESSION, 118).entries == tuple(SESSION)


def test_a_word_is_shortened_before_keys_run_into_each_other() -> None:
    whole = sum(each.width for each in SESSION if each.id not in YIELDS) + 2 * 6
    for room, gap, last in ((whole, 2, "Commands"), (whole - 1, 2, "Cmds"), (whole - 5, 2, "Cmds")):
        found = fit(SESSION, room)
        assert (found.gap, found.entries[-1].word, found.cut) == (gap, last, None)
    assert fit(SESSION, whole - 5).entries[-2].word == "Sess"


def test_a_narrow_screen_shortens_before_it_hides() -> None:
    assert words(60) == ["F1 Help", "F2 Mem", "F3 Find", "F4 Rev", "F5 Ctx", "F6 Sess", "^P Cmds"]


@pytest.mark.parametrize("room", range(0, 100, 7))
def test_the_line_never_grows_beyond_its_room(room: int) -> None:
    found = fit(SESSION, room)
    width = sum(each.width for each in found.entries) + found.gap * max(0, len(found.entries) - 1)
    width += 0 if found.cut is None else 2
    assert width <= max(room, 2)


def test_where_something_is_left_out_a_sign_says_so_and_help_stays() -> None:
    found = fit(SESSION, 38)
    assert found.cut is not None
    assert [each.id for each in found.entries if each.id in LAST] == ["app.help", "app.commands"]


@pytest.mark.parametrize(
    ("room", "keys"), [(10, "F1"), (20, "Esc F1"), (33, "Enter Esc F1"), (41, "Enter Esc F1 ^P")]
)
def test_the_way_out_of_a_place_is_not_what_gives_way(room: int, keys: str) -> None:
    place = [
        Entry("Enter", "Resume", "list.take"),
        Entry("Esc", "Back", "sessions.back"),
        Entry("/", "Filter", "sessions.filter"),
        Entry("d", "Delete", "sessions.delete"),
        Entry("F1", "Help", "app.help"),
        Entry("^P", "Commands", "app.commands"),
    ]
    found = fit(place, room)
    assert [each.key for each in found.entries] == keys.split()
    assert found.cut is not None
