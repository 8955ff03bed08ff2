"""Run one consolidation again and again, killed before each change of the disk; the next run finishes it.

Started as a program of its own with a directory; prints one JSON object a line, one for each run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from muniment.memory.team.refusals import TeamRefused
from support.consolidation import consolidate, inbox, rows, settings
from support.team import USER, Workspace, tree

CALLS = ("replace", "rename", "unlink", "mkdir", "write")
NOTES = {
    "ripley-lock.md": "# Locks\n\n- **Locking**: every writer takes the lock before it looks\n",
    "dallas-clock.md": "# Clocks\n\n- **Clocks**: the tests stop the clock and never sleep\n",
}


def make(root: Path) -> Workspace:
    made = Workspace(root, settings=settings(threshold=2))
    for age, (name, text) in enumerate(NOTES.items()):
        made.put(name, text, age=age)
    return made


def promote(made: Workspace) -> None:
    made.team.knowledge.promote(made.team.inbox.read("ripley-lock.md"), USER)


def die_at(number: int) -> None:
    """Kill this process by force before the given call that changes the disk."""
    left = number

    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return dying

    for name in CALLS:
        setattr(os, name, wrap(getattr(os, name)))


def state(made: Workspace) -> dict[str, Any]:
    """Return everything that a run leaves, without what is random."""
    files = tree(made.directory)
    files.pop("project.yaml", None)
    found = sorted(
        (row.source, row.scope_kind, row.trust, row.status, row.body) for row in rows(made.surfaces)
    )
    return {
        # Half of a file under its temporary name is nobody's content, and swept away later.
        "files": {name: data.decode() for name, data in sorted(files.items()) if not name.endswith(".tmp")},
        "rows": found,
        "inbox": inbox(made.surfaces),
        "pending": made.team.pending.waits(),
    }


def finish(made: Workspace, what: str) -> None:
    """Do what the next run does: go on with what was cut off, else begin anew."""
    made.team.consolidation.recover()
    if what == "promote":
        if "ripley-lock.md" in inbox(made.surfaces):
            promote(made)
        return
    try:
        consolidate(made.surfaces)
    except TeamRefused:
        assert inbox(made.surfaces) == []


def main(directory: Path, what: str) -> None:
    act = promote if what == "promote" else (lambda made: consolidate(made.surfaces))
    whole = make(directory / "whole")
    act(whole)
    expected = state(whole)
    number = 0
    while True:
        number += 1
        root = directory / f"run{number}"
        made = make(root)
        child = os.fork()
        if child == 0:
            die_at(number)
            act(made)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        finished = os.WIFEXITED(status)
        assert not finished or os.WEXITSTATUS(status) == 0, f"run {number} failed by itself"
        pending = made.team.pending.waits()
        finish(made, what)
        found = state(made)
        assert found == expected, f"run {number}: {found} is not {expected}"
        sys.stdout.write(json.dumps({"number": number, "finished": finished, "pending": pending}) + "\n")
        if finished:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
