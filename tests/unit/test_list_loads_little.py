"""What a list of records loads: what lists them, and nothing that plans, writes, searches or reads YAML."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from muniment.memory.records.listing_store import INDEX_WORTH_BYTES
from support.app import write_record
from support.environment import isolated

_LIST = """
import sys
sys.argv = ["muniment", *sys.argv[1:]]
from muniment.__main__ import main
code = main()
sys.stderr.write("\\n".join(name for name in sys.modules if name.startswith("muniment.")))
sys.exit(code)
"""
LATER = {
    "muniment.memory.journal",
    "muniment.memory.recall.query",
    "muniment.memory.records.index.search",
    "muniment.memory.records.planning",
    "muniment.memory.records.plans",
    "muniment.memory.records.record",
    "muniment.memory.records.store",
    "muniment.safety.strict_yaml",
    "muniment.settings",
}


def test_a_list_from_the_index_loads_nothing_that_plans_searches_or_reads_a_file(tmp_path: Path) -> None:
    project, env = tmp_path / "project", isolated(tmp_path / "user")
    for number in range(60):
        write_record(project / ".muniment", f"long-{number:03}", f"Title {number}", f"word{number} " * 4_000)
    subprocess.run(
        [sys.executable, "-m", "muniment", "memory", "reindex"],
        cwd=project,
        env=env,
        capture_output=True,
        check=True,
    )
    index = max(each.stat().st_size for each in (tmp_path / "user").rglob("*.db"))
    assert index >= INDEX_WORTH_BYTES, "the list would be read from the files"
    listed = subprocess.run(
        [sys.executable, "-c", _LIST, "memory", "list", "--json"],
        cwd=project,
        env=env,
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(listed.stdout)["total"] == 60
    assert set(listed.stderr.split()) & LATER == set()
