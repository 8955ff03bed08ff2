"""Every app of these tests is driven by the patient pilot."""

from __future__ import annotations

import pytest
from textual import pilot

from support.pilot import PatientPilot


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilot, "Pilot", PatientPilot)
