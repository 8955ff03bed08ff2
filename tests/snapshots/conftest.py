"""Where the projects of the pictures lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import pilot

from muniment.tui.app import MunimentApp
from support.app import project_at, write_record
from support.environment import user_variables
from support.pictures import place_of
from support.pilot import PatientPilot


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drive every app by the patient pilot; a machine that stands still meanwhile is no part of a picture."""
    monkeypatch.setattr(pilot, "Pilot", PatientPilot)
    monkeypatch.setattr(MunimentApp, "heart_clocks", (lambda: 0.0,))


@pytest.fixture
def project(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project at a place with the same name in every run, and its own for every test."""
    with place_of(request.node.name) as root:
        for variable, value in user_variables(root / "user").items():
            monkeypatch.setenv(variable, value)
        project = project_at(root / "study")
        write_record(project / ".muniment", "coding-scheme", "Codes of the first round", "Six codes.")
        yield project
