"""Timings of records as files: reading them cold, listing them, and storing one for good."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import Row, compare, process
from muniment.memory.journal import Journal
from muniment.memory.origin import Origin
from muniment.memory.records.index.place import index_path
from muniment.memory.records.plans import StoreRequest
from muniment.memory.records.store import RecordStore
from muniment.paths import Paths
from support.environment import isolated
from support.terminal import COMMAND

HERE = Path(__file__).resolve().parent
BY_HAND = Origin("user", "cli", decided_by="user")


def write_records(directory: Path, count: int) -> None:
    """Write records of about 700 bytes."""
    directory.mkdir(parents=True, mode=0o700)
    words = "cite both notes and show the denominators before anybody infers what nobody has asked "
    for n in range(count):
        body = (words * 6)[: 480 + n % 60]
        (directory / f"rule-{n:06}.yaml").write_text(
            f"id: rule-{n:06}\ncategory: decision\ntitle: Rule number {n} of the pilot\n"
            f"content: {body}{n}\ntags:\n- pilot\n- review\nsource: agent\n"
            "created_at: 2026-10-25T03:07:29Z\nupdated_at: 2026-10-25T03:07:29Z\n"
        )


def record_rows(root: Path, rounds: int, count: int) -> list[Row]:
    """Measure processes that read and list, and stores in this process."""
    base, study = root / "user", root / "study"
    memory = study / ".muniment" / "memory"
    write_records(memory, count)
    python, script = sys.executable, f"from support.reading import main; main({str(study)!r})"
    few = max(3, rounds // 2)
    cold = compare(
        f"reading {count:,} records cold / bare events",
        process([python, "-c", script], HERE.parent, base),
        process([python, str(HERE / "baseline_read.py"), str(memory)], base, base),
        target=1.5,
        rounds=few,
    )
    env = isolated(base)
    subprocess.run([str(COMMAND), "memory", "reindex"], cwd=study, env=env, check=True, capture_output=True)
    database = index_path(Path(env["MUNIMENT_CACHE_DIR"]) / "memindex", memory.parent)
    bare = [python, str(HERE / "baseline_list.py"), str(memory), str(database), str(memory.parent)]
    listed = compare(
        f"memory list --json of {count:,} / bare",
        process([str(COMMAND), "memory", "list", "--json"], study, base),
        process(bare, study, base),
        target=1.6,
        rounds=few,
    )
    return [cold, listed, _store_row(root / "stores", rounds)]


def _store_row(root: Path, rounds: int) -> Row:
    """Measure a store with its journal entry against the same bytes with as many fsyncs."""
    paths = Paths(*(root / name for name in ("config", "data", "state", "cache")))
    work = root / "work"
    (work / ".muniment" / "memory").mkdir(parents=True)
    store = RecordStore(paths, work, journal=Journal(paths.journal))
    store.commit(store.plan_store(StoreRequest("First", "Makes the directories"), origin=BY_HAND), BY_HAND)
    # Single stores in turns, many of them, with nothing between: a busy disk is as busy for both.
    rounds *= 40
    requests = [StoreRequest(f"Title {number}", "x" * 500) for number in range(rounds)]
    plans = iter([store.plan_store(each, origin=BY_HAND) for each in requests])

    def ours() -> float:
        plan = next(plans)
        begun = time.perf_counter()
        store.commit(plan, BY_HAND)
        return time.perf_counter() - begun

    entry, settled = _last_journal_lines(paths.journal)
    body = (work / ".muniment" / "memory" / "first.yaml").read_bytes() + b"x" * 480
    plain = root / "bare"
    plain.mkdir()

    def bare() -> float:
        begun = time.perf_counter()
        _append(plain / "journal", entry)
        temporary = plain / f".{secrets.token_hex(4)}.tmp"
        _append(temporary, body)
        temporary.rename(plain / f"{secrets.token_hex(8)}.yaml")
        directory = os.open(plain, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(directory)
        os.close(directory)
        _append(plain / "journal", settled)
        return time.perf_counter() - begun

    return compare("a durable store / same bytes and fsyncs", ours, bare, target=1.3, rounds=rounds)


def _append(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)


def _last_journal_lines(directory: Path) -> tuple[bytes, bytes]:
    lines = next(directory.glob("*.jsonl")).read_bytes().splitlines(keepends=True)
    return lines[-2], lines[-1]
