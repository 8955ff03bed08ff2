"""The tour: one finding followed from the task that made it to the request that carries it, with sample data.

Nothing here reads or writes memory; what can be shown by the real functions is shown by them.
"""

from __future__ import annotations

from dataclasses import dataclass

from muniment.safety.fence import fence

FINDING = "Sheet 14 was counted twice: once by each coder. Totals before 27 November are one too high."


@dataclass(frozen=True, slots=True)
class Step:
    """One stop: what happens, what it looks like there, and who can see it."""

    title: str
    text: str
    exhibit: str
    caption: str
    """What the exhibit is: a file, a call, a table."""
    sees: str


def steps() -> tuple[Step, ...]:
    """Return the stops in order."""
    return (
        Step(
            "A task finds something",
            "An agent that checks coding sheets notices a double count. At the end of its task it reports, "
            "once, with a number that only this task was told; a report without it is kept in the log and "
            "used for nothing.",
            f"task_report\n  outcome   success\n  summary   Checked sheets 1 to 40.\n  findings  {FINDING}",
            "the call of the tool",
            "You, in the session. Memory has not changed.",
        ),
        Step(
            "It becomes a note in the inbox",
            "A report of success leaves one note. The inbox is a queue, not memory: nothing in it reaches a "
            "model. You add notes yourself with /note.",
            "agent: sheet-checker\ndate: 2026-11-28T10:00:00Z\nproject: pilot-study\nsource: task\n\n"
            + FINDING,
            "a file in notes/inbox/",
            "You, in the memory panel and in the review.",
        ),
        Step(
            "It waits until there is enough",
            "At five notes a consolidation is offered. You may hold a note back, or promote one to the "
            "knowledge base at once. Without you nothing moves on.",
            "2 things wait\n\n● Consolidate 5 notes    inbox 5 of 5\n● Sweep: 1 entry is stale",
            "the review (F4)",
            "You.",
        ),
        Step(
            "You see what it would become",
            "The preview shows the digest that would go into the team notes, and for each note its category, "
            "its notebook and its row in the ledger. The digest can be changed before anything is decided.",
            "sheet 14 counted twice\n  finding · notebook of sheet-checker · row in the ledger\n"
            "how to file a late sheet\n  procedure · knowledge base · row in the ledger",
            "the preview",
            "You. Still nothing is written.",
        ),
        Step(
            "You approve it, as a whole",
            "The same dialog as for every write to memory: it opens disarmed, arms after a pause, and shows "
            "the difference. Approving a batch makes nothing more trusted than it was.",
            "  ## 2026-11-28\n- Totals of the first round stand.\n"
            "+ Totals before 27 November are one too high:\n+ sheet 14 was counted twice.",
            "notes.md, as a difference",
            "You, until the end of the text has been on the screen.",
        ),
        Step(
            "It is filed where it belongs",
            "The digest goes to the team notes, the finding to the notebook of the agent that made it, "
            "procedures and reference to the knowledge base. The notes themselves are kept in an archive.",
            "notes.md                            one section more\n"
            "knowledge/agents/sheet-checker.md   one entry more\n"
            "notes/                              five notes archived",
            "the files of the workspace",
            "Requests in this workspace; the notebook, that agent only.",
        ),
        Step(
            "It gets a row in the ledger",
            "The ledger holds the same finding in a form that can be ranked: type, scope, trust, status. "
            "Trust says who wrote it. Writing the same again changes nothing.",
            "M-0031\n  title   Sheet 14 was counted twice\n  scope   project pilot-study\n"
            "  trust   agent\n  status  active",
            "a row of the ledger",
            "You: in the memory panel, or with muniment ledger show.",
        ),
        Step(
            "The next task asks for it",
            "Days later somebody writes: are the totals of round one right? Everything that could fit is "
            "scored by words, scope, trust, files, age and importance; the few best are taken.",
            _scores(),
            "scores, as the context inspector shows them (F5)",
            "You: why each row was chosen stands beside it.",
        ),
        Step(
            "It reaches the model, as data",
            "The pack is bounded, and fenced: the text cannot end its fence or pass for an instruction, and "
            "it names its source. It grants nothing.",
            fence("ledger M-0031", FINDING),
            "as the request carries it",
            "The model, in this one request.",
        ),
        Step(
            "And it can be wrong",
            "A newer finding from the same source takes its place; the old one stays readable as superseded. "
            "You can retract a row at any time, and take that back. Every step is in the journal.",
            "M-0031  active → superseded by M-0044\n"
            "M-0044  active   Sheet 14 was removed on 27 November;\n"
            "                 totals are right since then.",
            "the ledger, a week later",
            "You: in the memory panel, or with muniment ledger show.",
        ),
    )


def _scores() -> str:
    rows = (
        ("", "words", "scope", "trust", "files", "age", "sum"),
        ("sheet 14 counted twice", "0.41", "0.20", "0.10", "0.08", "0.07", "0.86"),
        ("late sheets are void", "0.12", "0.20", "0.15", "0.00", "0.06", "0.53"),
    )
    return "\n".join(f"{name:<23}" + "".join(f"{part:>6}" for part in parts) for name, *parts in rows)
