"""Consolidation between processes: a kill before any change of the disk, and two runs at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import consolidation_kills
from support.consolidation import archived, entries, inbox, rows, settings, world
from support.team import Workspace

_ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize(("what", "least"), [("consolidate", 40), ("promote", 15)])
def test_a_kill_anywhere_leaves_what_the_next_run_finishes_without_loss_or_repeat(
    what: str, least: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, consolidation_kills.__file__, str(tmp_path), what],
        capture_output=True,
        text=True,
        env=_ENVIRONMENT,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["number"] for each in runs] == list(range(1, len(runs) + 1))
    assert [each["finished"] for each in runs] == [False] * (len(runs) - 1) + [True]
    assert len(runs) > least
    assert 10 < sum(each["pending"] for each in runs) < len(runs)


_APPLY = (
    "import sys; from pathlib import Path; from support.consolidation import *;"
    "from support.team import USER;"
    "from muniment.memory.records.plans import ChangedAfterApproval\n"
    "made = Reopened(Path(sys.argv[1]))\n"
    "work = made.surfaces.team.consolidation\n"
    "preview = work.preview()\n"
    "print('ready', flush=True); sys.stdin.readline()\n"
    "try: print(len(work.apply(preview, USER).archived))\n"
    "except ChangedAfterApproval: print('told')\n"
)


def test_of_two_processes_that_approved_the_same_batch_exactly_one_does_it(tmp_path: Path) -> None:
    for turn in range(3):
        root = tmp_path / str(turn)
        made = world(root)
        children = [
            subprocess.Popen(
                [sys.executable, "-c", _APPLY, str(root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=_ENVIRONMENT,
            )
            for _ in range(2)
        ]
        for each in children:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        said = []
        for each in children:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        for each in children:
            out, err = each.communicate(timeout=60)
            assert each.returncode == 0, err
            said.append(out.strip())
        assert sorted(said) == ["5", "told"]
        _assert_once(made)


def _assert_once(made: Workspace) -> None:
    assert inbox(made.surfaces) == []
    assert len(archived(made)) == len(entries(made)) == 5
    assert len(made.team.notes.sections()) == 1
    assert len(made.team.notebooks.entries("ripley")) == 2
    assert len(rows(made.surfaces)) == 7


def test_notes_of_an_unfinished_run_are_offered_to_nobody_else(tmp_path: Path) -> None:
    made = world(tmp_path, notes=5, using=settings(threshold=1))
    (made.directory / "knowledge" / "agents" / "ripley.md").mkdir(parents=True)
    with pytest.raises(Exception, match="the next run goes on"):
        made.team.consolidation.apply(made.team.consolidation.preview(), consolidation_kills.USER)
    other = made.at(made.project)
    assert other.team.consolidation.waiting() == []
    assert not other.team.consolidation.ready()
    assert other.team.pending.waits()
