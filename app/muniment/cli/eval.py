"""`muniment eval`: play cases through the engine and say which of them hold."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.cli.shell import FAILED, OK, Shell, positive
from muniment.safety.errors import NotFound

if TYPE_CHECKING:
    from muniment.evals.case import Case
    from muniment.evals.runner import Live, Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="a case file or a directory of them (default: those shipped)"
    )
    parser.add_argument("--live", action="store_true", help="also ask the configured model the live cases")
    parser.add_argument("--filter", metavar="S", help="only cases whose name holds this text")
    parser.add_argument(
        "--runs", type=positive, metavar="N", help="runs of each case (default: 1, and 3 of a live one)"
    )
    parser.add_argument("--out", metavar="DIR", help="write a report with the log of every session there")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(action=run)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Run the cases; exit code 1 where one of them fails."""
    from muniment.evals.case import load_cases, shipped_cases
    from muniment.evals.report import as_dict, totals, write_report
    from muniment.evals.runner import run_cases

    cases = load_cases(Path(arguments.path) if arguments.path else shipped_cases())
    if arguments.filter is not None:
        wanted = arguments.filter.casefold()
        cases = [each for each in cases if wanted in each.name]
        if not cases:
            raise NotFound(f"No case has {arguments.filter!r} in its name.")
    live, model = _live(shell) if arguments.live and any(each.live for each in cases) else (None, "")
    table = _Table(shell, silent=arguments.json)
    results = asyncio.run(
        run_cases(
            cases,
            shell.environ,
            live=live,
            runs=arguments.runs,
            keep_logs=arguments.out is not None,
            progress=table.progress,
            done=table.done,
        )
    )
    if arguments.out is not None:
        write_report(shell.cwd / arguments.out, results, model)
    if arguments.json:
        from muniment.safety.redact import redact_value

        shell.json(redact_value(as_dict(results, model)))
    else:
        shell.out(totals(results))
        if arguments.out is not None:
            shell.note(f"The report is in {arguments.out}.")
    return FAILED if any(each.status == "failed" for each in results) else OK


def _live(shell: Shell) -> tuple[Live, str]:
    from muniment.evals.runner import Live
    from muniment.settings import effective_provider

    provider, why = effective_provider(shell.settings, shell.environ)
    if why:
        shell.note(why)
    name = shell.settings.model.name or ""
    return Live(shell.settings, shell.environ), f"{provider} {name}".strip()


class _Table:
    """The table as it grows; on a terminal a line that is written over says what runs now."""

    def __init__(self, shell: Shell, *, silent: bool) -> None:
        self._shell = shell
        self._silent = silent
        self._begun = False
        self._moving = sys.stderr.isatty()

    def progress(self, case: Case, number: int, runs: int) -> None:
        if self._moving:
            which = f", run {number} of {runs}" if runs > 1 else ""
            sys.stderr.write(f"\r\x1b[2K… {case.name}{which}")
            sys.stderr.flush()

    def done(self, result: Result) -> None:
        from muniment.evals.report import HEADER, row

        if self._moving:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
        if self._silent:
            return
        if not self._begun:
            self._shell.out(HEADER)
            self._begun = True
        for line in row(result):
            self._shell.out(line)
        sys.stdout.flush()
