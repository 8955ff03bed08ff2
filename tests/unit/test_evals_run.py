"""Running cases: what fails is told as failing, every grader notices, nothing of the user is touched."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from muniment.evals import place as places
from muniment.evals.case import Case, load_cases
from muniment.evals.report import pass_all, pass_at
from muniment.evals.runner import Run, run_case, run_cases
from muniment.paths import resolve_paths
from muniment.safety.errors import MunimentError
from support.app import project_at, write_record

HEAD = "name: made\ndescription: Made for a test\n"
STORE = """\
approve: allow
turns:
  - say: Keep it.
    replies:
      - calls: [{tool: memory_store, arguments: {title: Kept, content: All of it.}}]
      - text: It is kept.
"""


def made(directory: Path, text: str) -> Case:
    path = directory / "made.yaml"
    path.write_text(HEAD + text, encoding="utf-8")
    (case,) = load_cases(path)
    return case


async def ran(directory: Path, text: str) -> Run:
    return await run_case(made(directory, text), os.environ)


def tree(*tops: Path) -> Mapping[str, tuple[bytes, int]]:
    """Return every file below some directories with its bytes and time."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for top in tops
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


async def test_a_case_that_holds_passes_with_its_numbers(tmp_path: Path) -> None:
    run = await ran(tmp_path, STORE + "expect: [{final_text_contains: kept, proposals: 1, records: 1}]\n")
    assert run.passed, (run.faults, run.checks)
    assert (run.requests, run.calls, run.final_text) == (2, 1, "It is kept.")


WRONG = {
    "final_text_contains": "forgotten",
    "final_text_not_contains": "kept",
    "final_text_matches": "^kept",
    "tool_called": "memory_delete",
    "tool_not_called": "memory_store",
    "tool_order": "[memory_store, memory_store]",
    "result_status": "{tool: memory_store, status: denied}",
    "result_contains": "{tool: memory_store, text: nowhere}",
    "result_not_contains": "{tool: memory_store, text: kept}",
    "file_exists": "other.txt",
    "file_absent": ".muniment/memory/kept.yaml",
    "file_contains": "{path: .muniment/memory/kept.yaml, text: nowhere}",
    "file_not_contains": "{path: .muniment/memory/kept.yaml, text: All of it.}",
    "unchanged": ".muniment/memory/kept.yaml",
    "nothing_written": "true",
    "max_requests": "1",
    "max_tool_calls": "0",
    "request_contains": "nowhere",
    "request_not_contains": "Keep it.",
    "instructions_not_contain": "memory_store",
    "first_item": "assistant",
    "fences": "1",
    "proposals": "0",
    "shown": "1",
    "proposal_shows": "nowhere",
    "proposal_warns": "secret",
    "notice_contains": "nowhere",
    "turn_status": "failed",
    "log_not_contains": "All of it.",
    "record": "{id: kept, exists: false}",
    "records": "0",
    "user_entry": "{name: kept}",
    "inbox": "1",
}


def test_every_grader_is_proved_to_notice() -> None:
    from muniment.evals.graders import GRADERS

    assert set(WRONG) == set(GRADERS)


@pytest.mark.parametrize("grader", WRONG)
async def test_a_grader_that_does_not_hold_fails_the_run_and_says_why(tmp_path: Path, grader: str) -> None:
    run = await ran(tmp_path, STORE + f"expect: [{{{grader}: {WRONG[grader]}}}]\n")
    assert run.faults == ()
    (check,) = run.checks
    assert (check.grader, check.passed) == (grader, False)
    assert check.detail
    assert not run.passed


async def test_a_reply_that_was_not_asked_for_as_expected_is_a_fault(tmp_path: Path) -> None:
    text = STORE.replace("- text: It", "- expect: never said\n        text: It")
    run = await ran(tmp_path, text + "expect: [{records: 1}]\n")
    assert run.faults == ("request 2 lacks the expected text 'never said'",)
    assert not run.passed


async def test_replies_left_over_and_requests_beyond_the_script_are_faults(tmp_path: Path) -> None:
    more = await ran(tmp_path, STORE + "      - text: Never.\nexpect: [{records: 1}]\n")
    assert more.faults == ("turn 1 left 1 of its replies unasked for",)
    fewer = await ran(tmp_path, STORE.replace("      - text: It is kept.\n", "") + "expect: [{records: 1}]\n")
    assert "request 2 is not in the script" in fewer.faults[0]


async def test_a_proposal_that_is_not_as_the_case_says_is_denied_and_a_fault(tmp_path: Path) -> None:
    for answer, fault in (
        ("{answer: allow, shows: elsewhere}", "proposal 1 does not show 'elsewhere'"),
        ("{answer: allow, warns: secret}", "proposal 1 has no warning secret"),
        (
            "{answer: allow, tool: memory_delete}",
            "proposal 1 comes from memory_store, not from memory_delete",
        ),
    ):
        text = STORE.replace("approve: allow", f"approve: [{answer}]")
        run = await ran(tmp_path, text + "expect: [{records: 0}]\n")
        assert run.faults == (fault,)
        assert all(each.passed for each in run.checks)


async def test_answers_that_nobody_asked_for_and_questions_without_answer_are_faults(tmp_path: Path) -> None:
    run = await ran(tmp_path, STORE.replace("allow", "[allow, allow]", 1) + "expect: [{records: 1}]\n")
    assert run.faults == ("1 of 2 answers were asked for",)
    run = await ran(tmp_path, STORE.replace("approve: allow", "approve: []") + "expect: [{records: 0}]\n")
    assert run.faults == ("proposal 1 (memory_store) has no answer in the script",)


async def test_a_recipe_or_seed_that_cannot_be_used_is_a_fault_of_the_run(tmp_path: Path) -> None:
    run = await ran(tmp_path, "recipe: no-such-recipe\n" + STORE + "expect: [{records: 1}]\n")
    assert "There is no recipe no-such-recipe" in run.faults[0]
    seed = "memory: {user: [{name: Bad Name, type: user, summary: s}]}\n"
    assert not (await ran(tmp_path, seed + STORE + "expect: [{records: 1}]\n")).passed


async def test_an_engine_that_asks_nobody_makes_cases_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases guard the behaviour: they fail as soon as the policy lets memory be written unasked."""
    from muniment.approval.policy import Verdict
    from muniment.evals.case import shipped_cases
    from muniment.session import calls

    monkeypatch.setattr(calls, "decide", lambda *args, **options: Verdict("allow", "broken", shown=True))
    cases = {each.name: each for each in load_cases(shipped_cases())}
    for name in (
        "save-is-denied",
        "nobody-to-ask",
        "protected-files-stay-closed",
        "once-means-once",
        "accept-edits-still-asks-for-memory",
        "a-recipe-can-ask-before-reading",
    ):
        assert not (await run_case(cases[name], os.environ)).passed, name


async def test_a_fence_that_can_be_closed_makes_a_case_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    from muniment.evals.case import shipped_cases
    from muniment.session.request import blocks

    # What is broken here on purpose is the product, so that the case is seen to notice it.
    monkeypatch.setattr(
        blocks, "fence", lambda source, body: f"<UNTRUSTED-INPUT source=''>\n{body}\n</UNTRUSTED-INPUT>"
    )
    monkeypatch.setattr(blocks, "fenced_body", lambda body, max_bytes: body)
    cases = {each.name: each for each in load_cases(shipped_cases())}
    run = await run_case(cases["hostile-titles-stay-titles"], os.environ)
    assert [each.grader for each in run.checks if not each.passed] == ["fences"]


async def test_nothing_of_the_users_memory_is_read_or_touched(tmp_path: Path, user: Path) -> None:
    paths = resolve_paths()
    write_record(paths.data, "mine", "Mine and nobody else's", "Private.")
    paths.user_memory.mkdir(parents=True)
    (paths.user_memory / "own.md").write_text("---\nname: own\ntype: user\nsummary: My own secret\n---\n")
    paths.config.mkdir(parents=True)
    paths.config_file.write_text(
        "model: {provider: openai, name: never-asked, base_url: http://127.0.0.1:9}\n"
    )
    project = project_at(tmp_path / "project")
    write_record(project / ".muniment", "ours", "Ours in this project", "Private.")
    before = tree(user, tmp_path / "project")
    text = STORE.replace(
        "replies:\n",
        "replies:\n      - {calls: [{tool: memory_list}], forbid: [mine, My own secret, ours]}\n",
    )
    case = made(
        project,
        text + "expect:\n  - records: 1\n    result_not_contains: {tool: memory_list, text: [mine, ours]}\n",
    )
    run = await run_case(case, os.environ)
    assert run.passed, (run.faults, run.checks)
    after = dict(tree(user, tmp_path / "project"))
    del after[str(case.path)]
    assert after == before


async def test_the_places_of_runs_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    await ran(tmp_path, STORE + "expect: [{records: 1}]\n")
    await ran(tmp_path, "recipe: no-such-recipe\n" + STORE + "expect: [{records: 1}]\n")
    assert list((tmp_path / "temp").iterdir()) == []


def test_what_a_killed_run_left_goes_after_a_day_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temp = tmp_path / "temp"
    outside = tmp_path / "outside"
    for each in (temp, outside):
        each.mkdir()
    (outside / "keep").write_text("mine")
    monkeypatch.setattr("tempfile.tempdir", str(temp))
    names = ("0ld_left", "young_01", "my-results", "link_one")
    old, young, other, link = (temp / f"muniment-eval-{name}" for name in names)
    for each in (old, young, other):
        (each / "project").mkdir(parents=True)
        (each / "way out").symlink_to(outside)
    link.symlink_to(outside)
    for each in temp.iterdir():
        os.utime(each, (1, 1) if each != young else None, follow_symlinks=False)
    with places.temporary_place():
        assert not old.exists()
        assert young.exists()
        assert link.is_symlink()
        assert other.exists()
    assert (outside / "keep").read_text() == "mine"


async def test_a_temporary_directory_inside_a_project_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the memory of that project would take part in every run."""
    project = project_at(tmp_path / "project")
    (project / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(project / "temp"))
    with places.temporary_place() as place:
        assert not place.root.is_relative_to(project)
    # Where no directory outside every project can be written, there is none to use.
    monkeypatch.setattr(os, "access", lambda path, how: Path(path).is_relative_to(project))
    with pytest.raises(MunimentError, match="set TMPDIR"), places.temporary_place():
        pass


async def test_a_switch_of_the_users_environment_does_not_reach_a_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_NO_MEMORY_INJECT", "1")
    seed = "memory: {records: [{id: listed, title: Listed, content: x}]}\n"
    run = await ran(tmp_path, seed + STORE + "expect: [{request_contains: '- listed:'}]\n")
    assert run.passed, run.checks


async def test_runs_repeat_a_case_each_in_a_place_of_its_own(tmp_path: Path) -> None:
    case = made(tmp_path, STORE + "expect: [{records: 1}]\n")
    (result,) = await run_cases([case], os.environ, runs=3)
    assert (result.status, result.passes, [each.number for each in result.runs]) == ("passed", 3, [1, 2, 3])


def test_pass_at_k_and_pass_hat_k_are_those_of_drawing_without_putting_back() -> None:
    assert [pass_at(k, 1, 3) for k in (1, 2, 3)] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert [pass_all(k, 2, 3) for k in (1, 2, 3)] == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert (pass_at(3, 0, 3), pass_all(3, 3, 3)) == (0.0, 1.0)


@pytest.mark.parametrize("later", range(8))
async def test_a_stop_that_comes_as_a_turn_ends_still_stops_the_whole(tmp_path: Path, later: int) -> None:
    """`later` steps of the event loop lie between the end of the turn and the stop."""
    case = made(
        tmp_path, "turns:\n  - say: Hello.\n    replies:\n      - text: Hello.\nexpect: [{records: 0}]\n"
    )
    loop = asyncio.get_running_loop()
    begun: list[int] = []
    cases = asyncio.ensure_future(
        run_cases([case], os.environ, runs=3, progress=lambda _case, number, _runs: begun.append(number))
    )

    begun_by_then: list[int] = []

    def stop(steps: int) -> None:
        if steps:
            loop.call_soon(stop, steps - 1)
        else:
            begun_by_then.extend(begun)
            cases.cancel()

    def turns() -> list[asyncio.Task[object]]:
        return [each for each in asyncio.all_tasks() if "Conductor.run" in repr(each.get_coro())]

    while not (found := turns()):  # noqa: ASYNC110 - a turn is shorter than any pause
        await asyncio.sleep(0)
    found[0].add_done_callback(lambda _: stop(later))
    with pytest.raises(asyncio.CancelledError):
        await cases
    # Some steps behind the first turn the second run may have begun; behind the stop none does.
    assert begun == begun_by_then
    assert begun[-1] < 3
