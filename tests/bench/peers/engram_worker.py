"""engram-agent-memory: Markdown files are the authority, SQLite answers."""

from __future__ import annotations

from common import CHANGED, CHANGED_AT, arguments, quantiles, report, rest, texts, timed
from engram.memory_store import MemoryStore

source, place = arguments()
memories, questions = texts(source)


def write(memory: dict[str, str]) -> None:
    (place / f"{memory['id']}.md").write_text(
        f"---\nname: {memory['id']}\ndescription: {memory['title']}\ntype: project\n---\n\n"
        f"# {memory['title']}\n\n{memory['body']}\n"
    )


for each in memories:
    write(each)
store = MemoryStore(str(place))
rest()
ingest = timed(store.build)
write({**memories[CHANGED_AT], "body": CHANGED})
rest()
resync = timed(store.build)
warm = quantiles(
    [timed(lambda question=question: store.smart_recall(question, k=10)) for question in questions]
)
report(ingest=ingest, resync=resync, **warm)
