"""sqlite-utils: a table with full-text search and no files at all."""

from __future__ import annotations

from common import CHANGED, CHANGED_AT, arguments, quantiles, report, texts, timed
from sqlite_utils import Database

source, place = arguments()
memories, questions = texts(source)
database = Database(str(place / "memories.db"))
table = database["memories"]


def fill() -> None:
    table.insert_all(memories, pk="id")
    table.enable_fts(["title", "body"], tokenize="porter", create_triggers=True)


def asked(question: str) -> str:
    return " OR ".join(f'"{word}"' for word in question.split())


ingest = timed(fill)
resync = timed(lambda: table.update(memories[CHANGED_AT]["id"], {"body": CHANGED}))
warm = quantiles(
    [timed(lambda question=question: list(table.search(asked(question), limit=10))) for question in questions]
)
report(ingest=ingest, resync=resync, **warm)
