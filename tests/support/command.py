"""The installed command in a pipe: what it prints, where, and how it exits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.environment import isolated
from support.terminal import COMMAND


@dataclass(frozen=True, slots=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.split("\n") if line]


def run(
    *arguments: str, cwd: Path, base: Path, text: str | None = None, env: Mapping[str, str] | None = None
) -> Result:
    """Run `muniment` without a terminal; `text` is its standard input."""
    done = subprocess.run(
        [str(COMMAND), *arguments],
        cwd=cwd,
        env=isolated(base, env),
        input="" if text is None else text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)
