"""Reading a recipe file: the same verdict on every path, all faults at once, each with its place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muniment.approval.policy import matches
from muniment.safety.errors import NotFound
from muniment.safety.files import FileRefused, digest, read_regular
from muniment.safety.schema import Fault, FileFaults, Report, check_text, dotted, nearest
from muniment.safety.strict_yaml import KeyPath
from muniment.session.recipes.fill import FILLED, PLACEHOLDER, placeholders
from muniment.session.recipes.model import (
    NO_TOOLS,
    MemoryPolicy,
    Parameter,
    Recipe,
    RecipeModel,
    TaskPolicy,
)
from muniment.session.recipes.shape import RECIPE, TOOL_NAMES

MAX_BYTES = 1_048_576


class RecipeFault(FileFaults):
    """A file is no recipe; `faults` holds every reason with its place."""


def load_recipe(path: Path) -> Recipe:
    """Read a recipe; raise `RecipeFault` with all faults, `NotFound` where there is no file."""
    data = _read(path)
    checked, faults = _check(data, path)
    if faults:
        raise RecipeFault(faults)
    return _made(checked, path.absolute(), data)


def check_recipe(path: Path) -> list[Fault]:
    """Return all faults of a recipe file; a file that cannot be opened is one fault."""
    try:
        data = _read(path)
    except NotFound:
        return [Fault(1, 1, "", "cannot be opened: there is no such file", file=str(path))]
    except RecipeFault as fault:
        return list(fault.faults)
    return _check(data, path)[1]


def _read(path: Path) -> bytes:
    # A recipe is named by a person and may be a link or belong to somebody else; it can only tighten.
    try:
        return read_regular(
            Path(os.path.realpath(path)), max_bytes=MAX_BYTES, single_link=False, any_owner=True
        )
    except FileNotFoundError:
        raise NotFound(f"There is no recipe file {path}.") from None
    except FileRefused as refused:
        raise RecipeFault([Fault(1, 1, "", f"cannot be opened: {refused.reason}", file=str(path))]) from None


def _check(data: bytes, path: Path) -> tuple[dict[str, Any], list[Fault]]:
    checked, value, report = check_text(data, RECIPE, file=str(path))
    if isinstance(value, dict):
        text = data.decode("utf-8", "replace")
        _check_parameters(checked, value, report, text)
        for key in ("tools", "approve"):
            _check_tools(checked.get(key, ()), key, report)
    return checked, sorted(report.faults)


def _check_tools(patterns: Sequence[str], key: str, report: Report) -> None:
    for at, pattern in enumerate(patterns):
        if not any(matches(name, (pattern,)) for name in TOOL_NAMES):
            report.at_value(
                (key, at),
                f"no tool is named {pattern}",
                allowed=", ".join(TOOL_NAMES),
                suggestion=nearest(pattern, TOOL_NAMES),
            )


def _check_parameters(
    checked: Mapping[str, Any], value: Mapping[str, Any], report: Report, text: str
) -> None:
    """Find placeholders without a parameter, parameters without a placeholder, and names that stand twice."""
    raw = value.get("parameters")
    names = (
        [each.get("name") if isinstance(each, dict) else None for each in raw]
        if isinstance(raw, list)
        else []
    )
    texts = {key: value[key] for key in FILLED if isinstance(value.get(key), str)}
    used = {name for each in texts.values() for name in placeholders(each)}
    for at, name in enumerate(names):
        if not isinstance(name, str) or not name:
            continue
        path: KeyPath = ("parameters", at, "name")
        if name in names[:at]:
            report.at_value(path, f"the parameter {name} stands twice")
        elif name not in used:
            where = ", ".join(FILLED)
            report.at_value(
                path, f"the parameter {name} is never used", allowed=f"{{{{ {name} }}}} in {where}"
            )
    if "parameters" not in checked and names:
        return  # its own faults are told first; what is missing in it cannot be told from what is misspelt
    declared = [name for name in names if isinstance(name, str)]
    for key, each in texts.items():
        for name in placeholders(each):
            if name not in declared:
                _undeclared(key, name, declared, report, text)


def _undeclared(key: str, name: str, declared: Sequence[str], report: Report, text: str) -> None:
    line, column = _place_of(key, name, report, text)
    allowed = ", ".join(declared) if declared else "no parameter is declared"
    problem = f"{{{{ {name} }}}} is no parameter of this recipe"
    report.faults.append(
        Fault(line, column, dotted((key,)), problem, allowed, nearest(name, declared), report.file)
    )


def _place_of(key: str, name: str, report: Report, text: str) -> tuple[int, int]:
    """Return where a placeholder stands in the file, or its key where it is written in another way."""
    span = report.marks.values[(key,)]
    for number, line in enumerate(text.split("\n")[span.line - 1 : span.end_line], span.line):
        for match in PLACEHOLDER.finditer(line):
            if match[1] == name:
                return number, match.start() + 1
    return report.marks[(key,)]


def _made(checked: Mapping[str, Any], path: Path, data: bytes) -> Recipe:
    parameters = tuple(
        Parameter(
            each["name"],
            each["description"],
            each.get("required", "default" not in each),
            each.get("default"),
        )
        for each in checked.get("parameters", ())
    )
    tools: tuple[str, ...] = checked.get("tools", ())
    return Recipe(
        name=checked["name"],
        description=checked["description"],
        agent=checked.get("agent", checked["name"]),
        temporary=checked.get("temporary", False),
        instructions=checked.get("instructions", ""),
        prompt=checked.get("prompt"),
        parameters=parameters,
        model=RecipeModel(**checked["model"]) if checked.get("model") else None,
        tools=NO_TOOLS if "tools" in checked and not tools else tools,
        approve=checked.get("approve", ()),
        memory=MemoryPolicy(**checked.get("memory", {})),
        task=TaskPolicy(**checked.get("task", {})),
        path=path,
        digest=digest(data),
        text=data.decode("utf-8"),
    )
