"""The one YAML reader and writer: text stays text, and nothing that could surprise is accepted.

Reading goes over the parser's events and builds text, lists and mappings only. Anchors, aliases, tags,
repeated keys, several documents, deep nesting and oversize are faults with a place. Texts as simple as most
records take the quick way of `muniment.safety.yaml_simple`, which knows no faults.
`muniment.safety.yaml_writer` writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from muniment.safety.errors import MunimentError
from muniment.safety.yaml_simple import read_simple
from muniment.safety.yaml_writer import Plain, dump, scalar

__all__ = ["Marks", "Value", "YamlFault", "as_written", "dump", "load", "load_marked"]

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
KeyPath: TypeAlias = "tuple[str | int, ...]"
Place: TypeAlias = "tuple[int, int]"

MAX_BYTES = 1_048_576
MAX_DEPTH = 32
NULLS = ("null", "Null", "NULL", "~")
"""What other programs write without quotes for no value; `load` returns the word, as it may be meant."""


class YamlFault(MunimentError):  # noqa: N818 - says what happened
    """A text that is not the YAML we read; line and column count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.problem = problem
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands: line and column of its start and just after its end, and how it is written."""

    line: int
    column: int
    end_line: int
    end_column: int
    start_index: int
    end_index: int
    style: str
    """`plain`, `quoted`, `block` (literal or folded text), `flow` or `indented` (collections)."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Places of keys and values by their path, such as `("memory", "top_k")` or `("tags", 0)`."""

    keys: dict[KeyPath, Place] = field(default_factory=dict)
    values: dict[KeyPath, Span] = field(default_factory=dict)

    def __getitem__(self, path: KeyPath) -> Place:
        """Return line and column of a key, or of a list's item, or of the nearest thing around it."""
        while path:
            if path in self.keys:
                return self.keys[path]
            if path in self.values:
                return self.values[path].line, self.values[path].column
            path = path[:-1]
        return (1, 1)

    def value(self, path: KeyPath) -> Place:
        """Return line and column where the value itself starts."""
        span = self.values.get(path)
        return self[path] if span is None else (span.line, span.column)

    def is_quoted(self, path: KeyPath) -> bool:
        span = self.values.get(path)
        return span is not None and span.style in ("quoted", "block")


def load(data: bytes | str, *, max_bytes: int = MAX_BYTES) -> Value:
    """Read one document; an unquoted empty scalar is None, every other scalar is the text as written.

    Raise `YamlFault` for anything that is not accepted.
    """
    return _read(data, max_bytes, None)


def load_marked(data: bytes | str) -> tuple[Value, Marks]:
    """Read one document like `load` and say where each key and value stands."""
    marks = Marks()
    return _read(data, MAX_BYTES, marks), marks


def as_written(fields: dict[str, Value], data: bytes | str) -> dict[str, Value]:
    """Return fields of a document as `dump` writes them like they stood there, numbers without quotes.

    `fields` are some of what `load` returned for `data`, unchanged. As text they are what they were.
    """
    if not _has_unquoted(fields):
        return fields
    _, marks = load_marked(data)

    def kept(value: Value, path: KeyPath) -> Value:
        if isinstance(value, dict):
            return {key: kept(each, (*path, key)) for key, each in value.items()}
        if isinstance(value, list):
            return [kept(each, (*path, number)) for number, each in enumerate(value)]
        if value is None or path not in marks.values or marks.values[path].style != "plain":
            return value
        return Plain(value)

    return {key: kept(value, (key,)) for key, value in fields.items()}


def _has_unquoted(value: Value) -> bool:
    """Tell whether a value holds a text that a writer puts in quotes, which it may not have had."""
    if isinstance(value, dict):
        return any(map(_has_unquoted, value.values()))
    if isinstance(value, list):
        return any(map(_has_unquoted, value))
    return value is not None and "\n" not in value and scalar(value) != value


def _read(data: bytes | str, max_bytes: int, marks: Marks | None) -> Value:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > max_bytes:
        raise YamlFault(f"the text is larger than {max_bytes} bytes", 1, 1)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise YamlFault("the text is not UTF-8", 1, 1)
    if marks is None:
        simple = read_simple(raw)
        if simple is not None:
            return simple
    parser = _parser()
    try:
        return _build(parser.events(raw), parser, marks)
    except parser.reader_error as error:
        raise _reader_fault(raw, error) from None
    except parser.marked_error as error:
        raise _marked_fault(error) from None


class _Parser(NamedTuple):
    """What is needed of PyYAML, looked up once: importing it costs more than many a command takes."""

    events: Callable[[bytes], Callable[[], Any]]
    reader_error: type[Exception]
    marked_error: type[Exception]
    scalar: type
    mapping_start: type
    mapping_end: type
    sequence_start: type
    sequence_end: type
    document_start: type
    stream_end: type
    silent: frozenset[type]


@cache
def _parser() -> _Parser:
    import yaml
    from yaml import events as kinds

    if getattr(yaml, "__with_libyaml__", False):
        from yaml._yaml import CParser

        def events(raw: bytes) -> Callable[[], Any]:
            next_event: Callable[[], Any] = CParser(raw).get_event
            return next_event
    else:
        from muniment.safety.yaml_fallback import python_events as events
    return _Parser(
        events,
        yaml.reader.ReaderError,
        yaml.MarkedYAMLError,
        kinds.ScalarEvent,
        kinds.MappingStartEvent,
        kinds.MappingEndEvent,
        kinds.SequenceStartEvent,
        kinds.SequenceEndEvent,
        kinds.DocumentStartEvent,
        kinds.StreamEndEvent,
        frozenset((kinds.StreamStartEvent, kinds.DocumentEndEvent)),
    )


def _build(next_event: Callable[[], Any], parser: _Parser, marks: Marks | None) -> Value:
    """Build the document from its events, with a stack of our own so that no nesting ends in a recursion."""
    scalar, mapping_start, sequence_start = parser.scalar, parser.mapping_start, parser.sequence_start
    root: Value = None
    seen_document = False
    stack: list[tuple[Any, str | None, KeyPath]] = []
    container: Any = None  # the list or dict being filled; None at the top
    is_map = False
    key: str | None = None  # the key that waits for its value, in a dict
    path: KeyPath = ()  # the path of `container`, kept only with marks
    here: KeyPath = ()
    while True:
        event = next_event()
        kind = event.__class__
        if kind is scalar:
            if event.anchor is not None or event.tag is not None:
                raise _refusal(event)
            value: Any = event.value
            if is_map and key is None:
                if value in container:
                    raise _fault(f"the key {_short(value)} stands twice", event)
                if not value and not event.style:
                    raise _fault("a key is empty", event)
                key = value
                if marks is not None:
                    start = event.start_mark
                    marks.keys[*path, value] = (start.line + 1, start.column + 1)
                continue
            if not value and not event.style:
                value = None
            if marks is not None:
                here = _path_of(path, container, is_map, key)
                style = "plain" if not event.style else "block" if event.style in "|>" else "quoted"
                marks.values[here] = _span(event, event, style)
        elif kind is mapping_start or kind is sequence_start:
            if event.anchor is not None or event.tag is not None:
                raise _refusal(event)
            if is_map and key is None:
                raise _fault("a key must be text", event)
            if len(stack) >= MAX_DEPTH:
                raise _fault(f"nested deeper than {MAX_DEPTH} levels", event)
            if marks is not None:
                here = _path_of(path, container, is_map, key)
                marks.values[here] = _span(event, event, "flow" if event.flow_style else "indented")
            stack.append((container, key, path))
            is_map = kind is mapping_start
            container, key, path = {} if is_map else [], None, here
            continue
        elif kind is parser.mapping_end or kind is parser.sequence_end:
            value = container
            if marks is not None:
                marks.values[path] = _span(marks.values[path], event, marks.values[path].style)
            container, key, path = stack.pop()
            is_map = container.__class__ is dict
        elif kind in parser.silent:
            continue
        elif kind is parser.document_start:
            if seen_document:
                raise _fault("a second document starts here; only one is read", event)
            seen_document = True
            continue
        elif kind is parser.stream_end:
            return root
        else:
            raise _refusal(event)
        if is_map:
            container[key] = value
            key = None
        elif container is None:
            root = value
        else:
            container.append(value)


def _path_of(path: KeyPath, container: Any, is_map: bool, key: str | None) -> KeyPath:
    if container is None:
        return ()
    return (*path, key) if is_map and key is not None else (*path, len(container))


def _span(first: Any, last: Any, style: str) -> Span:
    if isinstance(first, Span):
        line, column, index = first.line, first.column, first.start_index
    else:
        line, column, index = first.start_mark.line + 1, first.start_mark.column + 1, first.start_mark.index
    end = last.end_mark
    return Span(line, column, end.line + 1, end.column + 1, index, end.index, style)


def _fault(problem: str, event: Any) -> YamlFault:
    mark = event.start_mark
    return YamlFault(problem, mark.line + 1, mark.column + 1)


def _refusal(event: Any) -> YamlFault:
    if event.__class__.__name__ == "AliasEvent":
        return _fault(f"the alias {_short('*' + event.anchor)} is not allowed; write the value out", event)
    if event.anchor is not None:
        return _fault(f"the anchor {_short('&' + event.anchor)} is not allowed; aliases are not read", event)
    return _fault(f"the tag {_short(event.tag)} is not allowed; values are plain text", event)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _marked_fault(error: Any) -> YamlFault:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "cannot be read"
    if "nesting depth" in problem:
        problem = "nested too deep"
    if error.context:
        problem = f"{error.context}, {problem}"
    begun = error.context_mark
    if begun is not None and mark is not None and begun.line != mark.line:
        problem += f" (it begins in line {begun.line + 1})"
    if mark is None:
        return YamlFault(problem, 1, 1)
    return YamlFault(problem, mark.line + 1, mark.column + 1)


def _reader_fault(raw: bytes, error: Any) -> YamlFault:
    """A reader error knows only an offset in bytes: find line and column."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as undecodable:
        return YamlFault("the text is not UTF-8", *_place(raw, undecodable.start))
    problem = f"the character U+{error.character:04X} must be written as an escape"
    return YamlFault(problem, *_place(raw, error.position))


def _place(raw: bytes, offset: int) -> Place:
    before = raw[:offset]
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    return before.count(b"\n") + 1, column
