"""Cases: a seeded place, a conversation with scripted replies and answers, and what must be so at the end."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from muniment.approval.policy import Mode
from muniment.safety.errors import NotFound
from muniment.safety.files import FileRefused, read_regular
from muniment.safety.schema import Fault, FileFaults, Report, check_text

MAX_BYTES = 4_194_304
SUFFIXES = (".yaml", ".yml")


class CaseFault(FileFaults):
    """Case files that cannot be used; `faults` holds every reason with its place."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What somebody else does to files at one moment: texts by path, and paths that go."""

    texts: Mapping[str, str] = field(default_factory=dict)
    removes: tuple[str, ...] = ()

    @classmethod
    def of(cls, checked: Mapping[str, Any]) -> Edits:
        return cls(checked.get("edits", {}), checked.get("removes", ()))


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered to one proposal, and what must be true of it."""

    allowed: bool
    reason: str = ""
    tool: str | None = None
    shows: tuple[str, ...] = ()
    warns: tuple[str, ...] = ()
    edits: Edits = field(default_factory=Edits)


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call as the model sends it; `arguments` is JSON text, right or wrong."""

    tool: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of the script, and what the request before it must and must not hold."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    expect: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message and the replies to the requests that follow from it."""

    say: str
    replies: tuple[Reply, ...] = ()
    session: Literal["same", "new", "resume"] = "same"
    edits: Edits = field(default_factory=Edits)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One grader with what it was given."""

    grader: str
    value: Any


@dataclass(frozen=True, slots=True)
class Case:
    """One case as read from its file; `memory` holds the seeds as `shape.MEMORY` checked them."""

    name: str
    description: str
    path: Path
    turns: tuple[Turn, ...]
    expect: tuple[Expectation, ...]
    answers: tuple[Answer, ...] | Literal["allow", "deny", "none"] = "none"
    live: bool = False
    mode: Mode = Mode.MANUAL
    recipe: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    project: bool = True
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)


def shipped_cases() -> Path:
    """Return the directory of the cases that come with Muniment."""
    from muniment.session.recipes.find import samples_directory

    samples = samples_directory()
    if samples is None or not (samples / "evals").is_dir():
        raise NotFound("The cases that come with Muniment are not installed; name a file or directory.")
    return samples / "evals"


def load_cases(path: Path) -> list[Case]:
    """Read a case file, or every one in a directory, by name; raise `CaseFault` with the faults of all."""
    if not path.exists():
        raise NotFound(f"There is no case file or directory {path}.")
    files = [path]
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES and each.name[0] != ".")
        if not files:
            raise NotFound(f"There is no case in {path}: its files would end in .yaml.")
    faults: list[Fault] = []
    cases: dict[str, Case] = {}
    for each in files:
        case, found = _checked(each)
        faults.extend(found)
        if case is not None and case.name in cases:
            first = cases[case.name].path.name
            faults.append(Fault(1, 1, "name", f"{first} has the name {case.name} too", file=str(each)))
        elif case is not None:
            cases[case.name] = case
    if faults:
        raise CaseFault(faults)
    return list(cases.values())


def _checked(path: Path) -> tuple[Case | None, list[Fault]]:
    from muniment.evals.shape import CASE

    try:
        data = read_regular(
            Path(os.path.realpath(path)), max_bytes=MAX_BYTES, single_link=False, any_owner=True
        )
    except (FileRefused, OSError) as refused:
        reason = refused.reason if isinstance(refused, FileRefused) else refused.strerror or str(refused)
        return None, [Fault(1, 1, "", f"cannot be opened: {reason}", file=str(path))]
    checked, value, report = check_text(data, CASE, file=str(path), null_is_text=True)
    if isinstance(value, dict) and not report.faults:
        _check_sense(checked, report)
    return (None if report.faults else _made(checked, path.absolute())), sorted(report.faults)


def _check_sense(checked: Mapping[str, Any], report: Report) -> None:
    """Find what each key allows and all of them together do not."""
    from muniment.evals.shape import GRADERS

    for key in ("files", "links"):
        for name in checked.get(key, {}):
            _check_path((key, name), name, report)
    for at, turn in enumerate(checked["turns"]):
        for name in turn.get("edits", {}):
            _check_path(("turns", at, "edits", name), name, report)
        if checked.get("live") and "replies" in turn:
            report.at_key(("turns", at, "replies"), "a live case has no replies: the model answers")
        if not checked.get("live") and not turn.get("replies"):
            report.missing(("turns", at, "replies"), allowed="a list of replies, or live: true")
    if checked["turns"] == ():
        report.at_value(("turns",), "is empty", allowed="a list of turns")
    elif checked["turns"][0].get("session", "same") != "same":
        report.at_value(("turns", 0, "session"), "there is no session before the first turn", allowed="same")
    for at, each in enumerate(checked["expect"]):
        if not each:
            report.at_value(("expect", at), "is empty", allowed=GRADERS.allowed())
        for pattern_at, pattern in enumerate(each.get("final_text_matches", ())):
            try:
                re.compile(pattern)
            except re.error as error:
                report.at_value(
                    ("expect", at, "final_text_matches", pattern_at), f"is no regular expression: {error}"
                )
    if not checked["expect"]:
        report.at_value(("expect",), "is empty", allowed=GRADERS.allowed())


def _check_path(path: tuple[str | int, ...], name: str, report: Report) -> None:
    bare = name.removeprefix("data:").removeprefix("config:")
    if not bare or bare.startswith("/") or ".." in bare.split("/"):
        report.at_key(path, "is no path inside the place of a case", allowed="a path without .. or a root")


def _made(checked: Mapping[str, Any], path: Path) -> Case:
    answers = checked.get("approve", "none")
    return Case(
        name=checked["name"],
        description=checked["description"],
        path=path,
        turns=tuple(_turn(each) for each in checked["turns"]),
        expect=tuple(Expectation(name, value) for each in checked["expect"] for name, value in each.items()),
        answers=answers if isinstance(answers, str) else tuple(_answer(each) for each in answers),  # type: ignore[arg-type]  # `shape.CASE` allows no other word
        live=checked.get("live", False),
        mode=Mode(checked.get("mode", "manual")),
        recipe=checked.get("recipe"),
        parameters=checked.get("parameters", {}),
        project=checked.get("project", True),
        directory=checked.get("directory", ""),
        environment=checked.get("environment", {}),
        memory=checked.get("memory", {}),
        files=checked.get("files", {}),
        links=checked.get("links", {}),
    )


def _turn(checked: Mapping[str, Any]) -> Turn:
    replies = tuple(
        Reply(
            each.get("text", ""),
            tuple(ScriptedCall(call["tool"], call.get("arguments", "{}")) for call in each.get("calls", ())),
            each.get("expect", ()),
            each.get("forbid", ()),
        )
        for each in checked.get("replies", ())
    )
    return Turn(checked["say"], replies, checked.get("session", "same"), Edits.of(checked))


def _answer(checked: Mapping[str, Any]) -> Answer:
    return Answer(
        checked["answer"] == "allow",
        checked.get("reason", ""),
        checked.get("tool"),
        checked.get("shows", ()),
        checked.get("warns", ()),
        Edits.of(checked),
    )
