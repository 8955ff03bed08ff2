"""Case files: what is accepted, and that every fault is named with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.approval.policy import Mode
from muniment.evals.case import CaseFault, load_cases, shipped_cases
from muniment.evals.graders import GRADERS
from muniment.evals.shape import GRADERS as GRADER_SHAPE
from muniment.safety.errors import NotFound
from support.environment import REPOSITORY

SMALL = """\
name: small
description: A small case
turns:
  - say: Hello.
    replies: [{text: Hello.}]
expect:
  - final_text_contains: Hello
"""


def written(directory: Path, text: str, name: str = "case.yaml") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def faults(directory: Path, text: str) -> list[str]:
    with pytest.raises(CaseFault) as raised:
        load_cases(written(directory, text))
    return [each.sentence.partition("case.yaml:")[2] for each in raised.value.faults]


def test_a_case_is_read_with_everything_in_it(tmp_path: Path) -> None:
    (case,) = load_cases(
        written(
            tmp_path,
            SMALL.replace("turns:", "mode: bypass\nproject: false\ndirectory: sub/dir\nturns:").replace(
                "replies: [{text: Hello.}]",
                "replies: [{text: Hello., expect: one, forbid: [two, three], "
                "calls: [{tool: memory_list, arguments: {limit: 5, tag: '5'}}]}]",
            ),
        )
    )
    assert (case.name, case.mode, case.project, case.directory) == ("small", Mode.BYPASS, False, "sub/dir")
    (reply,) = case.turns[0].replies
    assert (reply.expect, reply.forbid) == (("one",), ("two", "three"))
    assert reply.calls[0].arguments == '{"limit": 5, "tag": "5"}'
    assert [(each.grader, each.value) for each in case.expect] == [("final_text_contains", ("Hello",))]


def test_arguments_given_as_text_are_sent_letter_for_letter(tmp_path: Path) -> None:
    raw = '{"a": 1, "a": 2'
    text = SMALL.replace("{text: Hello.}", f"{{calls: [{{tool: x, arguments: '{raw}'}}]}}")
    assert load_cases(written(tmp_path, text))[0].turns[0].replies[0].calls[0].arguments == raw


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("expect:", "expct:", r"6:1: expct: unknown key \(did you mean expect\?\); allowed: keys: name"),
        ("description: A small case\n", "", r"1:1: description: is required and missing"),
        ("name: small", "name: Small Case", r"1:7: name: .* lower-case words joined by hyphens"),
        ("final_text_contains", "final_text_contain", r"did you mean final_text_contains\?"),
        ("turns:", "mode: loose\nturns:", r"3:7: mode: .*allowed: manual, accept-edits, bypass"),
        ("turns:", "approve: maybe\nturns:", r"3:10: approve: .*allowed: allow, deny, none"),
        ("turns:", "approve: [allow, {answer: allow, shwos: x}]\nturns:", r"shwos: .*did you mean shows\?"),
        ("turns:", "files: {../x: y}\nturns:", r"3:9: files\.\.\./x: is no path inside"),
        ("turns:", "files: {/etc/x: y}\nturns:", r"is no path inside"),
        ("turns:", "live: true\nturns:", r"6:5: turns\[0\]\.replies: a live case has no replies"),
        ("    replies: [{text: Hello.}]\n", "", r"turns\[0\]\.replies: is required and missing"),
        ("say: Hello.", "say: Hello.\n    session: resume", r"5:14: .*no session before the first turn"),
        ("final_text_contains: Hello", "final_text_matches: '('", r"is no regular expression"),
        ("final_text_contains: Hello", "result_status: {tool: x, status: fine}", r"allowed: completed"),
        ("[{text: Hello.}]", "[{text: Hello.]", r"cannot be read"),
        ("name: small", "name: small\nname: small", r"2:1: .*cannot be read"),
    ],
    ids=lambda each: str(each)[:30],
)
def test_a_fault_is_named_with_its_place_and_a_way_out(
    tmp_path: Path, old: str, new: str, fault: str
) -> None:
    found = faults(tmp_path, SMALL.replace(old, new, 1))
    assert any(re.search(fault, each) for each in found), found


def test_all_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    written(tmp_path, SMALL.replace("name: small", "nam: small"), "a.yaml")
    written(tmp_path, SMALL.replace("expect:", "expects:"), "b.yaml")
    with pytest.raises(CaseFault) as raised:
        load_cases(tmp_path)
    assert {Path(each.file).name for each in raised.value.faults} == {"a.yaml", "b.yaml"}
    assert len(raised.value.faults) == 4


def test_two_cases_of_one_name_are_a_fault(tmp_path: Path) -> None:
    written(tmp_path, SMALL, "a.yaml")
    written(tmp_path, SMALL, "b.yaml")
    with pytest.raises(CaseFault, match=r"b\.yaml:1:1: name: a\.yaml has the name small too"):
        load_cases(tmp_path)


def test_a_directory_is_read_by_name_without_what_is_hidden_or_below(tmp_path: Path) -> None:
    for name in ("b", "a"):
        written(tmp_path, SMALL.replace("name: small", f"name: {name}"), f"{name}.yaml")
    written(tmp_path, "nonsense", ".hidden.yaml")
    written(tmp_path, "nonsense", "notes.txt")
    (tmp_path / "below").mkdir()
    written(tmp_path / "below", "nonsense")
    assert [each.name for each in load_cases(tmp_path)] == ["a", "b"]


def test_a_path_that_is_not_there_and_an_empty_directory_are_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no case file or directory"):
        load_cases(tmp_path / "missing")
    with pytest.raises(NotFound, match="no case in"):
        load_cases(tmp_path)


def user_entries(count: int) -> str:
    lines = "".join(f"    - {{name: e{at}, type: user, summary: s}}\n" for at in range(count))
    return SMALL.replace("turns:", f"memory:\n  user:\n{lines}turns:")


def test_32_entries_of_user_memory_are_accepted_and_the_33rd_is_a_fault(tmp_path: Path) -> None:
    assert len(load_cases(written(tmp_path, user_entries(32)))[0].memory["user"]) == 32
    assert faults(tmp_path, user_entries(33)) == ["5:5: memory.user: has more than 32 items"]


def test_every_grader_that_a_case_can_ask_for_exists() -> None:
    assert set(GRADERS) == set(GRADER_SHAPE.keys)


def test_the_shipped_cases_are_those_of_the_source_tree_and_all_of_them_are_valid() -> None:
    assert shipped_cases() == REPOSITORY / "recipes" / "evals"
    names = [each.name for each in load_cases(shipped_cases())]
    files = sorted(each.stem for each in shipped_cases().glob("*.yaml"))
    assert names == files
    assert len(names) >= 24


@given(st.text(max_size=300) | st.binary(max_size=300))
def test_whatever_stands_in_a_file_it_is_a_case_or_a_fault(
    tmp_path_factory: pytest.TempPathFactory, content: str | bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    with pytest.raises(CaseFault) as raised:
        load_cases(path)
    assert raised.value.faults
