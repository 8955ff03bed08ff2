"""basic-memory: Markdown notes are the authority; every step is a command of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from common import CHANGED, CHANGED_AT, arguments, report, rest, texts, timed

source, place = arguments()
memories, _ = texts(source)
notes = place / "notes"
command = str(Path(sys.executable).with_name("basic-memory"))
env = {**os.environ, "HOME": str(place), "BASIC_MEMORY_HOME": str(notes)}


def write(memory: dict[str, str]) -> None:
    (notes / f"{memory['id']}.md").write_text(
        f"---\ntitle: {memory['title']}\ntype: note\n---\n\n# {memory['title']}\n\n{memory['body']}\n"
    )


def follow() -> None:
    subprocess.run([command, "reindex", "--search"], env=env, check=True, capture_output=True)


notes.mkdir()
for each in memories:
    write(each)
rest()
ingest = timed(follow)
write({**memories[CHANGED_AT], "body": CHANGED})
rest()
resync = timed(follow)
report(ingest=ingest, resync=resync)
