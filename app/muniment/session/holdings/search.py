"""One search over everything that is remembered, ranked together, with what counts told from what does not.

Records and ledger rows come from their own indexes; the other surfaces are small enough to be read. All that
may match is then ranked anew with one measure, so that a hit of one surface can be compared with one of
another. What is not in effect counts half and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from muniment.memory.recall.matching import Matcher
from muniment.memory.recall.query import Query, build_query
from muniment.memory.recall.score import Corpus, Scorer, corpus_of, telling
from muniment.memory.recall.snippet import Snippet, make_snippet
from muniment.memory.records.listing import Listed
from muniment.memory.records.scan import read_bodies
from muniment.safety.errors import MunimentError, sentence_of
from muniment.session.holdings.items import KINDS, Item, Kind
from muniment.session.holdings.reading import record_item
from muniment.session.holdings.team import row_item

if TYPE_CHECKING:
    from muniment.memory.surfaces import Surfaces

Scope = Literal["everywhere", "project", "global"]
SCOPES: tuple[Scope, ...] = ("everywhere", "project", "global")
LIMIT = 100
CANDIDATES = 100
"""So many of the best records and of the best ledger rows are ranked among all."""
WEIGHTS = (3.0, 2.0, 1.0)
"""What a word in name and title, in labels, and in the text is worth."""
NOT_IN_EFFECT = 0.5
ALL_KINDS: frozenset[Kind] = frozenset(KINDS)


@dataclass(frozen=True, slots=True)
class Ask:
    """What is looked for, and where; `everything` adds what is overridden, expired, held or retracted.

    While somebody is `typing`, a last word that nothing follows finds longer words that begin with it, too.
    """

    text: str
    kinds: frozenset[Kind] = ALL_KINDS
    scope: Scope = "everywhere"
    everything: bool = False
    typing: bool = False

    @property
    def query(self) -> Query:
        """What is looked for, as a query."""
        return build_query(self.text, typing=self.typing)


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found; spans mark the words found in title and snippet."""

    item: Item
    score: float
    title_spans: tuple[tuple[int, int], ...]
    snippet: Snippet
    scope: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first; `searched` counts what was looked at by kind, `cut` tells that more may match."""

    ask: Ask
    hits: tuple[Hit, ...] = ()
    searched: dict[Kind, int] = field(default_factory=dict)
    cut: bool = False
    notices: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.searched.values())


@dataclass(frozen=True, slots=True)
class _Text:
    """One text that may match."""

    item: Item
    labels: str
    body: str
    scope: str


class Stopped(Exception):  # noqa: N818 - named for what it says
    """The search was given up, because another one is wanted."""


@dataclass(slots=True)
class _Gathered:
    texts: list[_Text] = field(default_factory=list)
    searched: dict[Kind, int] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    cut: bool = False


def search_all(surfaces: Surfaces, ask: Ask, *, stopped: Callable[[], bool] = lambda: False) -> Answer:
    """Search every surface that is asked for; `stopped` is looked at between steps and ends in `Stopped`."""
    query = ask.query
    if not query:
        return Answer(ask)
    found = _Gathered()
    for step in (_records, _ledger, _files):
        if stopped():
            raise Stopped
        try:
            step(surfaces, ask, found)
        except (MunimentError, OSError) as error:
            # One surface that cannot be read hides no other.
            found.notices.append(sentence_of(error))
    if stopped():
        raise Stopped
    hits = _rank(query, found)
    kept = [each for each in hits if ask.everything or not each.item.state]
    if query.cut:
        found.notices.append("Only the first words of the search were used.")
    return Answer(
        ask, tuple(kept[:LIMIT]), found.searched, found.cut or len(kept) > LIMIT, tuple(found.notices)
    )


def _rank(query: Query, found: _Gathered) -> list[Hit]:
    scorer = Scorer(query, WEIGHTS)
    tallies = [
        scorer.tally((f"{each.item.id} {each.item.title}", each.labels, each.body)) for each in found.texts
    ]
    counted = corpus_of(tallies, len(query.terms))
    size = max(sum(found.searched.values()), counted.size)
    asked, corpus = telling(query, Corpus(size, counted.mean_length, counted.frequencies))
    if asked is not query:
        scorer = Scorer(asked, WEIGHTS)
        tallies = [
            scorer.tally((f"{each.item.id} {each.item.title}", each.labels, each.body))
            for each in found.texts
        ]
    matcher = Matcher(asked)
    hits: list[Hit] = []
    for text, tally in zip(found.texts, tallies, strict=True):
        score = scorer.score(tally, corpus) if tally else 0.0
        if score <= 0:
            continue
        if text.item.state:
            score *= NOT_IN_EFFECT
        spans = tuple((start, end) for start, end, _ in matcher.match(text.item.title).spans)
        hits.append(Hit(text.item, score, spans, make_snippet(text.body, tally.spans), text.scope))
    return sorted(hits, key=lambda each: (-each.score, each.item.kind, each.item.id, each.item.place))


def _records(surfaces: Surfaces, ask: Ask, found: _Gathered) -> None:
    if "record" not in ask.kinds:
        return
    result = surfaces.records.search(
        ask.query,
        scope=None if ask.scope == "everywhere" else ask.scope,
        limit=CANDIDATES,
        include_overridden=ask.everything,
    )
    found.searched["record"] = result.searched
    found.cut = found.cut or result.truncated
    if result.notice:
        found.notices.append(result.notice)
    bodies = {id(meta): record.content for meta, record in read_bodies([hit.meta for hit in result.hits])}
    for hit in result.hits:
        body = bodies.get(id(hit.meta))
        if body is not None:
            meta = hit.meta
            item = record_item(Listed(meta, hit.effective, hit.expired, hit.overridden_by))
            labels = f"{meta.category} {' '.join(meta.tags)}"
            found.texts.append(_Text(item, labels, body, meta.scope.label))


def _ledger(surfaces: Surfaces, ask: Ask, found: _Gathered) -> None:
    if "ledger" not in ask.kinds:
        return
    from muniment.memory.ledger.row import Places

    places = Places(surfaces.team.scope_key, any_agent=True)
    result = surfaces.ledger.search(ask.query, scopes=places, limit=CANDIDATES, all=ask.everything)
    found.searched["ledger"] = result.searched
    found.cut = found.cut or result.truncated
    if result.notice:
        found.notices.append(result.notice)
    for each in result.hits:
        row = each.row
        if ask.scope == "everywhere" or (row.scope_kind == "global") == (ask.scope == "global"):
            labels = f"{row.type} {row.trust} {' '.join((*row.tags, *row.paths))}"
            found.texts.append(_Text(row_item(row), labels, row.body, row_item(row).place))


def _files(surfaces: Surfaces, ask: Ask, found: _Gathered) -> None:
    """Take in user memory and the team's files, which are read whole."""
    for kind, scope, texts in _sources(surfaces):
        if kind not in ask.kinds or ask.scope not in ("everywhere", scope):
            continue
        read = list(texts())
        found.searched[kind] = len(read)
        found.texts += [
            _Text(item, f"{item.facts} {labels}", body, "every session" if kind == "user" else scope)
            for item, labels, body in read
        ]


Texts = Callable[[], Iterator[tuple[Item, str, str]]]


def _sources(surfaces: Surfaces) -> Iterator[tuple[Kind, str, Texts]]:
    team = surfaces.team
    scope = team.scope

    def user() -> Iterator[tuple[Item, str, str]]:
        place = str(surfaces.user.directory)
        for entry in surfaces.user.index().entries:
            item = Item("user", entry.name, entry.summary, place, ref=entry)
            yield item, entry.type, f"{entry.summary}\n{entry.details}" if entry.details else entry.summary

    def inbox() -> Iterator[tuple[Item, str, str]]:
        for note in team.inbox.list():
            state = "held" if note.held else ""
            facts = f"{note.agent} {note.date}"
            yield (
                Item("inbox", note.name, note.title, str(note.path.parent), state, facts=facts, ref=note),
                note.source,
                note.body,
            )

    def knowledge() -> Iterator[tuple[Item, str, str]]:
        now = surfaces.clock()
        for entry in team.knowledge.list():
            state = "expired" if entry.is_expired(now) else "held" if entry.held else ""
            item = Item(
                "knowledge", entry.name, entry.title, entry.category, state, facts=entry.category, ref=entry
            )
            yield item, f"{entry.type} {entry.agent}", entry.text

    def pinned() -> Iterator[tuple[Item, str, str]]:
        from muniment.memory.team.pinned import parse

        text = team.pinned.read()
        place = str(text.path)
        entries = parse(text.text)
        for entry in entries:
            yield Item("pinned", entry.title, entry.title, place, ref=entry), entry.level, entry.content
        if not entries and text.text.strip():
            yield Item("pinned", text.path.name, "the whole text", place), "", text.text

    def notes() -> Iterator[tuple[Item, str, str]]:
        path = team.notes.path
        for section in team.notes.sections():
            yield Item("notes", path.name, _heading(section), str(path)), "", _below(section)

    def notebooks() -> Iterator[tuple[Item, str, str]]:
        for agent in team.notebooks.agents():
            path = str(team.notebooks.path_of(agent))
            for entry in team.notebooks.entries(agent):
                yield Item("notebook", agent, _heading(entry), path), agent, _below(entry)

    yield "user", "global", user
    yield "inbox", scope, inbox
    yield "knowledge", scope, knowledge
    yield "pinned", scope, pinned
    yield "notes", scope, notes
    yield "notebook", scope, notebooks


def _heading(section: str) -> str:
    return section.split("\n", 1)[0].lstrip("# ").strip()


def _below(section: str) -> str:
    return section.partition("\n")[2].strip()
