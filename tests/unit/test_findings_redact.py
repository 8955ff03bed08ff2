"""What leaves the house goes without secrets, and everything else goes unchanged."""

from __future__ import annotations

import copy
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.safety.redact import MARK, redact, redact_value, without_key

JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV"
TOKEN = "a1B2c3D4" * 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Authorization: Bearer {TOKEN}", f"Authorization: Bearer {MARK}"),
        (f"authorization: bearer {TOKEN}", f"authorization: bearer {MARK}"),
        (f"Bearer {JWT}", f"Bearer {MARK}"),
        (f"see {JWT} there", f"see {MARK} there"),
        (f"see {JWT.rsplit('.', 1)[0]} there", f"see {MARK} there"),
        (f'{{"token":"{TOKEN}","expiresOn":"2026-10-25"}}', f'{{"token":"{MARK}","expiresOn":"2026-10-25"}}'),
        (f'"token":"{TOKEN}" "token": "{TOKEN}"', f'"token":"{MARK}" "token": "{MARK}"'),
        ("get https://x.example/a?sig=abc123.", f"get {MARK}."),
        ("get https://user:pw@x.example/a, then", f"get {MARK}, then"),
        ("https://x.example/?page=2&access_token=zzz", MARK),
        ("sk-" + "abc123def456ghi789jkl", MARK),
        ("ghp_" + TOKEN, MARK),
        ("AKIA" + "IOSFODNN7EXAMPLE", MARK),
        ("password=hunter2 next", f"password={MARK} next"),
        ("export API_KEY='abc123'", f"export API_KEY='{MARK}'"),
        (
            "a -----BEGIN " + "PRIVATE KEY-----\nMIIB\nxyz\n-----END PRIVATE KEY----- b",
            f"a {MARK} b",
        ),
    ],
)
def test_each_format_is_replaced_and_its_surroundings_stay(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bearer short",
        "eyelid_animation.controller_state",
        "eyelid_animation_long.controller_state_long.and_more_of_it",
        "https://example.test/path?page=2#top",
        "ssh://git@example.test/x",
        "the password is kept in the vault; the token budget is small",
        "plain text with numbers 1234567890 and sha256:" + "ab" * 32,
        '{"token":"short","name":"x"}',
    ],
)
def test_clean_text_is_unchanged(text: str) -> None:
    assert redact(text) == text


def test_redaction_twice_is_redaction_once() -> None:
    text = f"Bearer {JWT} password=hunter2 https://x.example/?token=abc. " + "ghp_" + TOKEN
    assert redact(redact(text)) == redact(text)


def test_nested_values_are_covered_and_the_input_is_left_alone() -> None:
    value = {
        "a": [f"Bearer {TOKEN}", None, 3, True, {"token": TOKEN, "n": 1.5}],
        "b": ("x", ""),
        "token": "short",
    }
    before = copy.deepcopy(value)
    assert redact_value(value) == {
        "a": [f"Bearer {MARK}", None, 3, True, {"token": MARK, "n": 1.5}],
        "b": ["x", ""],
        "token": "short",
    }
    assert value == before
    assert [redact_value(each) for each in (None, 1, False, "")] == [None, 1, False, ""]


def test_a_known_key_goes_wherever_it_stands() -> None:
    assert redact("error: my-odd-key was refused", secrets=["my-odd-key"]) == f"error: {MARK} was refused"
    assert redact_value({"x": ["my-odd-key"]}, secrets=["my-odd-key"]) == {"x": [MARK]}


@given(st.from_regex(r"\A[A-Za-z0-9_-]{8,40}\Z"), st.text(max_size=60), st.text(max_size=60))
def test_no_text_around_a_key_keeps_it_from_being_taken_out(key: str, before: str, after: str) -> None:
    assert key not in without_key(f"{before}{key}{after}{key}", key)


def test_a_key_is_taken_out_in_every_writing_and_a_short_one_as_a_word_only() -> None:
    key = 'k"y&é/0123'
    echoes = [key, json.dumps(key)[1:-1], quote(key, safe=""), html.escape(key)]
    assert [without_key(f"<{echo}>", key) for echo in echoes] == ["<[key]>"] * 4
    assert without_key("abc is wrong, abcdef is not", "abc") == "[key] is wrong, abcdef is not"
    assert without_key("nothing to take out", None) == "nothing to take out"
