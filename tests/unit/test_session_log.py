"""The log: what is on disk when, what a torn or damaged file does, and who may write."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.model.base import AssistantItem, ToolCall, UserItem
from muniment.safety.errors import InvalidInput, NotFound
from muniment.session.logs.history import History
from muniment.session.logs.line import (
    FILE_MAX_BYTES,
    KINDS,
    RECORD_MAX_BYTES,
    LineFault,
    LogRecord,
    decode,
    encode,
)
from muniment.session.logs.log import SessionBusy, SessionDamaged, SessionLog
from muniment.session.trace import key_scrubber
from support.session import Place, full_disk

TURN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def create(place: Place, **more: Any) -> SessionLog:
    return SessionLog.create(
        place.paths, cwd=place.project, recipe={"name": "assistant"}, provider="p", model="m", **more
    )


def one_turn(log: SessionLog, number: int = 1, text: str = "hello", reply: str = "there") -> None:
    turn = f"{number:032x}"
    log.append("user_message", turn, text=text)
    log.append("model_response", turn, text=reply, calls=[], status="stop", usage={})
    log.append("turn_end", turn, status="completed")


def saved(place: Place, turns: int = 1) -> tuple[str, Path]:
    log = create(place)
    for number in range(1, turns + 1):
        one_turn(log, number)
    log.close()
    return log.id, log.path


def damage(path: Path, line: int, **fields: Any) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[line - 1] = json.dumps({**json.loads(lines[line - 1]), **fields}).encode()
    path.write_bytes(b"\n".join(lines))


def test_nothing_is_on_disk_before_the_first_message(place: Place) -> None:
    log = create(place)
    assert not log.path.exists()
    one_turn(log)
    assert [json.loads(line)["seq"] for line in log.path.read_bytes().splitlines()] == [1, 2, 3, 4]


@pytest.mark.parametrize("mask", [0o022, 0o000, 0o077])
def test_private_modes_whatever_the_umask(place: Place, mask: int) -> None:
    before = os.umask(mask)
    try:
        _, path = saved(place)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for each in path.parent.rglob("*"):
        assert stat.S_IMODE(each.stat().st_mode) in (0o600, 0o700)


def test_a_second_opener_is_refused_until_the_first_has_closed(place: Place) -> None:
    session, path = saved(place)
    first = SessionLog.open(place.paths, session)
    code = (
        "import sys; from pathlib import Path; from muniment.paths import Paths; "
        "from muniment.session.logs.log import SessionLog, SessionBusy\n"
        "root = Path(sys.argv[1])\n"
        "paths = Paths(*(root / n for n in ('config', 'data', 'state', 'cache')))\n"
        "try: SessionLog.open(paths, sys.argv[2])\n"
        "except SessionBusy as busy: print(busy)\n"
    )
    before = path.read_bytes()
    other = subprocess.run(
        [sys.executable, "-c", code, str(place.root), session],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "open in another process" in other.stdout
    assert path.read_bytes() == before
    with pytest.raises(SessionBusy):
        SessionLog.open(place.paths, session)
    first.close()
    SessionLog.open(place.paths, session).close()


@pytest.mark.parametrize("bad", ["abc", "A" * 32, "../" + "a" * 29, "a" * 31, "a" * 33, "a" * 32 + "\n", ""])
def test_only_a_full_id_names_a_session(place: Place, bad: str) -> None:
    with pytest.raises(InvalidInput):
        SessionLog.open(place.paths, bad)


def test_an_unknown_session_is_not_found(place: Place) -> None:
    with pytest.raises(NotFound):
        SessionLog.open(place.paths, "a" * 32)


TAILS = {
    "half": b'{"v":1,"seq":5,"te',
    "half character": '{"v":1,"text":"ü'.encode()[:-1],
    "nulls": b"\0" * 512,
    "half then blank": b'{"v":1,"seq":5,"te\n\n',
    "wrong version": b'{"v":2,"seq":5,"turn_id":"","kind":"title","time":"","text":"x"}\n',
    "an extra field": b'{"v":1,"seq":5,"turn_id":"","kind":"title","time":"","text":"x","more":1}\n',
    "a gap": b'{"v":1,"seq":6,"turn_id":"","kind":"title","time":"","text":"x"}',
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS.keys())
def test_a_torn_end_is_set_aside_and_the_log_goes_on(place: Place, tail: bytes) -> None:
    session, path = saved(place)
    good = path.read_bytes()
    path.write_bytes(good + tail)
    log = SessionLog.open(place.paths, session)
    assert path.read_bytes() == good
    (backup,) = path.parent.glob("*.torn-*")
    assert backup.read_bytes() == good + tail
    assert len(log.notices) == 1
    assert str(backup) in log.notices[0]
    one_turn(log, 2, "after")
    log.close()
    again = SessionLog.open(place.paths, session)
    assert again.notices == []
    assert [item.text for item in again.history.items() if isinstance(item, UserItem)] == ["hello", "after"]
    again.close()


@pytest.mark.parametrize("end", [b"", b"\r"])
def test_a_whole_last_record_without_its_line_feed_counts(place: Place, end: bytes) -> None:
    session, path = saved(place)
    path.write_bytes(path.read_bytes()[:-1] + end)
    log = SessionLog.open(place.paths, session)
    assert log.notices == []
    one_turn(log, 2, "after")
    log.close()
    again = SessionLog.open(place.paths, session)
    assert len(again.replay()) == 7
    again.close()


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"\xff\xfe", b'{"v":1,"seq":3}', b"", b"null", b"[" * 100_000],
)
def test_a_bad_line_in_the_middle_is_refused_by_its_number(place: Place, line: bytes) -> None:
    session, path = saved(place)
    lines = path.read_bytes().split(b"\n")
    lines[2] = line
    path.write_bytes(b"\n".join(lines))
    before = path.read_bytes()
    with pytest.raises(SessionDamaged, match="line 3"):
        SessionLog.open(place.paths, session)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.torn-*"))


@pytest.mark.parametrize(
    "fields",
    [
        {"v": 2},
        {"v": True},
        {"seq": 4},
        {"kind": "approved"},
        {"kind": 5},
        {"extra": 1},
        {"status": "done"},
        {"calls": {}},
        {"text": None},
        {"calls": [{"id": "a"}]},
        {"calls": [{"id": "a", "name": "b", "arguments": {}}]},
        {"turn_id": TURN},
    ],
)
def test_unknown_versions_fields_and_orders_are_refused(place: Place, fields: dict[str, Any]) -> None:
    session, path = saved(place)
    damage(path, 3, **fields)
    with pytest.raises(SessionDamaged, match="line 3"):
        SessionLog.open(place.paths, session)


def test_a_link_in_place_of_a_log_is_not_followed(place: Place) -> None:
    session, path = saved(place)
    other = place.root / "elsewhere"
    path.rename(other)
    path.symlink_to(other)
    with pytest.raises(Exception, match="symbolic link"):
        SessionLog.open(place.paths, session)


WEIRD = ["a\u2028b", "c\x85d", "e\x0bf", "half \ud83d end", "nul \0 end", "\r\n\x1c\x1d\x1e", "\\u2028"]


def test_unusual_code_points_survive(place: Place) -> None:
    log = create(place)
    for number, text in enumerate(WEIRD, 1):
        one_turn(log, number, text)
    log.close()
    again = SessionLog.open(place.paths, log.id)
    said = [item.text for item in again.history.items() if isinstance(item, UserItem)]
    assert said == [text.replace("\ud83d", "\ufffd") for text in WEIRD]
    assert len(again.replay()) == 1 + 3 * len(WEIRD)
    again.close()


@settings(max_examples=200)
@given(st.text(), st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3))
def test_any_text_is_one_line_and_comes_back(text: str, result: dict[str, str]) -> None:
    fields = {
        "call_id": "c",
        "name": "n",
        "status": "completed",
        "text": text,
        "result": result,
        "changed": False,
    }
    record = LogRecord(7, TURN, "tool_result", "2026-01-01T00:00:00Z", fields)
    line = encode(record)
    assert line.count(b"\n") == 1
    assert decode(line[:-1], 7) == record


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_crash(data: bytes) -> None:
    with pytest.raises(LineFault):
        decode(data, 1)


def test_a_half_written_record_is_completed_once_there_is_room(place: Place) -> None:
    log = create(place)
    one_turn(log)
    before = log.path.read_bytes()
    with full_disk(len(before) + 40):
        assert log.append("user_message", f"{2:032x}", text="lost?") is False
        assert log.fault is not None
        assert (
            log.append("model_response", f"{2:032x}", text="no", calls=[], status="stop", usage={}) is False
        )
        assert log.path.read_bytes() == before
        assert len(log.replay()) == 6
    assert log.append("turn_end", f"{2:032x}", status="completed") is True
    assert log.fault is None
    log.close()
    again = SessionLog.open(place.paths, log.id)
    assert [record.seq for record in again.replay()] == list(range(1, 8))
    assert [item.text for item in again.history.items() if isinstance(item, UserItem)] == ["hello", "lost?"]
    again.close()


def test_a_log_that_was_removed_is_said_and_not_begun_in_the_middle(place: Place) -> None:
    log = create(place)
    one_turn(log)
    log.path.unlink()
    assert log.append("user_message", TURN, text="x") is False
    assert log.fault is not None
    assert "removed" in log.fault
    assert not log.path.exists()


def test_a_record_over_its_limit_is_refused_and_changes_nothing(place: Place) -> None:
    log = create(place)
    with pytest.raises(InvalidInput):
        log.append("user_message", TURN, text="x" * (16 * 1024 * 1024))
    assert log.history.active is None
    one_turn(log)
    assert len(log.replay()) == 4


def test_a_log_over_its_limit_is_refused_before_it_is_read(place: Place) -> None:
    session, path = saved(place)
    with path.open("r+b") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    with pytest.raises(Exception, match="larger than"):
        SessionLog.open(place.paths, session)


def test_the_key_never_reaches_the_log(place: Place) -> None:
    key = 'sk-very"secret\\key-0123'
    log = create(place, scrub=key_scrubber(f' "{key}" '))
    one_turn(log, 1, f"my key is {key}", json.dumps({"key": key}))
    data = log.path.read_bytes()
    assert key.encode() not in data
    assert json.dumps(key)[1:-1].encode() not in data
    assert b"[key]" in data
    assert len(log.replay()) == 4


def test_clear_drops_the_conversation_and_keeps_the_session(place: Place) -> None:
    log = create(place)
    one_turn(log, 1, "the old words")
    log.clear()
    assert b"old words" not in log.path.read_bytes()
    assert log.history.items() == ()
    one_turn(log, 2, "new")
    log.close()
    again = SessionLog.open(place.paths, log.id)
    assert again.history.header["recipe"] == {"name": "assistant"}
    assert again.history.items() == (UserItem("new"), AssistantItem("there"))
    again.close()


def started(place: Place, *, start: bool) -> str:
    log = create(place)
    calls = [{"id": "a", "name": "keep", "arguments": "{}"}, {"id": "b", "name": "look", "arguments": "{}"}]
    log.append("user_message", TURN, text="go")
    log.append("model_response", TURN, text="", calls=calls, status="tool_calls", usage={})
    if start:
        log.append("tool_start", TURN, call_id="a", name="keep", arguments="{}")
    log.close()
    return log.id


def test_a_call_that_had_started_is_unknown_until_acknowledged(place: Place) -> None:
    session = started(place, start=True)
    for _ in range(2):
        log = SessionLog.open(place.paths, session)
        assert log.history.unknown == {"a": "keep"}
        results = {
            record["call_id"]: record["status"] for record in log.replay() if record.kind == "tool_result"
        }
        assert results == {"a": "unknown", "b": "not_executed"}
        assert log.history.active is None
        log.close()
    log = SessionLog.open(place.paths, session)
    log.append("recovery_ack", call_ids=["a"])
    log.close()
    again = SessionLog.open(place.paths, session)
    assert again.history.unknown == {}
    assert again.notices == []
    again.close()


def test_a_call_that_had_not_started_is_not_unknown(place: Place) -> None:
    log = SessionLog.open(place.paths, started(place, start=False))
    assert log.history.unknown == {}
    assert [record["status"] for record in log.replay() if record.kind == "tool_result"] == [
        "not_executed"
    ] * 2
    log.close()


COMPACTIONS = {
    "zero": 0,
    "in the middle of a turn": 3,
    "in the future": 99,
}


@pytest.mark.parametrize("covered", COMPACTIONS.values(), ids=COMPACTIONS.keys())
def test_a_summary_must_end_at_a_whole_turn(place: Place, covered: int) -> None:
    log = create(place)
    one_turn(log, 1)
    one_turn(log, 2)
    before = log.path.read_bytes()
    with pytest.raises(LineFault):
        log.append("context_compaction", text="sum", covered_seq=covered)
    assert log.path.read_bytes() == before
    assert log.history.summary is None
    assert log.append("context_compaction", text="sum", covered_seq=4) is True
    with pytest.raises(LineFault):
        log.append("context_compaction", text="again", covered_seq=4)
    assert log.history.summary == "sum"
    assert log.history.items() == (UserItem("hello"), AssistantItem("there"))


def test_a_summary_cannot_hide_an_unknown_outcome(place: Place) -> None:
    session = started(place, start=True)
    log = SessionLog.open(place.paths, session)
    end = log.replay()[-1].seq
    with pytest.raises(LineFault):
        log.append("context_compaction", text="all went well", covered_seq=end)
    log.append("recovery_ack", call_ids=["a"])
    assert log.append("context_compaction", text="unknown outcome", covered_seq=end) is True
    log.close()


def test_every_kind_says_its_fields_exactly() -> None:
    for kind, fields in KINDS.items():
        assert fields, kind
        value = {"v": 1, "seq": 1, "turn_id": "", "kind": kind, "time": ""}
        with pytest.raises(LineFault, match="lacks"):
            decode(json.dumps(value).encode(), 1)


GOOD = {"v": 1, "seq": 1, "turn_id": "", "kind": "turn_end", "time": "", "status": "completed"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"v": 2}, "version"),
        ({"v": True}, "version"),
        ({"kind": ["turn_end"]}, "kind is unknown"),
        ({"kind": "other"}, "kind is unknown"),
        ({"status": "done"}, "status is unknown"),
        ({"status": 1}, "status has the wrong type"),
        ({"seq": True}, "seq has the wrong type"),
        ({"seq": 2}, "number is 2 where 1 is due"),
        ({"more": 1}, "unknown field more"),
    ],
)
def test_a_line_that_is_not_exactly_a_record_is_refused(change: dict[str, object], reason: str) -> None:
    assert decode(json.dumps(GOOD).encode(), 1).kind == "turn_end"
    with pytest.raises(LineFault, match=reason):
        decode(json.dumps(GOOD | change).encode(), 1)


def test_a_line_may_be_as_large_as_the_limit_and_no_larger() -> None:
    line = json.dumps(GOOD).encode()
    assert decode(line.ljust(RECORD_MAX_BYTES), 1).kind == "turn_end"
    with pytest.raises(LineFault, match="larger"):
        decode(line.ljust(RECORD_MAX_BYTES + 1), 1)


def test_ids_are_made_unique_only_where_they_must_be() -> None:
    calls = History().unique_calls(tuple(ToolCall(each, "t", "{}") for each in ("a", "a", "", "call_2", "é")))
    assert [each.id for each in calls] == ["a", "a_2", "call_1", "call_2", "call_3"]


@pytest.mark.parametrize("over", [0, 1])
def test_a_log_may_grow_to_its_limit_and_no_further(place: Place, over: int) -> None:
    log = create(place)
    one_turn(log)
    left = FILE_MAX_BYTES - log.path.stat().st_size
    while left > RECORD_MAX_BYTES:
        assert log.append("title", text="x" * 16_000_000)
        title = left - (left := FILE_MAX_BYTES - log.path.stat().st_size) - 16_000_000
    assert log.append("title", text="x" * (left - title + over)) is (over == 0)
    assert log.path.stat().st_size == FILE_MAX_BYTES - (left if over else 0)
    assert (log.fault is None) is (over == 0)
    log.close()
    SessionLog.open(place.paths, log.id).close()
