"""Print the list of records as JSON: look at every file, read what a list needs from the database."""

import json
import os
import sqlite3
import sys

memory, database, directory = sys.argv[1:]
with os.scandir(memory) as entries:
    seen = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
connection = sqlite3.connect(database)
rows = connection.execute(
    "SELECT id, title, category, tags, expires, updated FROM record ORDER BY updated DESC, id"
)
records = [
    {
        "id": id_,
        "title": title,
        "category": category,
        "tags": json.loads(tags),
        "scope": "project",
        "directory": directory,
        "effective": True,
        "expired": False,
        "overridden_by": None,
        "expires_at": expires_at,
        "updated_at": updated_at,
    }
    for id_, title, category, tags, expires_at, updated_at in rows
    if f"{id_}.yaml" in seen
]
print(json.dumps({"records": records, "skipped": []}, ensure_ascii=False))
