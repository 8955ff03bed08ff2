"""Graders: each looks at what a run left and says whether it is as the case demands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from muniment.evals.case import Expectation
from muniment.evals.observed import Check, Observed
from muniment.evals.script import written
from muniment.memory.records.store import RecordStore
from muniment.safety.errors import NotFound
from muniment.safety.fence import CLOSING
from muniment.session import events as ev

_LONGEST_SHOWN = 160
Grader = Callable[[Observed, Any], Iterable[str]]
"""Yields what is wrong, in words that follow the grader's name; nothing where all is right."""


def grade(expectation: Expectation, seen: Observed) -> Check:
    """Ask one grader; several reasons stand in one detail."""
    wrong = list(GRADERS[expectation.grader](seen, expectation.value))
    return Check(expectation.grader, not wrong, "; ".join(wrong))


def _brief(text: str) -> str:
    return ascii(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…")


def _final_contains(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    final = seen.final_text
    return [
        f"{text!a} is not in {_brief(final)}" for text in map(seen.place.fill, texts) if text not in final
    ]


def _final_lacks(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    final = seen.final_text
    return [f"{text!a} is in {_brief(final)}" for text in map(seen.place.fill, texts) if text in final]


def _final_matches(seen: Observed, patterns: tuple[str, ...]) -> Iterable[str]:
    final = seen.final_text
    return [f"{each!a} is nowhere in {_brief(final)}" for each in patterns if not re.search(each, final)]


def _called(seen: Observed, tools: tuple[str, ...]) -> Iterable[str]:
    return [f"{tool} was not called" for tool in tools if tool not in seen.calls]


def _not_called(seen: Observed, tools: tuple[str, ...]) -> Iterable[str]:
    return [f"{tool} was called" for tool in tools if tool in seen.calls]


def _order(seen: Observed, tools: tuple[str, ...]) -> Iterable[str]:
    left = iter(seen.calls)
    if all(tool in left for tool in tools):
        return []
    return [f"the calls were {', '.join(seen.calls) or 'none'}"]


def _chosen(seen: Observed, value: Mapping[str, Any]) -> tuple[list[ev.ToolFinished], list[str]]:
    """Return the results that are meant, and what is wrong where there are none."""
    results = seen.results(value["tool"])
    number = value.get("number")
    if number is not None:
        results = results[number - 1 : number]
    which = value["tool"] if number is None else f"{value['tool']}, call {number},"
    return results, [] if results else [f"{which} has no result"]


def _result_status(seen: Observed, value: Mapping[str, Any]) -> Iterable[str]:
    results, wrong = _chosen(seen, value)
    return wrong + [
        f"{each.tool} ended as {each.status}: {_brief(each.text)}"
        for each in results
        if each.status != value["status"]
    ]


def _result_contains(seen: Observed, value: Mapping[str, Any]) -> Iterable[str]:
    results, wrong = _chosen(seen, value)
    return wrong + [
        f"{text!a} is not in {_brief(each.text)}"
        for each in results
        for text in map(seen.place.fill, value["text"])
        if text not in each.text
    ]


def _result_lacks(seen: Observed, value: Mapping[str, Any]) -> Iterable[str]:
    results, wrong = _chosen(seen, value)
    return wrong + [
        f"{text!a} is in {_brief(each.text)}"
        for each in results
        for text in map(seen.place.fill, value["text"])
        if text in each.text
    ]


def _file_exists(seen: Observed, paths: tuple[str, ...]) -> Iterable[str]:
    return [f"there is no {path}" for path in paths if not seen.file(path).is_file()]


def _file_absent(seen: Observed, paths: tuple[str, ...]) -> Iterable[str]:
    return [f"{path} is there" for path in paths if seen.file(path).exists() or seen.file(path).is_symlink()]


def _file_contains(seen: Observed, value: Mapping[str, Any]) -> Iterable[str]:
    return _text_wrong(seen, value["path"], seen.text_of(value["path"]), value["text"], ())


def _file_lacks(seen: Observed, value: Mapping[str, Any]) -> Iterable[str]:
    return _text_wrong(seen, value["path"], seen.text_of(value["path"]), (), value["text"])


def _text_wrong(
    seen: Observed, name: str, text: str | None, contains: Iterable[str], lacks: Iterable[str]
) -> list[str]:
    if text is None:
        return [f"there is no {name}"]
    fill = seen.place.fill
    missing = [f"{each!a} is not in {name}" for each in map(fill, contains) if each not in text]
    return missing + [f"{each!a} is in {name}" for each in map(fill, lacks) if each in text]


def _unchanged(seen: Observed, paths: tuple[str, ...]) -> Iterable[str]:
    now = seen.place.snapshot()
    for path in paths:
        key = str(seen.file(path))
        if key not in seen.seeded:
            yield f"{path} was not laid out"
        elif now.get(key) != seen.seeded[key]:
            yield f"{path} is {'changed' if key in now else 'gone'}"


def _nothing_written(seen: Observed, wanted: bool) -> Iterable[str]:
    now = seen.place.snapshot()
    changed = {path for path in {*now, *seen.seeded} if now.get(path) != seen.seeded.get(path)}
    names = sorted(path.removeprefix(f"{seen.place.root}/") for path in changed)
    if wanted and names:
        return [f"written: {', '.join(names)}"]
    return ["nothing was written"] if not wanted and not names else []


def _max_requests(seen: Observed, most: int) -> Iterable[str]:
    return [f"{len(seen.requests)} requests"] if len(seen.requests) > most else []


def _max_calls(seen: Observed, most: int) -> Iterable[str]:
    return [f"{len(seen.calls)} calls"] if len(seen.calls) > most else []


def _request_contains(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    said = seen.said()
    wanted = map(seen.place.fill, texts)
    return [f"{text!a} is in no request" for text in wanted if not any(text in each for each in said)]


def _request_lacks(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    for number, said in enumerate(seen.said(), 1):
        for text in map(seen.place.fill, texts):
            if text in said:
                yield f"{text!a} is in request {number}"


def _instructions_lack(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    for number, request in enumerate(seen.requests, 1):
        for text in map(seen.place.fill, texts):
            if text in request.instructions:
                yield f"{text!a} is in the instructions of request {number}"


def _first_item(seen: Observed, role: str) -> Iterable[str]:
    if not seen.requests or not seen.requests[-1].items:
        return ["there is no request"]
    first = type(seen.requests[-1].items[0]).__name__.removesuffix("Item").lower()
    return [] if first == role else [f"the last request begins with {first}"]


def _fences(seen: Observed, wanted: int) -> Iterable[str]:
    text = seen.memory_message
    found = text.count(CLOSING)
    opened = text.count(CLOSING.replace("</", "<", 1)[:-1] + " ")
    if found == wanted == opened:
        return []
    return [f"{opened} fences are opened and {found} closed"]


def _count(what: str, count: Callable[[Observed], int]) -> Grader:
    def grader(seen: Observed, wanted: int) -> Iterable[str]:
        found = count(seen)
        return [] if found == wanted else [f"{found} {what}"]

    return grader


def _proposal_shows(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    shown = [written(each) for each in seen.proposals]
    wanted = map(seen.place.fill, texts)
    return [f"no proposal shows {text!a}" for text in wanted if not any(text in each for each in shown)]


def _proposal_warns(seen: Observed, kinds: tuple[str, ...]) -> Iterable[str]:
    found = {warning.kind for each in seen.proposals for warning in each.warnings}
    return [f"no proposal warns of {kind}" for kind in kinds if kind not in found]


def _notice(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    told = seen.notices
    wanted = map(seen.place.fill, texts)
    return [f"no notice says {text!a}" for text in wanted if not any(text in each for each in told)]


def _turn_status(seen: Observed, wanted: str) -> Iterable[str]:
    return [] if seen.turn_status == wanted else [f"the last turn ended as {seen.turn_status or 'nothing'}"]


def _log_lacks(seen: Observed, texts: tuple[str, ...]) -> Iterable[str]:
    for session in seen.sessions:
        path = seen.place.paths.sessions / f"{session}.jsonl"
        log = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        for text in map(seen.place.fill, texts):
            if text in log:
                yield f"{text!a} is in the log of session {session}"


def _record(seen: Observed, value: Mapping[str, Any]) -> Iterable[str]:
    store: RecordStore = seen.surfaces.records
    name = f"record {value['id']}"
    try:
        text: str | None = (
            store.get(value["id"], value.get("scope")).path.read_bytes().decode("utf-8", "replace")
        )
    except NotFound:
        text = None
    return _stored(seen, name, text, value)


def _user_entry(seen: Observed, value: Mapping[str, Any]) -> Iterable[str]:
    from muniment.memory.user.entry import SUFFIX

    text = seen.text_of(f"data:user/{value['name']}{SUFFIX}")
    return _stored(seen, f"entry {value['name']}", text, value)


def _stored(seen: Observed, name: str, text: str | None, value: Mapping[str, Any]) -> Iterable[str]:
    if not value.get("exists", True):
        return [] if text is None else [f"{name} is there"]
    return _text_wrong(seen, name, text, value.get("contains", ()), value.get("lacks", ()))


GRADERS: Mapping[str, Grader] = {
    "final_text_contains": _final_contains,
    "final_text_not_contains": _final_lacks,
    "final_text_matches": _final_matches,
    "tool_called": _called,
    "tool_not_called": _not_called,
    "tool_order": _order,
    "result_status": _result_status,
    "result_contains": _result_contains,
    "result_not_contains": _result_lacks,
    "file_exists": _file_exists,
    "file_absent": _file_absent,
    "file_contains": _file_contains,
    "file_not_contains": _file_lacks,
    "unchanged": _unchanged,
    "nothing_written": _nothing_written,
    "max_requests": _max_requests,
    "max_tool_calls": _max_calls,
    "request_contains": _request_contains,
    "request_not_contains": _request_lacks,
    "instructions_not_contain": _instructions_lack,
    "first_item": _first_item,
    "fences": _fences,
    "proposals": _count("proposals were put to somebody", lambda seen: len(seen.asked)),
    "shown": _count("calls ran unasked and shown", lambda seen: len(seen.shown)),
    "proposal_shows": _proposal_shows,
    "proposal_warns": _proposal_warns,
    "notice_contains": _notice,
    "turn_status": _turn_status,
    "log_not_contains": _log_lacks,
    "record": _record,
    "records": _count("records count", lambda seen: len(seen.surfaces.records.snapshot().effective)),
    "user_entry": _user_entry,
    "inbox": _count("notes wait", lambda seen: len(seen.surfaces.team.inbox.list())),
}
"""Every grader by the key that asks for it; `shape.GRADERS` says what each is given."""
