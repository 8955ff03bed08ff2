"""A request taken apart for a person: its blocks against their bounds, and why each memory was chosen.

Everything is read from the assembly that is sent, or would be sent; nothing is looked up a second time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.session.holdings.items import numbered
from muniment.session.request.blocks import ORDER, Block
from muniment.session.request.context import Assembly
from muniment.session.request.estimate import Limits, wire_items
from muniment.session.request.recalled import ALERT_TITLE

if TYPE_CHECKING:
    from muniment.memory.recall.pack import RecalledRow
    from muniment.session.recipes.recipe import Recipe
    from muniment.settings import Settings

BAR_CELLS = 24
TITLES = {
    "pinned": "Pinned",
    "digest": "Digest of records",
    "user_memory": "User memory",
    "pack": "Recalled pack",
    "team_notes": "Team notes",
    "notebook": "Notebook",
    "summary": "Summary",
}
_ABSENT = {
    "pinned": "nothing is pinned",
    "digest": "no record here when the session began",
    "user_memory": "no entry, or the recipe takes none",
    "team_notes": "none, or the pack stands for them",
    "notebook": "none for this agent, or the pack stands for it",
    "summary": "nothing was summarised yet",
}
_NO_PACK = {
    "off": "recall is off",
    "shadow": "recall is in shadow: it chooses and is noted, and nothing of it is sent",
    "on": "recall found nothing that fits",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """What a block may hold at most, and how much of that is used, both in `unit`."""

    used: int
    most: int
    unit: str

    @property
    def words(self) -> str:
        return f"{self.used:,} of {self.most:,} {self.unit}"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a request; `text` is what the model receives of it, whole."""

    key: str
    title: str
    amount: str
    text: str = ""
    bounds: tuple[Bound, ...] = ()
    about: str = ""
    rows: tuple[RecalledRow, ...] = ()
    present: bool = True


@dataclass(frozen=True, slots=True)
class Inspected:
    """A request in parts, with its size against the budget in words."""

    heading: str
    parts: tuple[Part, ...]
    estimate: int
    budget: int
    trigger: int
    raw: str
    notices: tuple[str, ...] = ()

    @property
    def bar(self) -> str:
        """How full the request is, as a bar."""
        return bar(self.estimate, self.budget)

    @property
    def words(self) -> str:
        """The same in words."""
        share = round(100 * self.estimate / max(self.budget, 1))  # as the status line rounds it
        standing = (
            "over the budget: it cannot be sent"
            if self.estimate > self.budget
            else f"a summary is made above {self.trigger:,}"
            if self.estimate <= self.trigger
            else f"above {self.trigger:,}, so a summary is made first"
        )
        return f"{self.estimate:,} of {self.budget:,} tokens ({share} %); {standing}"


def bar(used: int, most: int, cells: int = BAR_CELLS) -> str:
    """Draw a share as a bar in which something is seen as soon as something is used."""
    full = min(cells, cells * used // max(most, 1))
    if used > 0:
        full = max(1, full)
    return "█" * full + "░" * (cells - full)


def inspect(
    assembly: Assembly, heading: str, *, limits: Limits, settings: Settings, recipe: Recipe, retrieval: str
) -> Inspected:
    """Take a request apart; `retrieval` is `on`, `off` or `shadow`, as it was for this request."""
    by_name = {each.name: each for each in assembly.blocks}
    request = assembly.request
    parts = [
        Part(
            "instructions",
            "Instructions",
            _bytes(request.instructions),
            request.instructions,
            about="SOUL.md, the recipe, how memory works here, skills: what the model is told to do.",
        )
    ]
    for name in ORDER:
        block = by_name.get(name)
        if block is None:
            why = _no_pack(assembly, retrieval) if name == "pack" else _ABSENT[name]
            parts.append(Part(name, TITLES[name], f"absent: {why}", present=False))
        else:
            parts.append(_block_part(block, limits, settings, recipe))
    parts.append(_conversation(assembly))
    tools = [{"name": each.name, "description": each.description} for each in request.tools]
    parts.append(
        Part(
            "tools",
            "Tools",
            numbered(len(tools), "tool"),
            "\n\n".join(f"{each['name']}\n  {each['description']}" for each in tools),
            about="What the model may ask for; each call is judged by the mode and by you.",
        )
    )
    raw = json.dumps(assembly.as_dict(), ensure_ascii=False, indent=2)
    return Inspected(
        heading, tuple(parts), assembly.estimate, assembly.budget, limits.trigger, raw, assembly.notices
    )


def _no_pack(assembly: Assembly, retrieval: str) -> str:
    failed = any(each.startswith(ALERT_TITLE) for each in assembly.notices)
    return "recall failed, as said above" if failed else _NO_PACK.get(retrieval, _NO_PACK["off"])


def _block_part(block: Block, limits: Limits, settings: Settings, recipe: Recipe) -> Part:
    bounds = _bounds(block, limits, settings, recipe)
    items = numbered(block.items, "item")
    amount = f"{items}, {bounds[-1].words}" if bounds else f"{items}, {block.bytes:,} bytes"
    fenced = f"fenced as {block.source}" if block.fenced else "the model's own words, not fenced"
    return Part(
        block.name,
        TITLES[block.name],
        amount,
        block.render(),
        bounds,
        f"{items}; {fenced}.",
        block.rows,
    )


def _bounds(block: Block, limits: Limits, settings: Settings, recipe: Recipe) -> tuple[Bound, ...]:
    from muniment.memory.records import digest
    from muniment.memory.team.pinned import MAX_UNITS, units
    from muniment.memory.user.index import MAX_ENTRIES, MAX_INDEX_BYTES
    from muniment.session.request.team_blocks import FILE_MAX_BYTES

    size = block.bytes
    match block.name:
        case "pinned":
            return (Bound(units(block.text), MAX_UNITS, "units"),)
        case "digest":
            return (
                Bound(block.items, digest.MAX_ENTRIES, "records"),
                Bound(size, digest.MAX_BYTES, "bytes"),
            )
        case "user_memory":
            return Bound(block.items, MAX_ENTRIES, "entries"), Bound(size, MAX_INDEX_BYTES, "bytes")
        case "pack":
            policy, retrieval = recipe.memory, settings.retrieval
            rows = retrieval.top_k if policy.top_k is None else policy.top_k
            most = retrieval.max_bytes if policy.max_bytes is None else policy.max_bytes
            return Bound(block.items, rows, "memories"), Bound(size, most, "bytes")
        case "summary":
            return (Bound(size, limits.reserve, "bytes"),)
        case _:
            return (Bound(size, FILE_MAX_BYTES, "bytes"),)


def _conversation(assembly: Assembly) -> Part:
    shown = assembly.as_dict()["input"]
    # The memory message stands first where there are blocks; its blocks are parts of their own here.
    said = shown[1:] if assembly.blocks and len(shown) and shown[0]["role"] == "assistant" else shown
    size = sum(len(str(each).encode("utf-8", "replace")) for each in wire_items(assembly.request.items))
    text = "\n\n".join(f"── {each['role']} ──\n{each['content']}" for each in said)
    amount = numbered(len(said), "message")
    return Part(
        "conversation",
        "Conversation",
        amount,
        text,
        about=f"What was said and done, oldest first. Input in all, memory included: {size:,} bytes.",
    )


def row_words(row: RecalledRow) -> str:
    """Say why a memory was chosen: what each part added to its score, the largest first."""
    parts = sorted(row.parts.as_dict().items(), key=lambda each: -each[1])
    return " + ".join(f"{name} {value:.3f}" for name, value in parts if value)


def _bytes(text: str) -> str:
    return f"{len(text.encode('utf-8', 'replace')):,} bytes"
