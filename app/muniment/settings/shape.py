"""The shape of the settings file: which keys there are, what each may be, and what it is for."""

from __future__ import annotations

from muniment.safety.schema import Choice, Fields, Flag, Items, Key, Number, Text
from muniment.settings.keymap import Keymap
from muniment.settings.values import QUIET_LEAST, QUIET_MOST

AGENT_NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_ASK = Choice(("ask", "auto", "off"))
_ON = Flag()
_LINE = Text(one_line=True)
_KEY_PLACE = "the key itself never stands in a file; name the environment variable in api_key_env"

_MODEL = Fields(
    {
        "provider": Key(Choice(("rehearsal", "openai")), "unset: openai where a name and a server are set"),
        "name": Key(_LINE, "the model's name as its server knows it"),
        "base_url": Key(_LINE, "an OpenAI-compatible server, up to /v1"),
        "api": Key(Choice(("auto", "responses", "chat")), "auto: responses for api.openai.com, else chat"),
        "api_key_env": Key(
            Text(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable"),
            "where the key is read from; the key itself is never written",
        ),
        "chat_layout": Key(Choice(("auto", "strict")), "strict: the user's message comes first"),
        "context_window": Key(Number(0, 100_000_000), "tokens; 0 is the default"),
        "timeout_seconds": Key(Number(1, 3_600, decimal=True), "seconds without a sign of the server"),
    },
    instead={"api_key": _KEY_PLACE, "key": _KEY_PLACE, "token": _KEY_PLACE},
)
_APPROVAL = Fields(
    {
        "quiet_seconds": Key(
            Number(QUIET_LEAST, QUIET_MOST, decimal=True), "how long a new question ignores keys"
        )
    },
    instead={"mode": "the mode is never saved; every session starts in manual, use --mode or /mode"},
)
_RETRIEVAL = Fields(
    {
        "enabled": Key(_ON, "recall memories that fit the task"),
        "shadow": Key(_ON, "compute and record them, but send the plain files"),
        "top_k": Key(Number(1, 20), "memories in one request"),
        "max_bytes": Key(Number(512, 65_536), "their size together"),
        "candidates": Key(Number(1, 500), "how many are looked at"),
    }
)
_NOTES = Fields(
    {
        "threshold": Key(Number(1, 1_000), "notes in the inbox that make a consolidation"),
        "consolidate": Key(_ASK, "ask, run by itself, or only by hand"),
        "max_bytes": Key(Number(1_000, 10_000_000), "size of the team notes; the oldest go first"),
        "archive_max_files": Key(Number(1, 1_000_000), "notes kept in the archive"),
    }
)
_KNOWLEDGE = Fields(
    {
        "sweep": Key(_ASK, "ask, run by itself, or only by hand"),
        "keep_swept_days": Key(Number(0, 36_500), "days that swept entries are kept"),
    }
)
_SUMMARY = Fields(
    {
        "enabled": Key(_ON, "summarise old entries"),
        "threshold": Key(Number(1, 100_000), "old entries that make a summary"),
        "days": Key(Number(1, 36_500), "days after which an entry is old"),
    }
)
_NOTEBOOKS = Fields(
    {
        "agents": Key(
            Items(Text(AGENT_NAME, "lower-case words joined by hyphens", 64), unique=True),
            "agents that keep a notebook",
        ),
        "max_entries": Key(Number(1, 100_000), "entries in one notebook; the oldest go first"),
        "max_bytes": Key(Number(1_000, 10_000_000), "size of one notebook"),
        "summary": Key(_SUMMARY, "the summary of old entries"),
    }
)
_TUI = Fields(
    {
        "theme": Key(Choice(("dark", "light", "ansi")), "colours"),
        "panel_width": Key(Number(20, 200), "width of the memory panel in cells"),
        "animations": Key(_ON, "moving parts"),
        "keymap": Key(Keymap(), "binding id: keys"),
    }
)

SETTINGS = Fields(
    {
        "model": Key(_MODEL, "which model answers"),
        "approval": Key(_APPROVAL, "the approval dialog"),
        "retrieval": Key(_RETRIEVAL, "memories recalled for a task"),
        "notes": Key(_NOTES, "inbox and team notes"),
        "knowledge": Key(_KNOWLEDGE, "the knowledge base"),
        "notebooks": Key(_NOTEBOOKS, "notebooks of agents"),
        "episodes": Key(Fields({"enabled": Key(_ON, "remember how tasks ended")}), "episodes in the ledger"),
        "fence": Key(
            Fields({"max_bytes": Key(Number(1_024, 65_536), "size of one text")}), "the untrusted fence"
        ),
        "tui": Key(_TUI, "the screen"),
    }
)
