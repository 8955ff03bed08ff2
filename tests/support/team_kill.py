"""Write to every file of team memory, killed at every seventh touch of the disk, and look at what is left.

Started as a program of its own with a directory; prints one JSON object a line, one for each run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from support.kill_loop import die_at
from support.team import USER, Workspace, tree

STEP = 7
"""A whole write touches the disk far more often than that, so that each kind of touch is met by some run."""


def writes(place: Workspace) -> None:
    """Pin, note, hold, release, digest and archive, once each."""
    team = place.team
    team.pinned.commit(team.pinned.plan_add("Rule", "Oil the fan."), USER)
    note = place.note(body="It is loud.", name="user-fan.md")
    team.inbox.hold(note.name, USER)
    team.inbox.release(note.name, USER)
    team.notes.append("### Digest\n\n- The fan is loud.", USER)
    team.inbox.archive(team.inbox.read(note.name), USER)


def look(place: Workspace) -> dict[str, object]:
    """Check that every file is whole or absent, that nothing is lost or doubled, and that work goes on."""
    team = place.team
    pinned = team.pinned.read()
    assert pinned.problem is None
    assert [each.title for each in team.pinned.entries()] in ([], ["Rule"])
    notes, problems = team.inbox.scan()
    assert problems == []
    archive = list((place.directory / "notes" / "archive").glob("*.md"))
    assert len(notes) + len(archive) <= 1
    texts = [*(each.text for each in notes), *(each.read_text() for each in archive)]
    assert all("It is loud." in each for each in texts)
    assert team.notes.sections() in ([], ["### Digest\n\n- The fan is loud."])
    assert team.holds.keys() <= {"notes/inbox/user-fan.md"}
    found: dict[str, object] = {
        "pinned": bool(pinned.text),
        "waiting": len(notes),
        "archived": len(archive),
        "digest": len(team.notes.sections()),
    }
    place.note(title="after", name="user-after.md")
    assert "after" in [each.title for each in team.inbox.list()]
    records = place.surfaces.records
    records.commit_undo(records.plan_undo(), USER)
    assert "after" not in [each.title for each in team.inbox.list()]
    visible = [name for name in tree(place.directory) if not Path(name).name.startswith(".")]
    assert not [name for name in visible if name.endswith(".tmp")]
    return found


def main(base: Path) -> None:
    number = 1
    while True:
        number += STEP
        root = base / f"run-{number}"
        root.mkdir()
        place = Workspace(root)
        child = os.fork()
        if child == 0:
            die_at(number, root)
            writes(place)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        finished = os.WIFEXITED(status)
        assert not finished or os.WEXITSTATUS(status) == 0, f"run {number} failed by itself"
        found = look(Workspace(root))
        sys.stdout.write(json.dumps({"number": number, "finished": finished, **found}) + "\n")
        if finished:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
