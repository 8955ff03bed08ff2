"""The shape of a case file: which keys there are, what each may be, and what it is for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from muniment.approval.policy import Mode
from muniment.memory.ledger.row import SCOPE_KINDS, TRUSTS, TYPES
from muniment.safety.schema import (
    INVALID,
    AnyKeys,
    Choice,
    Fields,
    Flag,
    Items,
    Key,
    Number,
    Report,
    Shape,
    Text,
)
from muniment.safety.strict_yaml import KeyPath, Value
from muniment.session.recipes.shape import TOOL_NAMES
from muniment.settings.shape import AGENT_NAME
from muniment.tools.status import ToolStatus

MAX_USER_ENTRIES = 32
MAX_RECORDS = 1_000
_NAME = Text(AGENT_NAME, "lower-case words joined by hyphens, at most 64 letters", 64)
_LINE = Text(one_line=True, max_bytes=1_000)
_BODY = Text(blank=True, max_bytes=1_048_576)
_PATH = Text(
    r"(?:data:|config:)?(?!/)(?!.*(?:^|/)\.\.(?:/|$)).+",
    "a path from the project's directory on, or data:… or config:…, without ..",
    4_000,
)
_TOOL = Choice(TOOL_NAMES)


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """A value of one shape or a list of them; gives a tuple."""

    item: Shape

    def allowed(self) -> str:
        return f"{self.item.allowed()}, or a list of it"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if isinstance(value, list):
            return Items(self.item).check(value, path, report)
        checked = self.item.check(value, path, report)
        return INVALID if checked is INVALID else (checked,)

    def json_schema(self) -> dict[str, Any]:
        one = self.item.json_schema()
        return {"anyOf": [one, {"type": "array", "items": one}]}


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call; gives the JSON text that is sent.

    A text is sent as it is, right or wrong. In a mapping an unquoted number, true, false or null is what
    JSON calls it, everything else is text.
    """

    def allowed(self) -> str:
        return "a mapping, or the JSON text as the model would send it"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            report.at_value(path, "is not a mapping", allowed=self.allowed())
            return INVALID
        return json.dumps(_json_value(value, path, report), ensure_ascii=False)

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["object", "string"]}


def _json_value(value: Value, path: KeyPath, report: Report) -> Any:
    if isinstance(value, dict):
        return {key: _json_value(each, (*path, key), report) for key, each in value.items()}
    if isinstance(value, list):
        return [_json_value(each, (*path, at), report) for at, each in enumerate(value)]
    if isinstance(value, str) and not report.marks.is_quoted(path):
        plain = {"true": True, "false": False, "null": None}
        if value in plain:
            return plain[value]
        if re.fullmatch(r"-?(?:0|[1-9]\d{0,15})", value, re.ASCII):
            return int(value)
    return value


@dataclass(frozen=True, slots=True)
class Answers:
    """What is answered to proposals: one word for all of them, or a list in their order."""

    def allowed(self) -> str:
        return "allow, deny, none, or a list of answers in the order of proposals"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if isinstance(value, list):
            return Items(_Answer()).check(value, path, report)
        return Choice(("allow", "deny", "none")).check(value, path, report)

    def json_schema(self) -> dict[str, Any]:
        words = {"enum": ["allow", "deny", "none"]}
        return {"anyOf": [words, {"type": "array", "items": _Answer().json_schema()}]}


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer: a word, or a mapping that also says what the proposal must show."""

    def allowed(self) -> str:
        return f"allow, deny, or {ANSWER.allowed()}"

    def check(self, value: Value, path: KeyPath, report: Report) -> Any:
        if isinstance(value, str):
            word = _DECISION.check(value, path, report)
            return INVALID if word is INVALID else {"answer": word}
        return ANSWER.check(value, path, report)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [_DECISION.json_schema(), ANSWER.json_schema()]}


_DECISION = Choice(("allow", "deny"))
_EDITS: Mapping[str, Key] = {
    "edits": Key(AnyKeys(_BODY), "files written by somebody else at this moment: path and whole text"),
    "removes": Key(OneOrMore(_PATH), "files that somebody else removes at this moment"),
}
ANSWER = Fields(
    {
        "answer": Key(_DECISION, "the decision", required=True),
        "reason": Key(Text(), "what the model is told why it was denied"),
        "tool": Key(_TOOL, "the tool that must be asking"),
        "shows": Key(OneOrMore(_BODY), "texts that the proposal must show, as a terminal shows them"),
        "warns": Key(OneOrMore(_LINE), "kinds of warnings that must stand there"),
        **_EDITS,
    }
)
RECORD = Fields(
    {
        "id": Key(_LINE, "identifier; with repeat -1, -2, … are added", required=True),
        "title": Key(Text(), "title; with repeat the number is added", required=True),
        "content": Key(_BODY, "content", required=True),
        "scope": Key(Choice(("project", "global")), "which store; default: project"),
        "directory": Key(_PATH, "directory of the project whose .muniment holds it; default: its root"),
        "category": Key(_LINE),
        "tags": Key(Items(_BODY)),
        "source": Key(_LINE),
        "expires_at": Key(_LINE, "time of expiry"),
        "created_at": Key(_LINE, "time of creation and last change; default: a fixed day"),
        "repeat": Key(Number(1, MAX_RECORDS), "so many of it"),
    }
)
MEMORY = Fields(
    {
        "records": Key(Items(RECORD, most=MAX_RECORDS), "records"),
        "user": Key(
            Items(
                Fields(
                    {
                        "name": Key(_LINE, required=True),
                        "type": Key(_LINE, required=True),
                        "summary": Key(_BODY, required=True),
                        "details": Key(_BODY),
                    }
                ),
                most=MAX_USER_ENTRIES,
            ),
            "entries of user memory",
        ),
        "pinned": Key(_BODY, "what is pinned in the project"),
        "notes": Key(_BODY, "the team's notes of the project"),
        "inbox": Key(
            Items(
                Fields(
                    {
                        "title": Key(_BODY, required=True),
                        "body": Key(_BODY, required=True),
                        "agent": Key(_BODY, "who wrote it"),
                    }
                )
            ),
            "notes that wait for review",
        ),
        "ledger": Key(
            Items(
                Fields(
                    {
                        "type": Key(Choice(TYPES), required=True),
                        "title": Key(_BODY, required=True),
                        "body": Key(_BODY, required=True),
                        "scope": Key(Choice(SCOPE_KINDS), "default: project"),
                        "project": Key(_LINE, "key of another project than this one"),
                        "agent": Key(_LINE, "whose row it is, for the scope agent"),
                        "trust": Key(Choice(TRUSTS), "default: agent"),
                        "source": Key(_BODY, "where it came from"),
                        "tags": Key(Items(_BODY)),
                        "paths": Key(Items(_BODY)),
                        "importance": Key(Number(0, 1, decimal=True)),
                        "confidence": Key(Number(0, 1, decimal=True)),
                    }
                )
            ),
            "rows of the ledger",
        ),
    }
)
REPLY = Fields(
    {
        "text": Key(_BODY, "what the model says"),
        "calls": Key(
            Items(
                Fields(
                    {
                        "tool": Key(Text(), "name of the tool, known or not", required=True),
                        "arguments": Key(Arguments(), "its arguments; default: none"),
                    }
                ),
                most=32,
            ),
            "tools that the model calls",
        ),
        "expect": Key(OneOrMore(_BODY), "texts that must stand in the request before this is answered"),
        "forbid": Key(OneOrMore(_BODY), "texts that must not stand in it"),
    }
)
TURN = Fields(
    {
        "say": Key(Text(max_bytes=1_048_576), "the user's message", required=True),
        "session": Key(
            Choice(("same", "new", "resume")), "in the same session, a new one, or the same opened anew"
        ),
        "replies": Key(Items(REPLY, most=16), "what the model answers, one reply for each request"),
        **_EDITS,
    }
)
_RESULT: Mapping[str, Key] = {
    "tool": Key(Text(), "the tool", required=True),
    "number": Key(Number(1, 99), "which call of that tool; default: every one"),
}
_TEXTS = Key(OneOrMore(_BODY))
_FILE = Fields({"path": Key(_PATH, required=True), "text": Key(OneOrMore(_BODY), required=True)})
_RESULT_TEXT = Fields({**_RESULT, "text": Key(OneOrMore(_BODY), required=True)})
_STORED: Mapping[str, Key] = {
    "exists": Key(Flag(), "false: it must not be there"),
    "contains": Key(OneOrMore(_BODY), "texts that its file must hold"),
    "lacks": Key(OneOrMore(_BODY), "texts that its file must not hold"),
}
GRADERS = Fields(
    {
        "final_text_contains": _TEXTS,
        "final_text_not_contains": _TEXTS,
        "final_text_matches": Key(OneOrMore(Text()), "regular expressions"),
        "tool_called": Key(OneOrMore(Text())),
        "tool_not_called": Key(OneOrMore(Text())),
        "tool_order": Key(Items(Text()), "these tools were called in this order, others between them or not"),
        "result_status": Key(Fields({**_RESULT, "status": Key(Choice(get_args(ToolStatus)), required=True)})),
        "result_contains": Key(_RESULT_TEXT),
        "result_not_contains": Key(_RESULT_TEXT),
        "file_exists": Key(OneOrMore(_PATH)),
        "file_absent": Key(OneOrMore(_PATH)),
        "file_contains": Key(_FILE),
        "file_not_contains": Key(_FILE),
        "unchanged": Key(OneOrMore(_PATH), "files that are byte for byte as they were laid out"),
        "nothing_written": Key(Flag(), "neither memory nor any file of the project changed"),
        "max_requests": Key(Number(0, 10_000)),
        "max_tool_calls": Key(Number(0, 10_000)),
        "request_contains": Key(OneOrMore(_BODY), "some request holds it"),
        "request_not_contains": Key(OneOrMore(_BODY), "no request holds it"),
        "instructions_not_contain": Key(OneOrMore(_BODY), "no request has it in its instructions"),
        "first_item": Key(Choice(("user", "assistant")), "who the last request begins with"),
        "fences": Key(Number(0, 1_000), "fenced blocks that the last request begins with, each ended once"),
        "proposals": Key(Number(0, 1_000), "how many proposals were put to somebody"),
        "shown": Key(Number(0, 1_000), "how many ran unasked with their fields shown"),
        "proposal_shows": Key(OneOrMore(_BODY), "some proposal shows it, as a terminal would"),
        "proposal_warns": Key(OneOrMore(_LINE), "some proposal has a warning of this kind"),
        "notice_contains": _TEXTS,
        "turn_status": Key(Choice(("completed", "failed", "cancelled")), "how the last turn ended"),
        "log_not_contains": Key(OneOrMore(_BODY), "no session log holds it"),
        "record": Key(
            Fields(
                {
                    "id": Key(_LINE, required=True),
                    "scope": Key(Choice(("project", "global")), "default: the copy that counts"),
                    **_STORED,
                }
            )
        ),
        "records": Key(Number(0, 100_000), "how many records count"),
        "user_entry": Key(Fields({"name": Key(_LINE, required=True), **_STORED})),
        "inbox": Key(Number(0, 100_000), "how many notes wait for review"),
    }
)
CASE = Fields(
    {
        "name": Key(_NAME, "the case's name", required=True),
        "description": Key(Text(max_bytes=2_000), "what it shows, in a sentence", required=True),
        "live": Key(Flag(), "asked of the configured model, with --live only; has no replies"),
        "mode": Key(Choice(tuple(map(str, Mode))), "what runs unasked in its first session"),
        "recipe": Key(_LINE, "a known recipe's name, or a path from this file on"),
        "parameters": Key(AnyKeys(_BODY), "values for the recipe's parameters"),
        "project": Key(Flag(), "whether the project has a .muniment directory; default: true"),
        "directory": Key(_PATH, "where the session works, from the project's directory on"),
        "environment": Key(
            Fields({name: Key(_BODY) for name in ("MUNIMENT_NO_MEMORY_INJECT", "MUNIMENT_MEMORY")}),
            "switches",
        ),
        "memory": Key(MEMORY, "what is remembered before the first turn"),
        "files": Key(AnyKeys(_BODY), "files of the project: path and text"),
        "links": Key(AnyKeys(_LINE), "symbolic links: path and target"),
        "turns": Key(Items(TURN, most=32), "the conversation", required=True),
        "approve": Key(Answers(), "what is answered to proposals; default: nobody is there to ask"),
        "expect": Key(Items(GRADERS), "what must be so at the end", required=True),
    }
)
