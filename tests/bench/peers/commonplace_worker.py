"""commonplace-agent-memory: the database is the authority."""

from __future__ import annotations

import asyncio

from common import CHANGED, CHANGED_AT, arguments, quantiles, report, texts, timed
from commonplace.store import Store

source, place = arguments()
memories, questions = texts(source)
loop = asyncio.new_event_loop()
store = Store(place / "commonplace.db")
loop.run_until_complete(store.open())


async def fill() -> None:
    for each in memories:
        await store.remember(
            scope="global",
            name=each["id"],
            type="project",
            description=each["title"],
            body=each["body"],
            author="bench",
        )


async def change() -> None:
    await store.update(scope="global", name=memories[CHANGED_AT]["id"], author="bench", body=CHANGED)


ingest = timed(lambda: loop.run_until_complete(fill()))
resync = timed(lambda: loop.run_until_complete(change()))
warm = quantiles(
    [
        timed(lambda question=question: loop.run_until_complete(store.recall(question)))
        for question in questions
    ]
)
loop.run_until_complete(store.close())
report(ingest=ingest, resync=resync, **warm)
