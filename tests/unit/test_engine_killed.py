"""Kill -9 at every touch of the disk in a turn: the next start is usable and says what happened."""

from __future__ import annotations

from pathlib import Path

from support import kill_loop
from support.command import told_by


def test_whatever_the_moment_the_next_start_goes_on(tmp_path: Path) -> None:
    """The program that is run checks each start itself; here is what all of them have to show together."""
    runs = told_by(kill_loop.__file__, tmp_path)
    assert len(runs) > 40
    assert [each["finished"] for each in runs] == [False] * (len(runs) - 1) + [True]
    opened = [each for each in runs if each["session"]]
    for each in opened:
        started, ended = "tool_start" in each["kinds"], "tool_result" in each["kinds"]
        assert each["unknown"] == (["memory_store"] if started and not ended else [])
        assert each["told"] == (0 if each["finished"] else 1)
    stages = {tuple(each["kinds"]) for each in opened}
    assert len(stages) == 7, "every record of the turn was once the last one on disk"
