"""Noticing what happens to memory on disk from outside, at once where the system tells, else by looking.

    watch = watch_memory(lambda: memory_directories(surfaces), on_change, on_notice)
    store.watched = watch.mark      a search then looks at the files only where something may have changed
    watch.stop()                    returns when the thread has ended

Both callbacks are called in the watcher's own thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.memory.records.scope import MEMORY_DIR_NAME, ScopeChain
from muniment.safety.files import FileRefused, read_regular

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

LOOK_SECONDS = 0.8
"""How often the directories are looked at where nobody tells of changes."""
_TICK_MS = 400
"""How often it is looked whether directories came or went."""
_STEP_MS = 15
_GROUP_MS = 60
_STOP_SECONDS = 2.0
_MOST_DIRECTORIES = 500
_MUTE_ENDINGS = (".tmp", ".lock", ".swp", "~", "-shm", "-wal", "-journal")
_REMOTE = frozenset(("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre"))
_MOUNTS = Path("/proc/self/mounts")
_MOST_MOUNT_BYTES = 1_048_576

State = tuple[tuple[str, int, int, int], ...]


def memory_directories(chain: ScopeChain) -> list[Path]:
    """Return the directories of a chain whose files are memory; only those that are there, none a link."""
    found: list[Path] = []
    for scope in chain.scopes:
        base = scope.directory
        found += [base, base / MEMORY_DIR_NAME, base / "notes", base / "notes" / "inbox", base / "user"]
        knowledge = base / "knowledge"
        found += [knowledge, *_children(knowledge)]
    return [each for each in dict.fromkeys(found) if each.is_dir() and not each.is_symlink()]


def watch_memory(
    directories: Callable[[], Collection[Path]],
    on_change: Callable[[], None],
    on_notice: Callable[[str], None],
) -> Watch:
    """Begin to watch directories, not what lies below them; they are asked for anew all the time."""
    watch = Watch(directories, on_change, on_notice)
    watch.start()
    return watch


class Watch:
    """A thread that tells of changes; where the system cannot tell, it looks, after one notice."""

    def __init__(
        self,
        directories: Callable[[], Collection[Path]],
        on_change: Callable[[], None],
        on_notice: Callable[[str], None],
    ) -> None:
        self._directories = directories
        self._on_change = on_change
        self._on_notice = on_notice
        self._stop = threading.Event()
        self._told = False
        self._count = 0
        self._watching = False
        self._thread = threading.Thread(target=self._run, name="watch memory", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end, and return when it has."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_STOP_SECONDS)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def mark(self) -> int | None:
        """Return a number that is another one after every change; None where changes are not told of."""
        return self._count if self._watching and self._thread.is_alive() else None

    def _run(self) -> None:
        while not self._stop.is_set():
            paths = self._present()
            trouble = _remote_place(paths)
            try:
                if not trouble:
                    self._follow(paths)
                    continue
            except FileNotFoundError:
                self._stop.wait(_STEP_MS / 1000)  # gone between listing and watching: list again
                continue
            except Exception as error:  # noqa: BLE001 - whatever a library fails with, looking goes on
                trouble = f"the system does not tell of changes ({_first_line(error)})"
            self._watching = False
            self._look_now_and_then(trouble)

    def _follow(self, paths: list[Path]) -> None:
        """Wait for changes until other directories are to be watched, or the end."""
        from watchfiles._rust_notify import RustNotify

        if not paths:
            self._watching = False
            self._stop.wait(_TICK_MS / 1000)
            return
        known = _identities(paths)
        notify: RustNotify = RustNotify([str(path) for path in paths], False, False, 0, False, True)
        with notify:
            # What changed before the watching began is told of by nobody.
            self._changed(True)
            self._watching = True
            while not self._stop.is_set():
                seen = notify.watch(_GROUP_MS, _STEP_MS, _TICK_MS, self._stop)
                if isinstance(seen, set):
                    names = [path for _, path in seen if not _is_mute(path)]
                    if names:
                        self._changed(any(_is_record(path) for path in names))
                if _identities(self._present()) != known:
                    self._watching = False
                    self._changed(True)
                    return

    def _look_now_and_then(self, trouble: str) -> None:
        before = _state(self._present())
        # Told only now: what changes after the notice is seen, and what changed before it is told of here.
        self._tell(trouble)
        self._changed(True)
        while not self._stop.wait(LOOK_SECONDS):
            now = _state(self._present())
            if now != before:
                before = now
                self._changed(True)

    def _changed(self, records: bool) -> None:
        if records:
            self._count += 1
        if not self._stop.is_set():
            self._on_change()

    def _tell(self, trouble: str) -> None:
        if not self._told and not self._stop.is_set():
            self._told = True
            self._on_notice(
                f"Memory is looked at every {LOOK_SECONDS} seconds and before each search, because {trouble}."
            )

    def _present(self) -> list[Path]:
        try:
            return sorted(self._directories())[:_MOST_DIRECTORIES]
        except OSError:
            return []


def _identities(paths: Iterable[Path]) -> list[tuple[Path, int, int]]:
    """Return which directories stand at some paths: another one under the same name is told of by nobody."""
    found = []
    for path in paths:
        with suppress(OSError):  # gone: then it is not among them
            info = path.lstat()
            found.append((path, info.st_dev, info.st_ino))
    return found


def _children(directory: Path) -> Iterable[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _is_mute(path: str) -> bool:
    """Tell whether a name is one that passes by: of writers at work, locks and editors."""
    name = os.path.basename(path)  # noqa: PTH119 - called for each of thousands of events
    return name.startswith(".") or name.endswith(_MUTE_ENDINGS)


def _is_record(path: str) -> bool:
    """Tell whether a change can be one of records: a file in `memory/`, or a directory coming or going."""
    return path.endswith(".yaml") or "." not in os.path.basename(path)  # noqa: PTH119 - as above


def _state(paths: Iterable[Path]) -> State:
    """Return what tells a change of any file in some directories."""
    found: list[tuple[str, int, int, int]] = []
    for path in paths:
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    if not _is_mute(entry.name):
                        info = entry.stat(follow_symlinks=False)
                        found.append((entry.path, info.st_size, info.st_mtime_ns, info.st_ino))
        except OSError:
            continue  # gone, or gone in between: the next look tells
    return tuple(sorted(found))


def _remote_place(paths: Iterable[Path]) -> str:
    """Name the first directory on a disk of another machine, which does not tell of changes made there."""
    try:
        text = read_regular(_MOUNTS, max_bytes=_MOST_MOUNT_BYTES).decode("utf-8", "replace")
    except (OSError, FileRefused):
        return ""
    mounts = [line.split(" ") for line in text.splitlines()]
    kinds = {parts[1].replace("\\040", " "): parts[2] for parts in mounts if len(parts) > 2}
    for path in paths:
        place = next((str(each) for each in (path, *path.parents) if str(each) in kinds), "/")
        kind = kinds.get(place, "")
        if kind in _REMOTE or kind.startswith("fuse.sshfs"):
            return f"{path} lies on a disk of another machine ({kind})"
    return ""


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")[:200]
