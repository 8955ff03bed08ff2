"""The shape of a recipe file: which keys there are, what each may be, and what it is for."""

from __future__ import annotations

from typing import Any

from muniment.safety.schema import Choice, Fields, Flag, Items, Key, Number, Text
from muniment.settings.shape import AGENT_NAME

TOOL_NAMES = (
    "memory_store",
    "memory_retrieve",
    "memory_list",
    "memory_search",
    "memory_delete",
    "memory_stats",
    "memory_save",
    "memory_view",
    "note_add",
    "task_report",
    "read_file",
    "list_files",
    "write_file",
    "edit_file",
    "skill_view",
)
"""Every tool a recipe can name; its patterns are checked against these without loading any tool."""

PARAMETER_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_NAME = Text(AGENT_NAME, "lower-case words joined by hyphens, at most 64 letters", 64)
_LINE = Text(one_line=True, max_bytes=1_000)
_PATTERNS = Items(Text(r"[a-z_*?\[\]!-]+", "names of tools, with * for any letters", 64), most=64)
_TIGHTEN = "a recipe cannot set this: it can only tighten"

_PARAMETER = Fields(
    {
        "name": Key(
            Text(PARAMETER_NAME, "letters, digits, _ and -, not beginning with a digit"), required=True
        ),
        "description": Key(Text(max_bytes=2_000), "what to fill in", required=True),
        "required": Key(Flag(), "whether it must be given; a default always serves"),
        "default": Key(Text(blank=True), "what is filled in where nothing is given"),
    }
)
_MODEL = Fields(
    {
        "provider": Key(Choice(("rehearsal", "openai")), "who answers"),
        "name": Key(_LINE, "the model's name"),
        "base_url": Key(
            Text(r"https?://[^\s@]+", "an http or https address without a user name"),
            "the server; you are asked before anything is sent there",
        ),
    },
    instead=dict.fromkeys(("api_key", "api_key_env", "key", "timeout_seconds", "context_window"), _TIGHTEN),
)
_MEMORY = Fields(
    {
        "digest": Key(Flag(), "carry the list of records"),
        "user_memory": Key(Flag(), "carry the index of user memory"),
        "retrieval": Key(Choice(("on", "off", "shadow")), "recall memories that fit the task"),
        "sources": Key(Items(Choice(("ledger", "records")), unique=True), "where recall looks"),
        "top_k": Key(Number(1, 20), "memories in one request"),
        "max_bytes": Key(Number(512, 65_536), "their size together"),
    },
    instead=dict.fromkeys(("save", "auto_save", "directories"), _TIGHTEN),
)

RECIPE = Fields(
    {
        "name": Key(_NAME, "the recipe's name", required=True),
        "description": Key(Text(max_bytes=2_000), "what it is for, in a sentence", required=True),
        "agent": Key(_NAME, "identity for notes, notebook and ledger; default: name"),
        "temporary": Key(Flag(), "a temporary agent keeps no notebook"),
        "instructions": Key(Text(max_bytes=262_144), "what the agent is to be"),
        "prompt": Key(Text(max_bytes=262_144), "the first message; {{ parameter }} is filled in"),
        "parameters": Key(Items(_PARAMETER, most=64), "values asked for before the session starts"),
        "model": Key(_MODEL, "over the settings"),
        "tools": Key(_PATTERNS, "tools to offer; default: all"),
        "approve": Key(_PATTERNS, "tools that ask although their mode would not"),
        "memory": Key(_MEMORY, "what of memory a request carries"),
        "task": Key(Fields({"capture": Key(Flag(), "a run is a task and leaves a note")}), "tasks"),
    },
    instead=dict.fromkeys(
        ("mode", "yes", "allow", "directories", "paths", "scope", "api_key", "api_key_env"), _TIGHTEN
    ),
)


def recipe_schema() -> dict[str, Any]:
    """Return the JSON schema of a recipe file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Muniment recipe",
        **RECIPE.json_schema(),
    }
