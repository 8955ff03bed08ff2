"""The installed command in a pipe: what it prints, where, and how it exits."""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from support.environment import isolated
from support.poll import PATIENCE
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
        timeout=2 * PATIENCE,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def run_into(output: int | IO[str], *arguments: str, cwd: Path, base: Path) -> Result:
    """Run `muniment` with its standard output on something of the test's own; `out` stays empty."""
    done = subprocess.run(
        [str(COMMAND), *arguments],
        cwd=cwd,
        env=isolated(base),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        timeout=2 * PATIENCE,
        check=False,
    )
    return Result(done.returncode, "", done.stderr)


def told_by(program: str | None, *arguments: object) -> list[dict[str, Any]]:
    """Run a Python file as a program of its own and return the JSON objects that it prints, one a line."""
    done = subprocess.run(
        [sys.executable, str(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Inside:
    """The same command line called in this process, which is quick; `cwd` is where it runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        self._monkeypatch = monkeypatch
        self._capture = capfdbinary

    def __call__(self, *arguments: str, text: str | bytes = "") -> Result:
        """Run a command with `text` on its standard input."""
        from muniment.cli.main import run as run_inside

        data = text.encode() if isinstance(text, str) else text
        collected = gc.get_threshold()
        self._capture.readouterr()
        with (
            self._monkeypatch.context() as patched,
            io.TextIOWrapper(io.BytesIO(data)) as given,
        ):
            patched.setattr(sys, "stdin", given)
            try:
                code = run_inside(arguments)
            finally:
                # A command ends with its process and collects hardly any garbage; the tests go on.
                gc.set_threshold(*collected)
        out, err = self._capture.readouterr()
        return Result(code, out.decode(), err.decode())
