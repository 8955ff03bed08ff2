"""Who may do what: the whole table, in every mode."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from muniment.approval.policy import Effect, Mode, decide, matches, protected_component

READ = ("allow", False)
RUN_SHOWN = ("allow", True)
ASK = ("ask", False)

TABLE = [
    ("memory_retrieve", Effect.READ, READ, READ, READ),
    ("memory_list", Effect.READ, READ, READ, READ),
    ("memory_search", Effect.READ, READ, READ, READ),
    ("memory_stats", Effect.READ, READ, READ, READ),
    ("memory_view", Effect.READ, READ, READ, READ),
    ("read_file", Effect.READ, READ, READ, READ),
    ("note_add", Effect.QUEUE, RUN_SHOWN, RUN_SHOWN, RUN_SHOWN),
    ("task_report", Effect.QUEUE, RUN_SHOWN, RUN_SHOWN, RUN_SHOWN),
    ("memory_store", Effect.MEMORY, ASK, ASK, RUN_SHOWN),
    ("memory_delete", Effect.MEMORY, ASK, ASK, RUN_SHOWN),
    ("memory_save", Effect.MEMORY, ASK, ASK, RUN_SHOWN),
    ("write_file", Effect.FILE, ASK, RUN_SHOWN, RUN_SHOWN),
    ("edit_file", Effect.FILE, ASK, RUN_SHOWN, RUN_SHOWN),
]
CASES = [
    (tool, effect, mode, expected)
    for tool, effect, *columns in TABLE
    for mode, expected in zip(Mode, columns, strict=True)
]


@pytest.mark.parametrize(("tool", "effect", "mode", "expected"), CASES)
def test_every_tool_in_every_mode(tool: str, effect: Effect, mode: Mode, expected: tuple[str, bool]) -> None:
    verdict = decide(tool, effect, mode)
    assert (verdict.outcome, verdict.shown) == expected


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "a/.ENV.local",
        "x/.git/config",
        "k.PEM",
        "deep/id_ed25519.pub",
        ".ssh/known_hosts",
        "a/.Muniment/memory/r.yaml",
        ".npmrc",
        "certs/site.p12",
    ],
)
def test_protected_targets_are_denied_in_every_mode(path: str, effect: Effect, mode: Mode) -> None:
    verdict = decide("read_file", effect, mode, targets=[PurePath("src/ok.py"), PurePath(path)])
    assert verdict.outcome == "deny"


@pytest.mark.parametrize(
    "path", ["environment.py", "a.env.txt", "key.md", "gitignore", "ssh/config", "monkey"]
)
def test_names_that_only_resemble_protected_ones_are_not(path: str) -> None:
    assert protected_component(PurePath(path)) is None


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("effect", list(Effect))
def test_a_recipe_can_only_make_a_call_ask(effect: Effect, mode: Mode) -> None:
    assert decide("memory_retrieve", effect, mode, approve=["memory_*"]).outcome == "ask"
    plain = decide("memory_retrieve", effect, mode)
    assert decide("memory_retrieve", effect, mode, approve=["note_add"]) == plain


def test_a_recipe_cannot_lift_a_denial() -> None:
    verdict = decide("read_file", Effect.READ, Mode.BYPASS, targets=[PurePath(".env")], approve=["*"])
    assert verdict.outcome == "deny"


def test_patterns_are_case_sensitive_and_whole() -> None:
    assert matches("memory_store", ["memory_*"])
    assert not matches("memory_store", ["Memory_*", "store", "memory"])


def test_only_going_up_loosens() -> None:
    loosening = {(old, new) for old in Mode for new in Mode if new.loosens(old)}
    assert loosening == {
        (Mode.MANUAL, Mode.ACCEPT_EDITS),
        (Mode.MANUAL, Mode.BYPASS),
        (Mode.ACCEPT_EDITS, Mode.BYPASS),
    }
