"""Muniment: one YAML file a memory, an index beside them that follows the files."""

from __future__ import annotations

import sys
import time

from common import CHANGED, CHANGED_AT, arguments, quantiles, report, rest, texts, timed

from muniment.memory.journal import Journal
from muniment.memory.records.store import RecordStore
from muniment.memory.watch import memory_directories, watch_memory
from muniment.paths import resolve_paths

source, place = arguments()
memories, questions = texts(source)
directory = place / "data" / "memory"


def write(memory: dict[str, str]) -> None:
    (directory / f"{memory['id']}.yaml").write_text(
        f"id: {memory['id']}\ntitle: {memory['title']}\ncontent: {memory['body']}\n"
    )


def follow() -> None:
    store.search("wombat")


directory.mkdir(parents=True, mode=0o700)
for each in memories:
    write(each)
paths = resolve_paths()
store = RecordStore(paths, place, journal=Journal(paths.journal))
if "--watched" in sys.argv:
    watch = watch_memory(lambda: memory_directories(store.chain()), lambda: None, print)
    while watch.mark() is None:
        time.sleep(0.01)
    store.watched = watch.mark
rest()
ingest = timed(follow)
write({**memories[CHANGED_AT], "body": CHANGED})
rest()
resync = timed(follow)
assert store.search("wombat").hits
warm = quantiles([timed(lambda question=question: store.search(question)) for question in questions])
report(ingest=ingest, resync=resync, **warm)
