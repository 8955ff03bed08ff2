"""Kill -9 amid writes to team memory: no file is halved, no note lost or doubled, and work goes on."""

from __future__ import annotations

from pathlib import Path

from support import team_kill
from support.command import told_by


def test_whatever_the_moment_every_file_is_whole_and_the_next_write_works(tmp_path: Path) -> None:
    """The program that is run checks each state itself; here is what all of them have to show together."""
    runs = told_by(team_kill.__file__, tmp_path)
    assert len(runs) > 20
    assert [each["finished"] for each in runs] == [False] * (len(runs) - 1) + [True]
    stages = [(each["pinned"], each["waiting"], each["digest"], each["archived"]) for each in runs]
    assert stages == sorted(stages, key=lambda each: (each[0], each[1] + each[3], each[2], each[3]))
    assert len(set(stages)) == 5, "every write was once the last one on disk"
