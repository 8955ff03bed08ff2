"""`muniment isolation doctor`: what confines the model's tools here, and what does not."""

from __future__ import annotations

import argparse
import os

from muniment.cli.shell import OK, Shell
from muniment.safety.errors import MunimentError


def isolation(arguments: argparse.Namespace, shell: Shell) -> int:
    """Say honestly what keeps the model's tools in bounds, and what does not."""
    from muniment.approval.policy import PROTECTED_PATTERNS
    from muniment.session.start import FILE_TOOLS
    from muniment.session.toolcall import offered

    names = [tool.name for tool in offered(shell.surfaces)]
    root = shell.surfaces.records.chain().root
    files = (
        f"File tools reach regular files of at most 64 KiB below {root}, through no link; that is checked by "
        f"this process. Never opened: {', '.join(PROTECTED_PATTERNS)}."
        if FILE_TOOLS & set(names)
        else f"File tools are not offered here: {root} holds Muniment's own directories, or lies in one."
    )
    texts = {
        "shell": "No tool runs commands, starts programs or opens network connections.",
        "tools": f"Offered here: {', '.join(names)}.",
        "approval": "In manual mode, which every session starts in, each write to memory and to files is "
        "asked about. accept-edits lets file writes run, bypass lets every write run; to loosen asks.",
        "files": files,
        "memory": "What is remembered reaches the model as fenced data with its source. A model may obey it "
        "all the same; what it then wants to write is asked about like anything else.",
        "sandbox": "No sandbox of the operating system: Muniment runs with your rights, confined by its own "
        "code. A mistake in that code, or in what it is built on, is confined by nothing else.",
        "others": "Other programs that run as you can read and change memory, settings and logs behind "
        "Muniment's back; the journal knows only what Muniment wrote.",
        "storage": "Memory, journal, session logs and traces are plain files that only you may read, not "
        "encrypted. Backups and synchronised folders hold them too.",
        "editor": "Where you edit by hand, $VISUAL or $EDITOR is started on a private copy; no other program "
        "is ever started.",
        "model": f"{_endpoint(shell)} muniment context shows beforehand what a request carries.",
    }
    if os.geteuid() == 0:
        texts["rights"] = (
            "You are root: no file of this machine is protected from Muniment by its permissions."
        )
    if arguments.json:
        listed = [{"name": name, "ok": True, "text": text} for name, text in texts.items()]
        shell.json({"ok": True, "findings": listed})
        return OK
    for name, text in texts.items():
        shell.out(f"{name:<9} {text}")
    return OK


def _endpoint(shell: Shell) -> str:
    from muniment.settings import effective_provider

    try:
        provider, _ = effective_provider(shell.settings, shell.environ)
    except MunimentError as error:
        return error.sentence
    if provider != "openai":
        return "The rehearsal model answers in this process; any other one is asked over the network."
    return f"Requests go to {shell.settings.model.base_url or 'https://api.openai.com/v1'}."
