"""Writes by hand from several processes at once: each is done, none is lost, none is refused for another."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from muniment.cli.settled import ATTEMPTS, settled
from muniment.memory.records.plans import ChangedAfterApproval
from support.command import Result, run

AT_ONCE = 4


def at_once(tmp_path: Path, *arguments: str) -> list[Result]:
    """Run a command in several processes at once; `{}` in an argument is the number of the process."""
    place = tmp_path / "place"
    place.mkdir()

    def one(number: int) -> Result:
        return run(*(each.format(number) for each in arguments), cwd=place, base=tmp_path / "user")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, range(AT_ONCE)))


def test_records_of_one_title_stored_at_once_all_get_an_id_of_their_own(tmp_path: Path) -> None:
    done = at_once(tmp_path, "memory", "store", "--title", "Same title", "--content", "c{}", "--json")
    assert [each.code for each in done] == [0] * AT_ONCE, done
    ids = sorted(json.loads(each.out)["id"] for each in done)
    assert ids == ["same-title", *(f"same-title-{number}" for number in range(2, AT_ONCE + 1))]
    assert all(json.loads(each.out)["created"] for each in done)


def test_one_id_stored_at_once_is_created_once_and_replaced_after(tmp_path: Path) -> None:
    done = at_once(tmp_path, "memory", "store", "--id", "one", "--title", "t{}", "--content", "c{}", "--json")
    assert [each.code for each in done] == [0] * AT_ONCE, done
    assert sorted(json.loads(each.out)["created"] for each in done) == [False] * (AT_ONCE - 1) + [True]
    history = run("memory", "history", "one", "--json", cwd=tmp_path / "place", base=tmp_path / "user").json
    assert len(history["entries"]) == AT_ONCE


@pytest.mark.parametrize(
    "command",
    [
        ("pin", "add", "--title", "t{}", "--content", "c{}"),
        ("knowledge", "add", "--title", "same", "--content", "c{}"),
        ("user", "save", "--name", "one", "--type", "user", "--summary", "s{}"),
    ],
    ids=lambda command: command[0],
)
def test_other_writes_by_hand_at_once_are_all_done(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = at_once(tmp_path, *command)
    assert [each.code for each in done] == [0] * AT_ONCE, done


def test_a_place_that_never_keeps_still_ends_in_what_it_says() -> None:
    tried: list[int] = []

    def commit(number: int) -> None:
        tried.append(number)
        raise ChangedAfterApproval("x was changed after approval, nothing written.")

    numbers = iter(range(1000))
    with pytest.raises(ChangedAfterApproval, match="nothing written"):
        settled(lambda: next(numbers), commit)
    assert tried == list(range(ATTEMPTS))
