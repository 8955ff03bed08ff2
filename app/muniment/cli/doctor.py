"""`muniment doctor` and `muniment memory doctor`: what is wrong here, and what of it can be put right."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from muniment.cli.shell import FAILED, OK, Shell, lazy
from muniment.memory.checks import (
    Finding,
    Seen,
    check_modes,
    check_names,
    check_strays,
    close_to_others,
    walk,
)
from muniment.safety.errors import MunimentError, reason_of, sentence_of

_PROBE_SECONDS = 3.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of both commands."""
    if parser.prog.endswith("isolation"):
        commands = parser.add_subparsers(required=True, metavar="doctor")
        command = commands.add_parser("doctor", help="say what confines the tools here")
        command.set_defaults(action=lazy("muniment.cli.isolation", "isolation"))
    else:
        command = parser
        command.add_argument("--fix", action="store_true", help="put right what harms nothing")
        command.set_defaults(action=doctor)
    command.add_argument("--json", action="store_true", help="one JSON object")


def doctor(arguments: argparse.Namespace, shell: Shell) -> int:
    """Check settings, directories, search, model, terminal and memory; exit 1 where something is wrong."""
    findings = [_settings(shell)]
    places = (shell.paths.config, shell.paths.data, shell.paths.state, shell.paths.cache)
    for name, place in zip(("config", "data", "state", "cache"), places, strict=True):
        findings.append(_directory(name, place))
        if place != shell.paths.data:
            inside = [each for each in walk([place]) if each.path != place]
            findings += [*check_modes(inside), *check_strays(inside)]
    findings += [_search(), _model(shell), _terminal(shell)]
    unread = _settings_set_aside(shell)
    found = _memory(shell, skip=shell.paths.data)
    return _report([*findings, *(_only_told(found) if unread else found)], arguments, shell)


def memory(arguments: argparse.Namespace, shell: Shell) -> int:
    """Check everything that is remembered here; exit 1 where something is wrong."""
    unread = _settings_set_aside(shell)
    found = _memory(shell)
    return _report([*unread, *_only_told(found)] if unread else found, arguments, shell)


def _settings_set_aside(shell: Shell) -> list[Finding]:
    """Go on with the settings as they come where yours cannot be read, so that the rest is looked at too."""
    try:
        _ = shell.settings
    except MunimentError as error:
        from muniment.settings import Settings

        shell.settings = Settings()
        return [Finding("settings", False, error.sentence)]
    return []


def _only_told(findings: list[Finding]) -> list[Finding]:
    # What is put right by other bounds than the user's own could drop what these would keep.
    return [replace(each, fix=None) for each in findings]


def _memory(shell: Shell, *, skip: Path | None = None) -> list[Finding]:
    findings = [*_records(shell), *_user(shell), *_team(shell), *_ledger(shell), _journal(shell)]
    return [*findings, *_indexes(shell), *_files(shell, skip)]


def _files(shell: Shell, skip: Path | None) -> Iterator[Finding]:
    """Look at what memory lies in, and for what the file tools of a killed process left in the project."""
    from muniment.session.start import meets_private

    chain = shell.surfaces.records.chain()
    seen: list[Seen] = list(walk([shell.paths.data]))
    for scope in chain.scopes:
        if scope.kind == "project":
            at = scope.directory
            seen.append(Seen(at, at.lstat()))
            parts = ("memory", "notes", "knowledge", "pinned.md", "notes.md", "project.yaml")
            seen += walk(at / part for part in parts)
    yield from check_modes(each for each in seen if each.path != skip)
    yield from check_names(seen)
    yield from check_strays(seen)
    if not meets_private(shell.paths, chain.root):
        yield from check_strays(walk([chain.root], everything=False))


def _indexes(shell: Shell) -> Iterator[Finding]:
    from muniment.memory.records.index import check as index_check

    directory = shell.paths.memindex
    for scope in shell.surfaces.records.chain().scopes:
        verdict, text = index_check.check_index(directory, scope)
        wrong = verdict == index_check.WRONG
        yield Finding("index", not wrong, text, (lambda: _reindexed(shell)) if wrong else None)
    left = index_check.leftover_indexes(directory)
    if left:
        text = (
            f"{len(left)} search indexes in {directory} are of directories that are gone, with their texts."
        )
        yield Finding("index", False, text, lambda: index_check.remove_indexes(left))


def _reindexed(shell: Shell) -> str:
    stats = shell.surfaces.records.reindex()
    return f"The search indexes were made anew; they hold {stats.distinct} distinct records."


def _ledger(shell: Shell) -> Iterator[Finding]:
    try:
        health = shell.surfaces.ledger.health()
    except MunimentError as error:
        yield Finding("ledger", False, error.sentence)
        return
    mendable = health.problem in ("damaged", "stale index")
    yield Finding("ledger", health.ok, health.sentence, (lambda: _mended(shell)) if mendable else None)


def _mended(shell: Shell) -> str:
    from muniment.memory.team.rows import rebuild_rows

    rows = rebuild_rows(shell.surfaces.team)
    return shell.surfaces.ledger.rebuild(rows, replace(shell.origin, reason="doctor --fix")).sentence


def _team(shell: Shell) -> Iterator[Finding]:
    team = shell.surfaces.team
    try:
        problems = [*team.inbox.problems(), *team.knowledge.problems()]
        waits = team.pending.waits()
    except (MunimentError, OSError) as error:
        yield Finding("team", False, sentence_of(error))
        return
    yield Finding("team", True, f"Team memory is kept in {team.directory}.")
    for each in problems:
        yield Finding("team", False, f"{each.path} {each.reason} and is left out.")
    if waits:
        text = "A consolidation that was approved was cut off before its end."
        yield Finding("team", False, text, lambda: " ".join(team.pending.recover()) or "It was finished.")


def _model(shell: Shell) -> Finding:
    """Try to reach the model's server where one is configured: a connection only, nothing is sent."""
    import socket
    from urllib.parse import urlsplit

    try:
        from muniment.settings import effective_provider

        provider, _ = effective_provider(shell.settings, shell.environ)
        if provider != "openai":
            return Finding("model", True, "The rehearsal model answers, in this process.")
        from muniment.model.address import endpoint_of

        url = endpoint_of(shell.settings.model, shell.environ).base_url
    except MunimentError as error:
        return Finding("model", False, error.sentence)
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if any(shell.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return Finding("model", True, f"{url} is asked through the proxy of your environment; not tried.")
    try:
        socket.create_connection((host, port), timeout=_PROBE_SECONDS).close()
    except OSError as error:
        why = reason_of(error).lower()
        return Finding("model", False, f"{url} cannot be reached: {why}.")
    return Finding("model", True, f"{host}:{port} can be reached; nothing was sent, so the key is untried.")


def _settings(shell: Shell) -> Finding:
    try:
        from muniment.settings import effective_provider

        provider, why = effective_provider(shell.settings, shell.environ)
    except MunimentError as error:
        return Finding("settings", False, error.sentence)
    if shell.settings.tui.keymap:
        from muniment.settings.keymap import usable

        _, clashes = usable(shell.settings.tui.keymap)
        if clashes:
            return Finding("settings", False, clashes)
    key = shell.settings.model.api_key_env
    held = "is set" if shell.environ.get(key, "").strip() else "is not set"
    return Finding(
        "settings",
        True,
        f"Valid; the {provider} provider answers. {why} {key} {held}.".replace("  ", " "),
    )


def _directory(name: str, place: Path) -> Finding:
    try:
        info = place.stat()
    except FileNotFoundError:
        return Finding(name, True, f"{place} is not there yet; it is made when first needed.")
    except OSError as error:
        return Finding(name, False, f"{place}: {reason_of(error)}.")
    if not stat.S_ISDIR(info.st_mode):
        return Finding(name, False, f"{place} is not a directory; move it away.")
    if info.st_uid != os.getuid():
        return Finding(name, False, f"{place} is owned by someone else; give it to yourself.")
    if info.st_mode & 0o077:
        text = f"{place} can be read by others; run: chmod 700 {place}"
        return Finding(name, False, text, lambda: close_to_others([Seen(place, place.lstat())]))
    if not os.access(place, os.W_OK | os.X_OK):
        return Finding(name, False, f"{place} cannot be written.")
    return Finding(name, True, f"{place} is private and can be written.")


def _search() -> Finding:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return Finding(
            "search",
            False,
            f"SQLite {sqlite3.sqlite_version} has no FTS5; searching reads every record.",
        )
    finally:
        connection.close()
    return Finding("search", True, f"SQLite {sqlite3.sqlite_version} with FTS5.")


def _records(shell: Shell) -> list[Finding]:
    try:
        stats = shell.surfaces.records.stats()
    except MunimentError as error:
        return [Finding("records", False, error.sentence)]
    rows = [Finding("records", True, f"Distinct records: {stats.distinct}, in scopes: {len(stats.chain)}.")]
    rows += [
        Finding("records", False, f"{each.directory} is excluded: {each.reason}.") for each in stats.excluded
    ]
    rows += [Finding("records", False, f"{each.path} is skipped: {each.reason}.") for each in stats.skipped]
    rows += [Finding("records", False, text) for each in stats.chain for text in each.scope.warnings]
    return rows + [Finding("project", False, text) for text in _project_faults(shell)]


def _project_faults(shell: Shell) -> Iterator[str]:
    from muniment.memory.records.project import project_fault

    for scope in shell.surfaces.records.chain().scopes:
        fault = project_fault(scope.directory) if scope.kind == "project" else None
        if fault is not None:
            yield fault


def _user(shell: Shell) -> list[Finding]:
    try:
        index = shell.surfaces.user.index()
    except MunimentError as error:
        return [Finding("user", False, error.sentence)]
    rows = [Finding("user", True, f"{len(index.entries)} entries of user memory.")]
    return rows + [
        Finding("user", False, f"{each.path} is left out: {each.reason}.") for each in index.problems
    ]


def _journal(shell: Shell) -> Finding:
    if shell.surfaces.journal.is_link():
        place = shell.paths.journal
        return Finding("journal", False, f"{place} is a symbolic link: nothing is written to memory so.")
    try:
        lines = shell.surfaces.journal.lines()
    except (MunimentError, OSError) as error:
        why = sentence_of(error)
        return Finding("journal", False, f"The journal in {shell.paths.journal} cannot be read: {why}")
    torn = shell.surfaces.journal.unreadable()
    if torn:
        number = "1 line" if torn == 1 else f"{torn} lines"
        text = f"{number} of the journal in {shell.paths.journal} cannot be read; passed over."
        return Finding("journal", False, text)
    return Finding("journal", True, f"{len(lines)} writes are kept in {shell.paths.journal}.")


def _terminal(shell: Shell) -> Finding:
    term = shell.environ.get("TERM", "")
    if not shell.has_terminal:
        return Finding("terminal", True, "Not a terminal; use run --prompt here.")
    if term in ("", "dumb"):
        return Finding("terminal", False, f"TERM is {term or 'not set'}: the screen cannot be drawn.")
    encoding = (sys.stdout.encoding or "").lower()
    if encoding not in ("utf-8", "utf8"):
        text = f"The terminal's encoding is {encoding or 'not known'}; set LANG to a UTF-8 locale."
        return Finding("terminal", False, text)
    size = os.get_terminal_size(sys.stderr.fileno())
    return Finding("terminal", True, f"TERM is {term}, {size.columns} by {size.lines} cells, {encoding}.")


def _report(findings: list[Finding], arguments: argparse.Namespace, shell: Shell) -> int:
    rows = [_mended_or_not(each) if arguments.fix else (each, False) for each in findings]
    good = all(each.ok for each, _ in rows)
    if arguments.json:
        listed = [
            {
                "name": each.name,
                "ok": each.ok,
                "text": each.text,
                "fixed": fixed,
                "fixable": each.fix is not None,
            }
            for each, fixed in rows
        ]
        shell.json({"ok": good, "findings": listed})
        return OK if good else FAILED
    for each, fixed in rows:
        mark = "FIXED" if fixed else "ok" if each.ok else "WRONG"
        shell.out(f"{mark:<7} {each.name:<9} {each.text}")
    if any(each.fix is not None for each, _ in rows):
        shell.note("--fix puts right what can be put right without harm.")
    return OK if good else FAILED


def _mended_or_not(finding: Finding) -> tuple[Finding, bool]:
    """Put one thing right where that is for us, and say what was done or why not."""
    if finding.fix is None:
        return finding, False
    try:
        return Finding(finding.name, True, f"{finding.text} {finding.fix()}"), True
    except (MunimentError, OSError) as error:
        why = sentence_of(error)
        return Finding(finding.name, False, f"{finding.text} That could not be put right: {why}"), False
