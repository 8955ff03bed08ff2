"""Run one turn again and again, killed at each touch of the disk, and look at what the next start finds.

Started as a program of its own with a directory; prints one JSON object a line, one for each run.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from muniment.session.logs.log import SUFFIX
from muniment.tools.registry import default_registry
from support.session import Place, Say, StepModel, allow, call, run

EVENTS = frozenset({"open", "os.rename", "os.mkdir", "os.truncate", "os.remove", "os.chmod", "os.link"})
RECORD = {"id": "plum", "title": "Plum rule", "content": "Plums are blue.", "scope": "project"}


def die_at(number: int, root: Path) -> None:
    """Kill this process by force at the given touch of anything below `root`."""
    seen = 0
    inside = os.fsencode(root)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event not in EVENTS or not arguments:
            return
        place = arguments[0]
        if isinstance(place, str):
            place = os.fsencode(place)
        # A name without a directory is one relative to an open directory, which is always one of ours.
        if not isinstance(place, bytes) or (place.startswith(b"/") and not place.startswith(inside)):
            return
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


async def one_turn(place: Place) -> None:
    model = StepModel(Say("So be it.", calls=(call("memory_store", "c1", **RECORD),)), Say("Saved."))
    engine = place.open(model, tools=default_registry(), approver=allow)
    await run(engine, "remember the plums")
    await engine.close()


async def next_start(place: Place) -> dict[str, Any]:
    """Open whatever is there as a person would, go on with it, and tell what was found."""
    stems = [each.stem for each in place.paths.sessions.glob(f"*{SUFFIX}")]
    assert len(stems) < 2
    session = stems[0] if stems else None
    record = place.project / ".muniment" / "memory" / "plum.yaml"
    found: dict[str, Any] = {"session": session is not None, "record": record.exists()}
    if record.exists():
        shown = place.open(StepModel(Say("ok"))).surfaces.records.get("plum")
        assert shown.record.content == RECORD["content"]
    left = [each.name for each in record.parent.glob("*") if each.suffix == ".yaml" and each != record]
    assert left == []
    if session is None:
        assert not record.exists()
        return found
    kinds = place.kinds(session) if (place.paths.sessions / f"{session}{SUFFIX}").read_bytes() else []
    found["kinds"] = kinds
    if record.exists():
        assert kinds.count("tool_start") == 1
    model = StepModel(Say("Going on."))
    engine = place.open(model, tools=default_registry(), approver=allow, resume_id=session)
    found["unknown"] = list(engine.unknown_calls)
    found["told"] = len(engine.opening) - 1
    engine.acknowledge()
    ended, _ = await run(engine, "go on")
    assert ended.status == "completed"
    await engine.close()
    assert len(model.requests) == 1
    assert place.kinds(session).count("tool_start") == kinds.count("tool_start")
    again = place.open(model, resume_id=session)
    assert again.unknown_calls == ()
    assert len(again.opening) == 1
    await again.close()
    return found


def main(directory: Path) -> None:
    number = 0
    while True:
        number += 1
        root = directory / f"run{number}"
        root.mkdir()
        place = Place(root)
        child = os.fork()
        if child == 0:
            die_at(number, root)
            asyncio.run(one_turn(place))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        finished = os.WIFEXITED(status)
        assert not finished or os.WEXITSTATUS(status) == 0, f"run {number} failed by itself"
        found = asyncio.run(next_start(place))
        sys.stdout.write(json.dumps({"number": number, "finished": finished, **found}) + "\n")
        if finished:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
