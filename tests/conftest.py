"""Every test gets a user of its own: no test sees, or leaves, anything in a real home directory."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from hypothesis import settings

from support.command import Inside
from support.environment import REMOVED, user_variables

# How long one example takes says more of the machine than of the code: no example has a deadline.
settings.register_profile("muniment", deadline=None)
settings.load_profile("muniment")

# A shell has its background jobs ignore an interrupt; so would every child that a test means to interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Isolate the process and return the directory that everything of this user lies below."""
    base = tmp_path_factory.mktemp("user")
    (base / "home").mkdir()
    for name in (*REMOVED, "MUNIMENT_NO_MEMORY_INJECT", "MUNIMENT_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in user_variables(base).items():
        monkeypatch.setenv(name, value)
    time.tzset()
    return base


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Inside:
    """The command line, run in this process from the directory `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    return Inside(monkeypatch, capfdbinary)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured beside whether they passed, from whichever process they ran in."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    measured = [value for report in reports for name, value in report.user_properties if name == "measured"]
    if measured:
        terminalreporter.section("measured")
        for line in measured:
            terminalreporter.write_line(str(line))
