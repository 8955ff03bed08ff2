"""Lending the terminal to the user's own editor."""

from __future__ import annotations

import shlex
import signal
import subprocess
import threading
from pathlib import Path


def run_editor(command: str, copy: Path) -> int:
    """Let an editor have the terminal and return its exit code; raise `OSError` where none starts."""
    # Ctrl+C in the editor reaches everybody at the terminal. It is meant for the editor, whose text would be
    # lost if this process ended over it; and it must be heard there, so it is not ignored but passed over.
    alone = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: None) if alone else None
    try:
        return subprocess.run([*shlex.split(command), str(copy)], check=False).returncode
    finally:
        if alone:
            signal.signal(signal.SIGINT, before)
