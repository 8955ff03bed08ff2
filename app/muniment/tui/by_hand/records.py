"""Records by hand: edited in the user's own editor, deleted and moved through the dialog."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.approval.proposal import Change, Field, Proposal
from muniment.approval.proposal import Warning as ReviewWarning
from muniment.memory.records.listing import Found, Listed
from muniment.memory.records.plans import DeletePlan, ScopeWord, StorePlan
from muniment.memory.records.scope import Scope, ScopeChain
from muniment.safety.errors import MunimentError
from muniment.session.holdings.items import Item
from muniment.tui.by_hand.door import asker_of, decide, done, fault, origin_of

if TYPE_CHECKING:
    from muniment.session.engine import Engine
    from muniment.tui.app import MunimentApp


@dataclass(frozen=True, slots=True)
class MovePlan:
    """One act of two writes: the copy in its new scope first, so that no moment is without one."""

    store: StorePlan
    delete: DeletePlan
    reason: str


def _listed(item: Item) -> Listed:
    if not isinstance(item.ref, Listed):
        raise TypeError("an item of kind record stands for a record")
    return item.ref


async def _find(engine: Engine, item: Item) -> Found:
    meta = _listed(item).meta
    return await asyncio.to_thread(engine.surfaces.records.get_at, meta.id, meta.scope.directory)


async def delete(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Delete one copy, through the same dialog as a model's deletion."""
    from muniment.tools.record_proposals import delete_proposal

    records = engine.surfaces.records
    found = await _find(engine, item)
    plan = await asyncio.to_thread(records.plan_delete_at, found)
    decision = await decide(app, delete_proposal("memory panel", plan, f"hand-{item.id}", asker_of(engine)))
    if not decision.allowed:
        return
    outcome = await asyncio.to_thread(records.commit, plan, origin_of(engine))
    now = outcome.now_effective
    counts = "No copy counts now." if now is None else f"The copy in {now.directory} counts now."
    done(
        app,
        f"Deleted {outcome.id} from {outcome.scope.directory}. {counts} /undo brings it back.",
        f"deleted {outcome.id}",
    )


async def edit(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Edit one copy in the user's editor; what comes back is checked before it is written."""
    from muniment.tui.editor import edit_checked

    records = engine.surfaces.records
    found = await _find(engine, item)
    plan = await edit_checked(app, f"{item.id}.yaml", found.data, lambda data: records.plan_edit(found, data))
    if plan is not None:
        outcome = await asyncio.to_thread(records.commit, plan, origin_of(engine))
        done(
            app,
            f"Wrote {outcome.id} in {outcome.scope.directory}. /undo takes it back.",
            f"edited {outcome.id}",
        )


async def move(app: MunimentApp, engine: Engine, item: Item) -> None:
    """Put a copy into another scope and take it out of its own, as one act with one approval."""
    found = await _find(engine, item)
    chain = await asyncio.to_thread(engine.surfaces.records.chain)
    targets = _targets(chain, found.scope)
    if not targets:
        fault(app, f"There is no other scope to move {item.id} to: work in a project for one.")
        return
    word: ScopeWord | None = targets[0][0]
    if len(targets) > 1:
        from muniment.tui.modals.choose import Choose

        about = "\n".join(f"{each}: {place}" for each, _, place in targets)
        words = [each for each, _, _ in targets]
        answer = await app.push_screen_wait(Choose(f"Move {item.id}", about, words, words[0]))
        word = next((each for each in words if each == answer), None)
    if word is None:
        return
    plan = await asyncio.to_thread(_plan_move, engine, found, word)
    decision = await decide(app, _move_proposal(engine, plan))
    if not decision.allowed:
        return
    await asyncio.to_thread(_commit_move, engine, plan)
    done(
        app,
        f"Moved {item.id} from {plan.delete.scope.directory} to {plan.store.scope.directory}. "
        "/undo takes both back.",
        f"moved {item.id}",
    )


def _targets(chain: ScopeChain, scope: Scope) -> list[tuple[ScopeWord, str, str]]:
    """Return where a copy may go: word, label and directory."""
    found: list[tuple[ScopeWord, str, str]] = []
    deepest = chain.deepest_project
    if deepest is not None and deepest.directory != scope.directory:
        found.append(("project", "Project", str(deepest.directory)))
    everywhere = chain.global_scope
    if everywhere is not None and scope.kind != "global":
        found.append(("global", "Global", str(everywhere.directory)))
    return found


def _plan_move(engine: Engine, found: Found, word: ScopeWord) -> MovePlan:
    records = engine.surfaces.records
    store = records.plan_record(found.record, scope=word)
    if store.before is not None:
        raise MunimentError(
            f"{store.scope.directory} has a record {found.record.id} already; delete or rename one of them."
        )
    reason = f"move: {found.record.id} from {found.scope.directory} to {store.scope.directory}"
    return MovePlan(store, records.plan_delete_at(found), reason)


def _move_proposal(engine: Engine, plan: MovePlan) -> Proposal:
    from muniment.tools.record_proposals import store_proposal

    asker = asker_of(engine)
    shown = store_proposal("memory panel", plan.store, f"move-{plan.store.after.id}", asker)
    fields = [each for each in shown.fields if each.label not in ("scope", "mode of change")]
    places = (
        Field("from", f"{plan.delete.scope.label} — {plan.delete.scope.directory}"),
        Field("to", f"{plan.store.scope.label} — {plan.store.scope.directory}"),
        Field("mode of change", "move: written there, then deleted here"),
    )
    gone = tuple(
        ReviewWarning(each.kind, each.text, each.place)
        for each in plan.delete.warnings
        if each.kind != "ancestor"
    )
    return Proposal(
        id=shown.id,
        tool="memory panel",
        title="Move a record",
        fields=(fields[0], *places, *fields[1:]),
        plan=plan,
        change=Change("content", None, plan.store.after.content),
        warnings=shown.warnings + gone,
        coverage="This approval covers moving this one copy, once.",
        shown_later=shown.shown_later,
        asker=asker,
    )


def _commit_move(engine: Engine, plan: MovePlan) -> None:
    records = engine.surfaces.records
    origin = origin_of(engine, plan.reason, one_act=True)
    records.commit(plan.store, origin)
    try:
        records.commit(plan.delete, origin)
    except MunimentError as error:
        raise MunimentError(
            f"The copy in {plan.store.scope.directory} is written, that in {plan.delete.scope.directory} "
            f"still stands: {error.sentence} /undo takes the new copy back."
        ) from error
