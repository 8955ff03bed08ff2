"""Writing in a process that dies on the spot, and watching what it leaves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.poll import PATIENCE

_KILLED_AT = """
import os, signal, sys
from pathlib import Path
from muniment.safety import files

step, target, data = sys.argv[1], Path(sys.argv[2]), sys.argv[3].encode()
real = getattr(os, step)

def die(*args, **kwargs):
    if step == "write":
        real(args[0], args[1][: len(args[1]) // 2])
    os.kill(os.getpid(), signal.SIGKILL)

setattr(os, step, die)
files.write_atomic(target, data)
"""


def write_killed_at(step: str, target: Path, data: str) -> int:
    """Write atomically in another process that is killed at its first `os.<step>`; return its code."""
    return subprocess.run(
        [sys.executable, "-c", _KILLED_AT, step, str(target), data], check=False, timeout=PATIENCE
    ).returncode


_HOLDER = """
import sys
from pathlib import Path
from muniment.safety.files import locked

with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


class Holder:
    """Another process that holds a lock until it is told to let go."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HOLDER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Holder:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "held\n"
        return self

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=PATIENCE)

    def __exit__(self, *_: object) -> None:
        self._process.communicate("\n" if self._process.poll() is None else None, timeout=PATIENCE)
