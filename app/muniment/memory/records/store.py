"""The store of records for one working directory: reading, searching, and writing what was approved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, overload

from muniment.memory.origin import Origin, utc_now
from muniment.memory.records import planning
from muniment.memory.records.ids import derive_id, free_id
from muniment.memory.records.listing import Found, Stats
from muniment.memory.records.listing_store import ListedStore
from muniment.memory.records.plans import (
    DeleteOutcome,
    DeletePlan,
    DeleteRequest,
    InvalidRecord,
    PlanWarning,
    ScopeWord,
    StoreOutcome,
    StorePlan,
    StoreRefused,
    StoreRequest,
)
from muniment.memory.records.record import RECORD_FIELDS, Record, RecordFault, decode
from muniment.memory.records.scan import decode_reading, read_copy, record_path
from muniment.memory.records.scope import Scope, ScopeChain
from muniment.memory.records.times import expired, later, whole_seconds
from muniment.paths import Paths
from muniment.safety.errors import NotFound
from muniment.safety.files import digest

if TYPE_CHECKING:
    from muniment.memory.journal import Journal, Line
    from muniment.memory.journal_undo import Undone, UndoPlan

# What only search, plans and writes need is imported there: a list of records is wanted at every start.

MOST_SIMILAR = 3
"""How many similar records a plan names at most."""
READ_ALL_BELOW = 500
CANDIDATES = 20
SURFACE = "record"
"""The journal's word for writes to records."""


class RecordStore(ListedStore):
    """Records as seen from one working directory. Every answer comes from what stands on disk now."""

    def __init__(
        self, paths: Paths, cwd: Path, *, journal: Journal, clock: Callable[[], datetime] = utc_now
    ) -> None:
        super().__init__(paths, cwd, clock=clock)
        self.journal = journal
        self._tidied: set[Path] = set()
        self.before_undo: Callable[[UndoPlan], None] | None = None
        """Raises where something unfinished stands against taking a write back."""
        self.beside_undo: Callable[[UndoPlan, Origin], None] | None = None
        """What goes and comes with a write that is taken back, such as the row of a knowledge entry."""

    # Reading

    def get(self, record_id: str, scope: ScopeWord | None = None, *, expired: bool = False) -> Found:
        """Return the copy that counts: the deepest readable, unexpired one, within `scope` where given.

        With `expired` the deepest expired one where none counts. Raise `NotFound` with what stands in the
        way, `InvalidRecord` for no identifier or scope.
        """
        planning.check_id(record_id)
        planning.check_scope_word(scope)
        chain = self.chain()
        copies, unreadable = self._copies(chain, record_id)
        asked = [copy for copy in copies if scope in (None, copy.scope.kind)]
        for copy in asked:
            if not copy.expired:
                return copy
        if expired and asked:
            return asked[0]
        late = [str(copy.scope.directory) for copy in asked]
        where = f"the {scope} scope" if scope else "the scope chain"
        about = f"; expired: {', '.join(late)}" if late else ""
        about += planning.describe_unreadable(unreadable)
        raise NotFound(f"There is no record {record_id} in {where} of {chain.cwd}{about}.")

    def unreadable(self, record_id: str) -> list[tuple[Path, str]]:
        """Return the files of this id in the chain that cannot be read, with the reason."""
        planning.check_id(record_id)
        return self._copies(self.chain(), record_id)[1]

    def get_at(self, record_id: str, directory: Path) -> Found:
        """Return the copy in exactly one scope directory, expired or overridden or not; raise `NotFound`."""
        planning.check_id(record_id)
        chain = self.chain()
        copies, unreadable = self._copies(chain, record_id)
        for copy in copies:
            if copy.scope.directory == directory:
                return copy
        about = planning.describe_unreadable(unreadable)
        raise NotFound(f"There is no record {record_id} in {directory}{about}.")

    def reindex(self) -> Stats:
        """Make the search indexes of the chain anew from the files and return the counts."""
        self._catalog.rebuild(self.chain())
        return self.stats()

    # Planning

    def plan_store(self, request: StoreRequest, *, origin: Origin) -> StorePlan:
        """Look at the disk and say exactly what storing would do; nothing is written.

        Raise `InvalidRecord` or `RecordTooLarge` for what can never be stored and `StoreRefused` for what
        cannot be stored there.
        """
        planning.check_store(request)
        chain = self.chain()
        scope, new = planning.store_target(chain, request.scope)
        now = self.clock()
        # One that has yet to be made counts as well: by now another process may have made it.
        scopes = (*chain.scopes, scope)
        while True:
            record_id = request.id or free_id(
                derive_id(request.title), lambda name: self._taken(scopes, name)
            )
            before, data_before = self._current(scope, record_id)
            # A free name that another process took just now is no record that was meant.
            if request.id or data_before is None:
                break
        path = record_path(scope, record_id)
        after = planning.merge(request, record_id, before, _source(origin), now)
        warnings = planning.place_warnings(chain, scope, new)
        copies, _ = self._copies(chain, record_id)
        warnings += planning.override_warnings(copies, scope, chain, record_id)
        if before is None:
            warnings += self._similar(after)
        return planning.finish_plan(scope, path, before, after, data_before, warnings, now)

    def plan_edit(self, found: Found, data: bytes) -> StorePlan:
        """Plan to replace a copy by a whole record file that was edited by hand; times and source are set."""
        try:
            edited = decode(data, found.record.id, self.clock().timestamp())
        except RecordFault as fault:
            raise InvalidRecord(f"The edited text is no record: {fault}.") from fault
        now = self.clock()
        after = replace(
            edited,
            source="user",
            created_at=found.record.created_at,
            updated_at=later(whole_seconds(now), found.record.created_at),
        )
        chain = self.chain()
        warnings = planning.place_warnings(chain, found.scope, False)
        return planning.finish_plan(found.scope, found.path, found.record, after, found.data, warnings, now)

    def plan_record(self, record: Record, *, scope: ScopeWord, directory: Path | None = None) -> StorePlan:
        """Plan to write a whole record as it is, times and source and extra fields included.

        It goes to the project scope at `directory` where that is in the chain, else where a store goes.
        """
        planning.check_store(
            StoreRequest(record.title, record.content, record.id, record.category, record.tags, scope)
        )
        if not RECORD_FIELDS.isdisjoint(record.extras):
            raise InvalidRecord("An extra field has the name of a field of its own.")
        chain = self.chain()
        there = None if directory is None else chain.scope_at(directory)
        if there is not None and there.kind == scope == "project":
            target, new = planning.check_writable(there), False
        else:
            target, new = planning.store_target(chain, scope)
        before, data_before = self._current(target, record.id)
        warnings = planning.place_warnings(chain, target, new)
        path = record_path(target, record.id)
        return planning.finish_plan(target, path, before, record, data_before, warnings, self.clock())

    def plan_delete(self, request: DeleteRequest) -> DeletePlan:
        """Choose the one copy a deletion means; expired copies count, unreadable ones are named."""
        planning.check_id(request.id)
        planning.check_scope_word(request.scope)
        chain = self.chain()
        copies, unreadable = self._copies(chain, request.id)
        passed = planning.describe_unreadable(unreadable)
        target = next((each for each in copies if request.scope in (None, each.scope.kind)), None)
        if target is None:
            where = f"the {request.scope} scope" if request.scope else "the scope chain"
            raise NotFound(f"There is no record {request.id} in {where} of {chain.cwd}{passed}.")
        return self._deletion(chain, copies, target, unreadable)

    def plan_delete_at(self, found: Found) -> DeletePlan:
        """Plan to delete exactly the copy that was found, bound to the text that was seen then."""
        chain = self.chain()
        copies, _ = self._copies(chain, found.record.id)
        others = [each for each in copies if each.scope.directory != found.scope.directory]
        return self._deletion(chain, others, found, [])

    def _deletion(
        self, chain: ScopeChain, copies: list[Found], target: Found, unreadable: list[tuple[Path, str]]
    ) -> DeletePlan:
        heir = next((each for each in copies if each is not target and not each.expired), None)
        warnings = [PlanWarning("world-writable", text, "scope") for text in target.scope.warnings]
        if target.scope.kind == "project" and target.scope.directory.parent != chain.cwd:
            text = f"The scope directory {target.scope.directory} is an ancestor's, above {chain.cwd}."
            warnings.append(PlanWarning("ancestor", text, "scope"))
        notes: tuple[str, ...] = ()
        if unreadable:
            notes = (f"Passed over{planning.describe_unreadable(unreadable).removeprefix(';')}.",)
            warnings.append(PlanWarning("unreadable", notes[0], "identifier"))
        return DeletePlan(
            target.scope,
            target.path,
            target.record,
            target.digest,
            None if heir is None else heir.scope,
            tuple(warnings),
            notes,
        )

    # Writing

    @overload
    def commit(self, plan: StorePlan, origin: Origin) -> StoreOutcome: ...
    @overload
    def commit(self, plan: DeletePlan, origin: Origin) -> DeleteOutcome: ...

    def commit(self, plan: StorePlan | DeletePlan, origin: Origin) -> StoreOutcome | DeleteOutcome:
        """Do exactly what a plan says if its file is still what was seen, else raise `ChangedAfterApproval`.

        The journal has the text before on disk before the file changes; a crash leaves one file whole.
        """
        from muniment.memory.records.writing import commit_plan

        entry = commit_plan(self.journal, plan, origin, self.paths.data, self._tidied)
        if isinstance(plan, StorePlan):
            return StoreOutcome(plan.after.id, plan.created, plan.scope, plan.path, entry, plan.notes)
        copies, _ = self._copies(self.chain(), plan.before.id)
        heir = next((each.scope for each in copies if not each.expired), None)
        return DeleteOutcome(plan.before.id, plan.scope, plan.path, entry, heir, plan.notes)

    def history(self, item: str | None = None, *, surface: str | None = SURFACE) -> list[Line]:
        """Return the journalled writes of records in this chain, newest first; of one id with `item`.

        With another `surface` those of it, with None those of all and of user memory. Raise `InvalidRecord`
        where nothing of that name was ever written and no record could have it.
        """
        from muniment.memory.journal_undo import reaches

        places = [scope.directory for scope in self.chain().scopes]
        lines = [
            line
            for line in self.journal.lines()
            if item in (None, line.entry.item)
            and surface in (None, line.entry.surface)
            and reaches(line.entry, places)
        ]
        if not lines and item is not None:
            planning.check_id(item)
        return lines

    def plan_undo(self, *, session: str | None = None) -> UndoPlan:
        """Plan to take back the newest write of this chain and of user memory; see `journal_undo`."""
        from muniment.memory.journal_undo import plan_undo

        places = [scope.directory for scope in self.chain().scopes]
        plan = plan_undo(self.journal, places, session=session)
        if self.before_undo is not None:
            self.before_undo(plan)
        return plan

    def plan_restore(self, entry_id: str, item: str | None = None) -> UndoPlan:
        """Plan to bring back the text that stood before one journalled write, of `item` where given."""
        from muniment.memory.journal_undo import plan_restore

        places = [scope.directory for scope in self.chain().scopes]
        return plan_restore(self.journal, entry_id, places, item=item)

    def commit_undo(self, plan: UndoPlan, origin: Origin) -> Undone:
        from muniment.memory.journal_undo import commit_undo

        return commit_undo(self.journal, plan, origin, allows=self.before_undo, follows=self.beside_undo)

    # Parts

    def _copies(self, chain: ScopeChain, record_id: str) -> tuple[list[Found], list[tuple[Path, str]]]:
        """Read all copies of one id, deepest first, and name those that cannot be read."""
        now = self.clock()
        copies: list[Found] = []
        unreadable: list[tuple[Path, str]] = []
        for scope in reversed(chain.scopes):
            reading = read_copy(scope, record_id)
            if reading.absent:
                continue
            path = record_path(scope, record_id)
            record = decode_reading(reading, record_id)
            if isinstance(record, str) or reading.data is None:
                unreadable.append((path, str(record)))
                continue
            late = expired(record.expires_at, now)
            copies.append(Found(record, scope, path, digest(reading.data), reading.data, expired=late))
        winner = next((at for at, copy in enumerate(copies) if not copy.expired), None)
        if winner is None:
            return copies, unreadable
        shallower = copies[winner + 1 :]
        chosen = replace(copies[winner], overrides=tuple(each.scope for each in shallower))
        behind = [replace(each, overridden_by=chosen.scope) for each in shallower]
        return [*copies[:winner], chosen, *behind], unreadable

    def _current(self, scope: Scope, record_id: str) -> tuple[Record | None, bytes | None]:
        """Return the record a store would replace; refuse where a file stands there that is no record."""
        reading = read_copy(scope, record_id)
        if reading.absent:
            return None, None
        record = decode_reading(reading, record_id)
        if isinstance(record, str):
            path = record_path(scope, record_id)
            raise StoreRefused(
                f"{path} is no readable record ({record}) and is left alone; repair or move it first."
            )
        return record, reading.data

    def _taken(self, scopes: Iterable[Scope], record_id: str) -> bool:
        return any(os.path.lexists(record_path(scope, record_id)) for scope in scopes)

    def _similar(self, after: Record) -> list[PlanWarning]:
        """Name effective records that say nearly the same under another id."""
        from muniment.memory.records.similar import alike

        metas = [each.meta for each in self.snapshot().entries if each.meta.id != after.id]
        if len(metas) > READ_ALL_BELOW:
            # Reading every body takes too long here: the search knows which may be alike.
            asked = f"{after.title} {after.content[:400]}"
            near = {hit.meta.id for hit in self.search(asked, limit=CANDIDATES).hits}
            metas = [meta for meta in metas if meta.id in near or meta.title == after.title]
        return [
            PlanWarning(
                "similar",
                f"A similar record exists: {meta.id} in {meta.scope.label} ({meta.scope.directory}).",
                "identifier",
            )
            for meta in alike(after, metas, most=MOST_SIMILAR)
        ]


def _source(origin: Origin) -> str:
    return origin.actor if origin.actor in ("user", "import") else "agent"
