"""Only regular files of ours are opened, and a file is old or new, never between."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.safety.files import (
    FileRefused,
    LockBusy,
    append_durable,
    ensure_private_dir,
    locked,
    open_directory,
    read_regular,
    remove_file,
    remove_stale_temps,
    write_atomic,
)
from support.files import Holder, write_killed_at


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def any_umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Run a test under several umasks."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def reason(path: Path, **options: object) -> str:
    with pytest.raises(FileRefused) as caught:
        read_regular(path, max_bytes=100, **options)  # type: ignore[arg-type]
    return caught.value.reason


@pytest.mark.usefixtures("any_umask")
def test_directories_are_0700_and_files_0600_whatever_the_umask(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    ensure_private_dir(deep)
    assert [mode(each) for each in (deep, deep.parent, deep.parent.parent)] == [0o700] * 3
    write_atomic(deep / "x", b"1")
    append_durable(deep / "y", b"1")
    with locked(deep / "lock"):
        assert mode(deep / "lock") == 0o600
    assert (mode(deep / "x"), mode(deep / "y")) == (0o600, 0o600)
    write_atomic(deep / "x", b"2", mode=0o644)
    assert mode(deep / "x") == 0o644


def test_an_existing_directory_is_corrected_and_its_parents_are_left_alone(tmp_path: Path) -> None:
    parent = tmp_path / "open"
    parent.mkdir(mode=0o755)
    parent.chmod(0o755)
    inner = parent / "in"
    inner.mkdir()
    inner.chmod(0o755)
    ensure_private_dir(inner)
    assert (mode(inner), mode(parent)) == (0o700, 0o755)


def test_a_forbidden_chmod_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.mkdir(mode=0o700)
    wrong.mkdir()
    wrong.chmod(0o755)

    def forbidden(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not permitted")

    monkeypatch.setattr(os, "fchmod", forbidden)
    monkeypatch.setattr(os, "chmod", forbidden)
    ensure_private_dir(right)
    ensure_private_dir(wrong)
    write_atomic(right / "x", b"1")
    assert (right / "x").read_bytes() == b"1"


def test_a_file_where_a_directory_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileRefused, match="not a directory"):
        ensure_private_dir(tmp_path / "file")
    with pytest.raises(FileRefused, match="not a directory"):
        ensure_private_dir(tmp_path / "file" / "below")


def test_reading_stops_at_the_limit_and_one_past_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a" * 100)
    assert read_regular(path, max_bytes=100) == b"a" * 100
    path.write_bytes(b"a" * 101)
    assert reason(path) == "larger than 100 bytes"


def test_a_missing_file_is_missing_and_not_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", max_bytes=1)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "no" / "none", max_bytes=1)


def test_links_pipes_sockets_and_directories_are_refused_without_blocking(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("x")
    (tmp_path / "soft").symlink_to(target)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.link(target, tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dir").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        assert reason(tmp_path / "sock") == "not a regular file"
    assert reason(tmp_path / "soft") == "symbolic link"
    assert reason(tmp_path / "dangling") == "symbolic link"
    assert reason(tmp_path / "hard") == "has several hard links"
    assert reason(tmp_path / "pipe") == "not a regular file"
    assert reason(tmp_path / "dir") == "a directory"
    assert reason(Path("/dev/null")) == "not a regular file"
    assert read_regular(tmp_path / "hard", max_bytes=9, single_link=False) == b"x"
    with pytest.raises(FileRefused):
        append_durable(tmp_path / "pipe", b"x")
    with pytest.raises(FileRefused):
        append_durable(tmp_path / "soft", b"x")
    assert target.read_text() == "x"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_files_of_somebody_else_are_refused_unless_any_owner_will_do(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("x")
    os.chown(path, 12345, 12345)
    assert reason(path) == "owned by someone else"
    assert read_regular(path, max_bytes=9, any_owner=True) == b"x"


@pytest.mark.parametrize(
    ("linked", "memory"),
    [
        ("project/.muniment", "project/.muniment/memory"),
        ("project/.muniment/memory", "project/.muniment/memory"),
        ("data/memory", "data/memory"),
    ],
)
def test_nothing_is_read_or_written_through_a_linked_scope(tmp_path: Path, linked: str, memory: str) -> None:
    outside = tmp_path / "outside"
    (outside / "memory").mkdir(parents=True)
    (outside / "memory" / "leak.yaml").write_text("secret")
    (outside / "leak.yaml").write_text("secret")
    place = tmp_path / linked
    place.parent.mkdir(parents=True)
    place.symlink_to(outside)
    path = tmp_path / memory / "leak.yaml"
    assert reason(path) == "symbolic link"
    for act in (
        lambda: write_atomic(path, b"x"),
        lambda: append_durable(path, b"x"),
        lambda: remove_file(path),
    ):
        with pytest.raises(FileRefused, match="symbolic link"):
            act()
    with pytest.raises(FileRefused, match="symbolic link"):
        ensure_private_dir(path.parent)
    assert (outside / "leak.yaml").read_text() == "secret"
    assert sorted(os.listdir(outside)) == ["leak.yaml", "memory"]


def test_links_above_the_scope_are_followed(tmp_path: Path) -> None:
    real = tmp_path / "real" / "proj"
    real.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    memory = tmp_path / "link" / "proj" / ".muniment" / "memory"
    ensure_private_dir(memory)
    write_atomic(memory / "r.yaml", b"id: r\n")
    assert read_regular(memory / "r.yaml", max_bytes=99) == b"id: r\n"
    assert (real / ".muniment" / "memory" / "r.yaml").exists()


def test_a_directory_that_may_be_no_link_is_not_entered_through_one(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with open_directory(tmp_path / "link") as fd:
        assert os.listdir(fd) == ["inner"]
    with open_directory(tmp_path / "link" / "inner", follow=False) as fd:
        assert os.listdir(fd) == []
    with pytest.raises(FileRefused, match="symbolic link"):
        open_directory(tmp_path / "link", follow=False)


def test_a_directory_swapped_for_a_link_after_opening_is_not_followed(tmp_path: Path) -> None:
    memory = tmp_path / ".muniment" / "memory"
    ensure_private_dir(memory)
    (memory / "x.yaml").write_text("ours")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.yaml").write_text("theirs")
    with open_directory(memory) as fd:
        memory.rename(tmp_path / "moved")
        memory.symlink_to(outside)
        assert read_regular(memory / "x.yaml", max_bytes=99, dir_fd=fd) == b"ours"


def test_a_write_replaces_a_link_and_not_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("kept")
    (tmp_path / "x").symlink_to(tmp_path / "target")
    write_atomic(tmp_path / "x", b"new")
    assert (tmp_path / "target").read_text() == "kept"
    assert not (tmp_path / "x").is_symlink()


@pytest.mark.parametrize("begin", ["", "a"])
def test_a_name_as_long_as_a_name_may_be_can_be_written(tmp_path: Path, begin: str) -> None:
    path = tmp_path / f"{begin}{'é' * 124}.md"
    write_atomic(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_kill_at_any_step_leaves_the_old_content_whole(tmp_path: Path, step: str) -> None:
    target = tmp_path / "r.yaml"
    target.write_bytes(b"old content")
    assert write_killed_at(step, target, "new content, longer than the old one") == -9
    assert target.read_bytes() == b"old content"
    left = [name for name in os.listdir(tmp_path) if name != "r.yaml"]
    assert all(name.startswith(".") and name.endswith(".tmp") for name in left)
    write_atomic(target, b"next")
    assert target.read_bytes() == b"next"


def test_what_a_killed_process_left_can_be_swept(tmp_path: Path) -> None:
    assert write_killed_at("fsync", tmp_path / "r.yaml", "x") == -9
    (tmp_path / ".other").write_text("stays")
    (tmp_path / ".link.tmp").symlink_to(tmp_path / ".other")
    (tmp_path / ".directory.tmp").mkdir()
    assert remove_stale_temps(tmp_path) == 0
    assert remove_stale_temps(tmp_path, older_than=-1) == 1
    assert sorted(os.listdir(tmp_path)) == [".directory.tmp", ".link.tmp", ".other"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    target = tmp_path / "r.yaml"
    target.write_bytes(b"old")

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(target, b"new")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["r.yaml"]
    write_atomic(target, b"new")
    assert target.read_bytes() == b"new"


def test_an_append_that_does_not_fit_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    append_durable(log, b"one\n")
    real = os.write

    def half(fd: int, data: bytes) -> int:
        if len(data) > 2:
            return real(fd, bytes(data[:2]))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space left"):
        append_durable(log, b"two\n")
    monkeypatch.undo()
    assert log.read_bytes() == b"one\n"
    append_durable(log, b"three\n")
    assert log.read_bytes() == b"one\nthree\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"", b"new\n"), (b"whole\n", b"whole\nnew\n"), (b"whole\ntor", b"whole\ntor\nnew\n")],
)
def test_a_line_of_its_own_is_not_added_to_one_that_was_cut_off(
    before: bytes, after: bytes, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_bytes(before)
    with open_directory(tmp_path) as fd:
        append_durable(log, b"new\n", own_line=True, dir_fd=fd)
    assert log.read_bytes() == after


def test_an_error_names_the_file_and_not_the_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def read_only(path: str, flags: int, *args: int, **kwargs: int) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system", path)
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(OSError, match="Read-only") as caught:
        write_atomic(tmp_path / "r.yaml", b"x")
    assert caught.value.filename == str(tmp_path / "r.yaml")


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    write_atomic(tmp_path / "x", b"0123456789")
    assert (tmp_path / "x").read_bytes() == b"0123456789"


def test_names_at_the_file_systems_limit_can_be_written(tmp_path: Path) -> None:
    for name in ("n" * 255, "ü" * 127):
        write_atomic(tmp_path / name, b"x")
        assert (tmp_path / name).read_bytes() == b"x"


def test_removing_says_whether_something_was_there(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert remove_file(tmp_path / "x")
    assert not remove_file(tmp_path / "x")


def test_a_lock_keeps_other_processes_out_and_dies_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x.lock"
    with Holder(path) as holder:
        with pytest.raises(LockBusy, match="another process"), locked(path, timeout=0):
            pytest.fail("two holders")
        holder.kill()
        with locked(path, timeout=5):
            assert path.exists()


def test_a_lock_waits_for_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with Holder(path):
        pass
    with locked(path, timeout=5), pytest.raises(LockBusy), locked(path, timeout=0):
        pytest.fail("two holders")


def test_a_growing_file_is_not_read_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a" * 10)
    real = os.fstat

    def then_grow(fd: int) -> os.stat_result:
        info = real(fd)
        if stat.S_ISREG(info.st_mode):
            path.write_bytes(b"a" * 500)
        return info

    monkeypatch.setattr(os, "fstat", then_grow)
    assert reason(path) == "larger than 100 bytes"
