"""A project's own file: a stable id and a name, made with the first write into the project."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from muniment.safety.files import FileRefused, ensure_private_dir, read_regular, write_atomic
from muniment.safety.strict_yaml import YamlFault, dump, load
from muniment.safety.visible import clean_surrogates

FILE_NAME = "project.yaml"
_MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Project:
    """A project as the ledger and the screen know it; the id survives moving and renaming the directory."""

    id: str
    name: str


def read_project(directory: Path) -> Project | None:
    """Read the `project.yaml` of a `.muniment`; None where it is absent or unusable."""
    found = _look(directory)
    return found if isinstance(found, Project) else None


def project_fault(directory: Path) -> str | None:
    """Return a sentence about a `project.yaml` that is unusable; None where there is none or all is well."""
    found = _look(directory)
    if not isinstance(found, str):
        return None
    return (
        f"{directory / FILE_NAME} holds no id of the project that can be read ({found}); mend it, or "
        "move it away and the next write makes a new one."
    )


def _look(directory: Path) -> Project | str | None:
    """Return the project, or why its file is unusable, or None where there is no file."""
    try:
        fields = load(read_regular(directory / FILE_NAME, max_bytes=_MAX_BYTES))
    except FileNotFoundError:
        return None
    except FileRefused as refused:
        return refused.reason
    except YamlFault as fault:
        return f"line {fault.line}: {fault.problem}"
    if not isinstance(fields, dict):
        return "it holds no keys"
    project_id, name = fields.get("id"), fields.get("name")
    if not isinstance(project_id, str) or not project_id:
        return "it has no id"
    return Project(project_id, name if isinstance(name, str) and name else _name_of(directory))


def has_project(directory: Path) -> bool:
    """Tell whether something stands at the place of a `.muniment`'s `project.yaml`, usable or not."""
    return os.path.lexists(f"{directory}/{FILE_NAME}")


def ensure_project(directory: Path) -> Project | None:
    """Make a `.muniment` with its `project.yaml` where they are missing and return what stands there.

    A file that is there but unusable is left alone and None returned. Call it with the directory's lock held.
    """
    ensure_private_dir(directory)
    if not has_project(directory):
        project = Project(secrets.token_hex(16), _name_of(directory) or "/")
        write_atomic(directory / FILE_NAME, dump({"id": project.id, "name": project.name}))
        return project
    return read_project(directory)


def _name_of(directory: Path) -> str:
    # A directory's name may be no UTF-8, which no text file can hold; the id says which project it is anyway.
    return clean_surrogates(directory.parent.name)
