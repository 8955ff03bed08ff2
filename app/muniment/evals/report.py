"""Numbers and texts from results: the object for programs, the table for people, the directory to keep."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import comb
from pathlib import Path
from typing import Any

from muniment.evals.runner import Result, Run
from muniment.model.base import Usage
from muniment.safety.errors import InvalidInput
from muniment.safety.files import ensure_private_dir, write_atomic
from muniment.safety.redact import redact, redact_value
from muniment.safety.visible import reading, reading_line
from muniment.session.logs.export import fenced


def pass_at(tries: int, passes: int, runs: int) -> float:
    """Return how likely at least one of so many tries passes, estimated from the passes of all runs."""
    return 1.0 - comb(runs - passes, tries) / comb(runs, tries)


def pass_all(tries: int, passes: int, runs: int) -> float:
    """Return how likely all of so many tries pass, estimated from the passes of all runs."""
    return comb(passes, tries) / comb(runs, tries)


def as_dict(results: Sequence[Result], model: str = "") -> dict[str, Any]:
    """Return the whole report as one JSON-like object; rates are from 0 to 1, absent ones null."""
    ran = [each for each in results if each.runs]
    counts = {word: sum(each.status == word for each in results) for word in ("passed", "failed", "skipped")}
    return {
        **counts,
        "model": model or None,
        "cases": [_case(each) for each in results],
        "pass_rate": _mean([each.passes / len(each.runs) for each in ran]),
        "usage": _sum([run.usage for each in ran for run in each.runs]).as_dict(),
        "seconds": round(sum(run.seconds for each in ran for run in each.runs), 3),
    }


def _case(result: Result) -> dict[str, Any]:
    runs, passes = len(result.runs), result.passes
    return {
        "name": result.case.name,
        "description": result.case.description,
        "path": str(result.case.path),
        "live": result.case.live,
        "status": result.status,
        "skipped": result.skipped or None,
        "pass_rate": passes / runs if runs else None,
        "pass_at_k": {str(k): round(pass_at(k, passes, runs), 6) for k in range(1, runs + 1)},
        "pass_hat_k": {str(k): round(pass_all(k, passes, runs), 6) for k in range(1, runs + 1)},
        "usage": _sum([each.usage for each in result.runs]).as_dict(),
        "runs": [_run(each) for each in result.runs],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "number": run.number,
        "passed": run.passed,
        "faults": list(run.faults),
        "checks": [
            {"grader": each.grader, "passed": each.passed, "detail": each.detail or None}
            for each in run.checks
        ],
        "requests": run.requests,
        "tool_calls": run.calls,
        "usage": run.usage.as_dict(),
        "seconds": round(run.seconds, 3),
        "final_text": run.final_text,
        "sessions": [session for session, _ in run.logs],
    }


def reasons(run: Run) -> Iterator[str]:
    """Yield why a run failed, one reason each: what did not fit the script, then what graders found."""
    yield from run.faults
    for each in run.checks:
        if not each.passed:
            yield f"{each.grader}: {each.detail}"


HEADER = f"{'':<5} {'case':<40} {'passed':>7} {'requests':>8} {'calls':>5} {'tokens':>7} {'seconds':>7}"


def row(result: Result) -> Iterator[str]:
    """Yield a case's line of the table, and below it why runs failed."""
    mark = {"passed": "ok", "failed": "FAIL", "skipped": "–"}[result.status]
    name = reading_line(result.case.name)
    if result.skipped:
        yield f"{mark:<5} {name:<40} skipped: {result.skipped}"
        return
    runs = result.runs
    tokens = _tokens(_sum([each.usage for each in runs]))
    yield (
        f"{mark:<5} {name:<40} {f'{result.passes}/{len(runs)}':>7} {sum(each.requests for each in runs):>8} "
        f"{sum(each.calls for each in runs):>5} {tokens:>7} {sum(each.seconds for each in runs):>7.2f}"
    )
    for run in runs:
        which = f"run {run.number}: " if len(runs) > 1 else ""
        yield from (f"      {which}{reading_line(why)}" for why in reasons(run))


def totals(results: Sequence[Result]) -> str:
    """Return the last line of the table."""
    ran = [each for each in results if each.runs]
    passed = sum(each.status == "passed" for each in ran)
    skipped = len(results) - len(ran)
    text = f"{passed} of {len(ran)} cases passed" + (f", {skipped} skipped" if skipped else "")
    most = max((len(each.runs) for each in ran), default=1)
    if most > 1:
        rate = _mean([each.passes / len(each.runs) for each in ran]) or 0.0
        every = [each for each in ran if len(each.runs) == most]
        at_least = _mean([pass_at(most, each.passes, most) for each in every]) or 0.0
        always = _mean([pass_all(most, each.passes, most) for each in every]) or 0.0
        text += f"; pass rate {rate:.0%}, pass@{most} {at_least:.0%}, pass^{most} {always:.0%}"
    return text + "."


def write_report(directory: Path, results: Sequence[Result], model: str = "") -> None:
    """Write `report.json`, `report.md` and one log for each session, secrets hidden; replace older ones."""
    if directory.exists() and not directory.is_dir():
        raise InvalidInput(f"{directory} is not a directory; name one for the report.")
    ensure_private_dir(directory)
    report = redact_value(as_dict(results, model))
    _put(directory / "report.json", json.dumps(report, ensure_ascii=False, indent=1) + "\n")
    _put(directory / "report.md", reading(redact("\n".join(_markdown(results, model)))) + "\n")
    logs = [
        (f"{result.case.name}-{run.number}-{session[:8]}.json", text)
        for result in results
        for run in result.runs
        for session, text in run.logs
    ]
    if logs:
        ensure_private_dir(directory / "sessions")
    for name, text in logs:
        _put(directory / "sessions" / name, text)


def _put(path: Path, text: str) -> None:
    write_atomic(path, text.encode("utf-8", "replace"), durable=False)


def _markdown(results: Sequence[Result], model: str) -> Iterator[str]:
    yield "# Evals"
    yield ""
    yield totals(results)
    if model:
        yield f"Live cases were asked of {model}."
    yield ""
    yield "| | case | passed | pass@k | pass^k | requests | calls | tokens | seconds |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for each in results:
        runs = len(each.runs)
        cells = [{"passed": "ok", "failed": "**FAIL**", "skipped": "–"}[each.status], each.case.name]
        if runs:
            cells += [
                f"{each.passes}/{runs}",
                f"{pass_at(runs, each.passes, runs):.0%}",
                f"{pass_all(runs, each.passes, runs):.0%}",
                str(sum(run.requests for run in each.runs)),
                str(sum(run.calls for run in each.runs)),
                _tokens(_sum([run.usage for run in each.runs])),
                f"{sum(run.seconds for run in each.runs):.2f}",
            ]
        else:
            cells += [each.skipped, *[""] * 6]
        yield f"| {' | '.join(cells)} |"
    for each in results:
        if each.status == "failed":
            yield from ("", f"## {each.case.name}", "", reading_line(each.case.description))
            for run in each.runs:
                if not run.passed:
                    yield from ("", f"Run {run.number}:", "")
                    yield from (f"- {_inline(why)}" for why in reasons(run))
                    yield from ("", "The last reply was:", "", fenced(run.final_text))


def _inline(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    line = reading_line(text)

    marks = "`" * (line.count("`") + 1)
    return f"{marks} {line} {marks}" if "`" in line else f"`{line}`"


def _tokens(usage: Usage) -> str:
    known = [each for each in (usage.input_tokens, usage.output_tokens) if each is not None]
    return str(sum(known)) if known else "–"


def _sum(usages: Sequence[Usage]) -> Usage:
    def total(values: list[int | None]) -> int | None:
        known = [each for each in values if each is not None]
        return sum(known) if known else None

    return Usage(
        total([each.input_tokens for each in usages]), total([each.output_tokens for each in usages])
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
