"""`muniment doctor` and `muniment isolation doctor`: what is wrong here, and what confines the tools."""

from __future__ import annotations

import argparse
import os
import stat
from pathlib import Path

from muniment.cli.shell import FAILED, OK, Shell
from muniment.safety.errors import MunimentError

Finding = tuple[str, bool, str]
"""Name, whether it is in order, and one sentence."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of both commands."""
    if parser.prog.endswith("isolation"):
        commands = parser.add_subparsers(required=True, metavar="doctor")
        command = commands.add_parser("doctor", help="say what confines the tools here")
        command.set_defaults(action=isolation)
    else:
        command = parser
        command.set_defaults(action=doctor)
    command.add_argument("--json", action="store_true", help="one JSON object")


def doctor(arguments: argparse.Namespace, shell: Shell) -> int:
    """Check settings, directories, search and terminal; exit 1 where something is wrong."""
    findings: list[Finding] = [_settings(shell)]
    for name, place in (
        ("config", shell.paths.config),
        ("data", shell.paths.data),
        ("state", shell.paths.state),
        ("cache", shell.paths.cache),
    ):
        findings.append(_directory(name, place))
    findings.append(_search())
    findings += [*_records(shell), *_user(shell), _journal(shell)]
    findings.append(_terminal(shell))
    return _report(findings, arguments, shell)


def memory(arguments: argparse.Namespace, shell: Shell) -> int:
    """Check records, user memory and the journal; exit 1 where something is wrong."""
    return _report([*_records(shell), *_user(shell), _journal(shell)], arguments, shell)


def isolation(arguments: argparse.Namespace, shell: Shell) -> int:
    """Say honestly what keeps the model's tools in bounds."""
    from muniment.session.toolcall import offered

    names = ", ".join(tool.name for tool in offered(shell.surfaces))
    root = shell.surfaces.records.chain().root
    findings: list[Finding] = [
        ("shell", True, "No tool runs commands, starts programs or opens network connections."),
        ("tools", True, f"Offered here: {names}."),
        ("approval", True, "Every write to memory is asked about unless you start a session in bypass mode."),
        ("files", True, f"File tools, where offered, are confined to {root} by checks in this process."),
        (
            "sandbox",
            True,
            "No sandbox of the operating system: Muniment runs with your rights, confined by its own code.",
        ),
        (
            "model",
            True,
            "What a request carries goes to the model's server; muniment context shows it beforehand.",
        ),
    ]
    return _report(findings, arguments, shell, judged=False)


def _settings(shell: Shell) -> Finding:
    try:
        from muniment.settings import effective_provider

        provider, why = effective_provider(shell.settings, shell.environ)
    except MunimentError as error:
        return ("settings", False, error.sentence)
    key = shell.settings.model.api_key_env
    held = "is set" if shell.environ.get(key, "").strip() else "is not set"
    return (
        "settings",
        True,
        f"Valid; the {provider} provider answers. {why} {key} {held}.".replace("  ", " "),
    )


def _directory(name: str, place: Path) -> Finding:
    try:
        info = place.stat()
    except FileNotFoundError:
        return (name, True, f"{place} is not there yet; it is made when first needed.")
    except OSError as error:
        return (name, False, f"{place}: {error.strerror}.")
    if not stat.S_ISDIR(info.st_mode):
        return (name, False, f"{place} is not a directory; move it away.")
    if info.st_uid != os.getuid():
        return (name, False, f"{place} is owned by someone else; give it to yourself.")
    if info.st_mode & 0o077:
        return (name, False, f"{place} can be read by others; run: chmod 700 {place}")
    if not os.access(place, os.W_OK | os.X_OK):
        return (name, False, f"{place} cannot be written.")
    return (name, True, f"{place} is private and can be written.")


def _search() -> Finding:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return (
            "search",
            False,
            f"SQLite {sqlite3.sqlite_version} has no FTS5; searching reads every record.",
        )
    finally:
        connection.close()
    return ("search", True, f"SQLite {sqlite3.sqlite_version} with FTS5.")


def _records(shell: Shell) -> list[Finding]:
    try:
        stats = shell.surfaces.records.stats()
    except MunimentError as error:
        return [("records", False, error.sentence)]
    rows: list[Finding] = [
        ("records", True, f"{stats.distinct} distinct records in {len(stats.chain)} scopes.")
    ]
    rows += [("records", False, f"{each.directory} is excluded: {each.reason}.") for each in stats.excluded]
    rows += [("records", False, f"{each.path} is skipped: {each.reason}.") for each in stats.skipped]
    rows += [("records", False, text) for each in stats.chain for text in each.scope.warnings]
    return rows


def _user(shell: Shell) -> list[Finding]:
    try:
        index = shell.surfaces.user.index()
    except MunimentError as error:
        return [("user", False, error.sentence)]
    rows: list[Finding] = [("user", True, f"{len(index.entries)} entries of user memory.")]
    return rows + [("user", False, f"{each.path} is left out: {each.reason}.") for each in index.problems]


def _journal(shell: Shell) -> Finding:
    try:
        lines = shell.surfaces.journal.lines()
    except (MunimentError, OSError) as error:
        return ("journal", False, f"The journal in {shell.paths.journal} cannot be read: {error}.")
    return ("journal", True, f"{len(lines)} writes are kept in {shell.paths.journal}.")


def _terminal(shell: Shell) -> Finding:
    term = shell.environ.get("TERM", "")
    if not shell.has_terminal:
        return ("terminal", True, "Not a terminal; use run --prompt here.")
    if term in ("", "dumb"):
        return ("terminal", False, f"TERM is {term or 'not set'}: the screen cannot be drawn.")
    return ("terminal", True, f"TERM is {term}.")


def _report(
    findings: list[Finding], arguments: argparse.Namespace, shell: Shell, *, judged: bool = True
) -> int:
    good = all(fine for _, fine, _ in findings)
    if arguments.json:
        shell.json(
            {
                "ok": good,
                "findings": [{"name": name, "ok": fine, "text": text} for name, fine, text in findings],
            }
        )
    else:
        for name, fine, text in findings:
            mark = "" if not judged else "ok      " if fine else "WRONG   "
            shell.out(f"{mark}{name:<9} {text}")
    return OK if good else FAILED
