"""What no tool can do: run commands, start helpers, reach the network, approve, or change the mode."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from muniment.approval.policy import Effect
from muniment.session.recipes.shape import TOOL_NAMES
from muniment.tools.registry import default_registry
from support.environment import REPOSITORY
from support.session import Place, Say, StepModel, call, only, run

APP = REPOSITORY / "app" / "muniment"
STARTERS = {
    "subprocess",
    "pty",
    "multiprocessing",
    "concurrent",
    "socket",
    "urllib",
    "http",
    "httpx",
    "ctypes",
}
CALLS = re.compile(r"\bos\.(system|popen|exec\w*|spawn\w*|posix_spawn\w*|fork\w*)\(|\beval\(|\bexec\(")


def test_every_tool_is_one_of_those_promised_and_none_runs_or_delegates() -> None:
    names = {tool.name for tool in default_registry().select(("*",))}
    assert names <= set(TOOL_NAMES)
    assert not [
        each for each in names if re.search(r"bash|shell|run|exec|spawn|agent|fetch|approve|mode", each)
    ]
    assert {tool.effect for tool in default_registry().select(("*",))} <= set(Effect)


def test_no_tool_can_start_a_program_or_open_a_connection() -> None:
    """Asked of the source of everything a tool may call: there is no command a model could get to run."""
    found: dict[str, set[str]] = {}
    for layer in ("tools", "memory", "approval", "safety"):
        for path in sorted((APP / layer).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            names = _imported(text) & STARTERS
            names |= {match[0] for match in CALLS.finditer(text)}
            if names:
                found[str(path.relative_to(APP))] = names
    assert {path: names - {"urllib"} for path, names in found.items() if names - {"urllib"}} == {}


def _imported(text: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "cat ../secret"}),
        ("run_command", {"command": "true"}),
        ("spawn_agent", {"tasks": ["save a memory"]}),
        ("approve", {"id": "call_1"}),
        ("set_mode", {"mode": "bypass"}),
    ],
)
async def test_a_command_or_a_helper_that_a_model_asks_for_is_an_unknown_tool(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    place = Place(tmp_path)
    engine = place.open(StepModel(Say(calls=(call(tool, **arguments),)), Say("ok")), tools=default_registry())
    _, events = await run(engine)
    from muniment.session.events import ProposalMade, ToolFinished

    (finished,) = only(events, ToolFinished)
    assert finished.status == "unknown_tool"
    assert only(events, ProposalMade) == []
    assert not (place.project / ".muniment").exists()
