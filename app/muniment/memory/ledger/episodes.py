"""Episodes: one row of the ledger about how a task went, off by default and never a reason for it to fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muniment.memory.ledger.row import NewRow, Row, ScopeKind, one_line
from muniment.safety.errors import MunimentError
from muniment.safety.findings import findings
from muniment.safety.redact import redact

if TYPE_CHECKING:
    from muniment.memory.ledger.ledger import Ledger
    from muniment.memory.origin import Origin
    from muniment.settings import EpisodeSettings

MAX_ITEMS = 20
MAX_ITEM_CHARACTERS = 200
MAX_SUMMARY_CHARACTERS = 4_000
OUTPUT_IS_STRUCTURED = '"type":'
"""Output that holds this is a program's event stream, which says nothing to a reader."""
_INJECTION = frozenset(("orders", "hidden-characters"))


@dataclass(frozen=True, slots=True)
class Episode:
    """What is known of a task at its end. `project` is the project's stable id, None outside of any.

    `nonce_matched` False means that somebody else may have written the report. `output` is raw text that
    counts only where there is no summary.
    """

    outcome: str
    task: str
    agent: str
    session: str
    project: str | None = None
    summary: str = ""
    pr: str = ""
    failure_class: str = ""
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    output: str = ""
    nonce_matched: bool = True


def record_episode(
    ledger: Ledger,
    report: Episode,
    *,
    settings: EpisodeSettings,
    origin: Origin,
    secrets: Sequence[str] = (),
) -> Row | None:
    """Write the episode of a task and return its row, None where none is written.

    None is written where episodes are off, the report is not the task's own or reads like an order to a
    model, or the ledger cannot be written. `secrets` are known values that go wherever they stand.
    """
    if not settings.enabled or not report.nonce_matched or is_suspicious(report):
        return None
    clean = redacted(report, secrets)
    scope: ScopeKind = "global" if clean.project is None else "project"
    try:
        (row,) = ledger.upsert(
            [
                NewRow(
                    "episodic",
                    scope,
                    clean.project,
                    one_line(f"{clean.outcome}: {clean.task or clean.summary or clean.agent}")[:200],
                    body_of(clean),
                    "system",
                    f"episode:{clean.session}",
                    paths=clean.files,
                    tags=tuple(
                        dict.fromkeys(
                            each for each in (clean.outcome, clean.agent, clean.failure_class) if each
                        )
                    ),
                )
            ],
            origin,
        )
    except (MunimentError, OSError):
        # How a task ended does not depend on whether a note about it could be kept.
        return None
    return row


def is_suspicious(report: Episode) -> bool:
    """Tell whether anything in a report reads like an order to a model or hides characters."""
    texts = (report.task, report.summary, report.pr, report.failure_class, *report.files, *report.tests)
    fallback = "" if report.summary.strip() else report.output
    return any(found.kind in _INJECTION for text in (*texts, fallback) for found in findings(text))


def redacted(report: Episode, secrets: Sequence[str] = ()) -> Episode:
    """Return a report without secrets, its texts and lists in their bounds."""

    def clean(text: str, limit: int) -> str:
        # Cut last: half a secret has no format to know it by.
        return redact(text, secrets=secrets)[:limit]

    def items(given: Sequence[str]) -> tuple[str, ...]:
        return tuple(clean(one_line(each), MAX_ITEM_CHARACTERS) for each in given[:MAX_ITEMS])

    return replace(
        report,
        task=clean(one_line(report.task), MAX_ITEM_CHARACTERS),
        summary=clean(summary_of(report), MAX_SUMMARY_CHARACTERS),
        pr=clean(one_line(report.pr), MAX_ITEM_CHARACTERS),
        failure_class=clean(one_line(report.failure_class), MAX_ITEM_CHARACTERS),
        files=items(report.files),
        tests=items(report.tests),
        output="",
    )


def summary_of(report: Episode) -> str:
    """Return the report's summary, or the raw output where there is none and it is plain text."""
    if report.summary.strip():
        return report.summary
    return "" if OUTPUT_IS_STRUCTURED in report.output else report.output.strip()


def body_of(report: Episode) -> str:
    """Return the text of an episode, a line for each thing known."""
    known = (
        ("outcome", report.outcome),
        ("task", report.task),
        ("agent", report.agent),
        ("pr", report.pr),
        ("failure", report.failure_class),
        ("files", _listed(report.files)),
        ("tests", _listed(report.tests)),
        ("summary", report.summary),
    )
    return "\n".join(f"{name}: {value}" for name, value in known if value.strip())


def _listed(items: Sequence[str]) -> str:
    return ", ".join(each for each in items if each)
