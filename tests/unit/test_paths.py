"""Where things are kept when the environment says little."""

from __future__ import annotations

import errno
import os
import pwd
from pathlib import Path

import pytest

from muniment.paths import HomeUnknown, resolve_paths
from support.command import Inside


@pytest.fixture
def nobody_knows_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as a user that no list of users has, without HOME, as a container may."""

    def unknown(_: object) -> None:
        raise KeyError("uid not found")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(pwd, "getpwnam", unknown)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("nobody_knows_home")
def test_a_home_that_nobody_knows_is_said_in_a_sentence_that_helps(
    cli: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HomeUnknown, match=r"^Your home .* set HOME or MUNIMENT_CONFIG_DIR to an absolute"):
        resolve_paths({})
    with pytest.raises(HomeUnknown, match=r"^The home directory in MUNIMENT_CONFIG_DIR .* absolute path\.$"):
        resolve_paths({"MUNIMENT_CONFIG_DIR": "~who/config"})
    monkeypatch.setenv("MUNIMENT_DATA_DIR", "~/data")
    refused = cli("memory", "list")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("muniment: The home directory in MUNIMENT_DATA_DIR is not known")


@pytest.mark.usefixtures("nobody_knows_home")
def test_where_all_places_are_named_no_home_is_needed(cli: Inside, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    stored = cli("memory", "store", "--title", "Tea", "--content", "Boil it.")
    assert (stored.code, "is not ignored by git" in stored.err) == (0, True)


def test_a_sandbox_that_forbids_chmod_keeps_nothing_from_being_written(
    cli: Inside, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    for name in ("chmod", "fchmod"):
        monkeypatch.setattr(os, name, forbidden)
    assert cli("memory", "store", "--title", "Tea", "--content", "Boil it.").code == 0
    assert cli("memory", "search", "boil").out.startswith("tea")
    ran = cli("run", "--prompt", "hello")
    assert (ran.code, "Recall failed" in ran.err) == (0, False)
    assert (user / "state" / "recall.db").stat().st_size > 0
