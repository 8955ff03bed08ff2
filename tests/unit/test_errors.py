"""Failures as a person reads them: the file where one is named, the system's words, and no number."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from muniment.safety.errors import NotFound, reason_of, sentence_of


def test_an_error_of_the_system_names_its_file_and_why(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        (tmp_path / "gone").read_bytes()
    assert sentence_of(caught.value) == f"{tmp_path / 'gone'}: No such file or directory."


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device."),
        (OSError(errno.EACCES, os.strerror(errno.EACCES), b"/a/\xff"), "/a/\udcff: Permission denied."),
        (OSError(errno.EBADF, os.strerror(errno.EBADF), 7), "Bad file descriptor."),
        (TimeoutError(), "TimeoutError."),
        (OSError("cannot be had"), "cannot be had."),
        (NotFound("There is no such record."), "There is no such record."),
    ],
)
def test_each_kind_is_one_sentence(error: NotFound | OSError, sentence: str) -> None:
    assert sentence_of(error) == sentence
    assert "Errno" not in sentence


def test_the_reason_alone_has_neither_number_nor_file() -> None:
    assert reason_of(OSError(errno.EROFS, os.strerror(errno.EROFS), "/x")) == "Read-only file system"
