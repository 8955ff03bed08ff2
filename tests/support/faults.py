"""Disks that are full or cannot be written: real small file systems, or errors at the system call."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch, below: Path, code: int = errno.ENOSPC) -> Iterator[None]:
    """Let every write to a file below a directory fail, at the system call."""
    real = os.write
    inside = os.path.realpath(below) + os.sep

    def write(fd: int, data: bytes) -> int:
        if os.path.realpath(f"/proc/self/fd/{fd}").startswith(inside):
            raise OSError(code, os.strerror(code))
        return real(fd, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        yield


@contextmanager
def small_disk(at: Path, *, size: str = "1m", files: int = 0) -> Iterator[Path]:
    """Mount a file system of that size at a directory; skip the test where this machine does not allow it."""
    at.mkdir(parents=True, exist_ok=True)
    options = f"size={size}" + (f",nr_inodes={files}" if files else "")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(at)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)


@contextmanager
def read_only(at: Path) -> Iterator[None]:
    """Make a directory and all below it impossible to write, for root too; skip where that cannot be done."""
    bound = subprocess.run(["mount", "--bind", str(at), str(at)], capture_output=True, check=False)
    if bound.returncode != 0:
        if os.geteuid() == 0:
            pytest.skip("nothing can be mounted here, and root may write anywhere")
        modes = {path: path.stat().st_mode for path in (at, *at.rglob("*"))}
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        try:
            yield
        finally:
            for path, mode in modes.items():
                path.chmod(mode)
        return
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(at)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)


def fill(directory: Path) -> Path:
    """Write until nothing more fits, and return the file that fills the disk."""
    path = directory / "filler"
    with path.open("wb", buffering=0) as stream:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    stream.write(b"x" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    return path
