"""Kill -9 amid writes to team memory: no file is halved, no note lost or doubled, and work goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support import team_kill


def test_whatever_the_moment_every_file_is_whole_and_the_next_write_works(tmp_path: Path) -> None:
    """The program that is run checks each state itself; here is what all of them have to show together."""
    done = subprocess.run(
        [sys.executable, team_kill.__file__, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(runs) > 20
    assert [each["finished"] for each in runs] == [False] * (len(runs) - 1) + [True]
    stages = [(each["pinned"], each["waiting"], each["digest"], each["archived"]) for each in runs]
    assert stages == sorted(stages, key=lambda each: (each[0], each[1] + each[3], each[2], each[3]))
    assert len(set(stages)) == 5, "every write was once the last one on disk"
