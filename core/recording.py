"""A recorded response: its chunks and deltas as one line of JSON, read again, parsed again, compared.

The plugins write such lines (serving/record.py). What is needed to parse the response again is all there: dialect,
tools, options, the chunks as they came, the engine's finish reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any

from .deltas import ContentDelta, Delta, Message, ReasoningDelta, ToolCallDelta, assemble
from .errors import ConfigurationError
from .response import ResponseParser
from .tracing import Trace, trace

__all__ = ["OPTIONS", "Recording", "corpus_line", "differences", "from_json", "read_recordings", "to_json"]

OPTIONS = ("starts_in_reasoning", "reasoning", "tool_choice", "parallel_tool_calls", "undeclared_tools",
           "reasoning_calls", "arguments", "previous_calls", "held_arguments", "constrained")  # fmt: skip
# Options that change the result; a line of the corpus has no others.
_CORPUS_OPTIONS = OPTIONS[:8]
_KINDS: dict[str, type[ContentDelta] | type[ReasoningDelta] | type[ToolCallDelta]] = {
    "content": ContentDelta, "reasoning": ReasoningDelta, "tool_call": ToolCallDelta,
}  # fmt: skip


@dataclass
class Recording:
    """One response. ``deltas`` are paired with the number of the chunk that brought them, the number of chunks where
    the end of the input did. ``controls``: chunk -> spans that were control tokens. ``finished`` is False where the
    response was too long to be recorded to its end; ``defect``: the parser failed."""

    dialect: str
    tools: list[Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    chunks: list[str] = field(default_factory=list)
    deltas: list[tuple[int, Delta]] = field(default_factory=list)
    controls: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    finish_reason: str | None = None
    finished: bool = True
    defect: bool = False
    anomalies: dict[str, int] = field(default_factory=dict)
    engine: str = ""
    toolglot: str = ""
    time: str = ""

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.chunks)

    @property
    def message(self) -> Message:
        """What the deltas add up to."""
        return assemble(delta for _, delta in self.deltas)

    def parser(self, dialect: str | None = None, make_id: Callable[[str, int], str] | None = None) -> ResponseParser:
        """A parser for the same request; calls get the ids they had."""
        return ResponseParser(
            dialect or self.dialect, self.tools, make_id=make_id or self._make_id(), **self.options
        )

    def again(self, dialect: str | None = None) -> Recording:
        """The same response, parsed now."""
        parser = self.parser(dialect)
        deltas: list[tuple[int, Delta]] = []
        for at, chunk in enumerate(self.chunks):
            deltas += ((at, delta) for delta in parser.feed(chunk, self.controls.get(at)))
        if self.finished:
            deltas += ((len(self.chunks), delta) for delta in parser.finish(self.finish_reason))
        return Recording(
            parser.dialect.name, self.tools, self.options, self.chunks, deltas, self.controls, self.finish_reason,
            self.finished, anomalies={kind: count for kind, count in parser.anomalies.items() if count},
        )  # fmt: skip

    def trace(self, dialect: str | None = None) -> Trace:
        """What becomes of every character now."""
        controls = None
        if self.controls:
            starts = [sum(map(len, self.chunks[:at])) for at in range(len(self.chunks))]
            controls = [(starts[at] + a, starts[at] + b) for at, spans in self.controls.items() for a, b in spans]
        return trace(
            self.text, dialect or self.dialect, self.tools, finish_reason=self.finish_reason, controls=controls,
            make_id=self._make_id(), **self.options,
        )  # fmt: skip

    def _make_id(self) -> Callable[[str, int], str]:
        ids = {delta.index: delta.id for _, delta in self.deltas if isinstance(delta, ToolCallDelta) and delta.name}
        return lambda name, index: ids.get(index) or f"call_{index}"


def to_json(recording: Recording) -> str:
    """One line, without what is as in any other recording."""
    usual = vars(Recording(recording.dialect))
    data = {name: value for name, value in vars(recording).items() if name == "dialect" or value != usual[name]}
    data["deltas"] = [[at, _fields(delta)] for at, delta in recording.deltas]
    return json.dumps(data)


def from_json(line: str) -> Recording:
    """The recording of a line. Raises ConfigurationError for what is none."""
    try:
        data = json.loads(line)
        if not isinstance(data, dict) or not isinstance(data.get("dialect"), str):
            raise ValueError("no recorded response")
        unknown = sorted(data.keys() - {item.name for item in fields(Recording)}) + sorted(
            data.get("options", {}).keys() - set(OPTIONS)
        )
        if unknown:
            raise ValueError(f"unknown field {unknown[0]!r}")
        data["deltas"] = [(int(at), _delta(delta)) for at, delta in data.get("deltas", [])]
        data["controls"] = {
            int(at): [(int(a), int(b)) for a, b in spans] for at, spans in data.get("controls", {}).items()
        }
        recording = Recording(**data)
        if not all(isinstance(value, str) for value in (recording.engine, recording.toolglot, recording.time)):
            raise ValueError("engine, toolglot and time are texts")
        recording.text, recording.message  # noqa: B018  both fail on what is no response
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ConfigurationError(f"no recorded response: {error}") from error
    return recording


def read_recordings(path: str, number: int | None = None) -> list[tuple[int, Recording]]:
    """The responses of a file, or the one with that number, counted from 1.

    A last line that was cut is left out. Raises ConfigurationError for any other wrong line, and for a wrong number.
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = [(at, line) for at, line in enumerate(file, 1) if line.strip()]
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is no UTF-8 text: {error}") from error
    found: list[tuple[int, Recording]] = []
    for at, line in lines:
        try:
            found.append((len(found) + 1, from_json(line)))
        except ConfigurationError as error:
            if found and at == lines[-1][0] and not line.endswith("\n"):
                break
            raise ConfigurationError(f"{path}:{at}: {error}") from error
    if number is not None and not 1 <= number <= len(found):
        raise ConfigurationError(f"{path} holds {len(found)} responses, none has number {number}")
    return found if number is None else found[number - 1 : number]


def differences(old: Recording, new: Recording) -> Iterator[tuple[str, str, str]]:
    """Where two parses of one text differ: what, as it was, as it is."""
    before, after = old.message, new.message
    same = before == after
    for name in ("content", "reasoning"):
        if getattr(before, name) != getattr(after, name):
            yield name, json.dumps(getattr(before, name)), json.dumps(getattr(after, name))
    for index in range(max(len(before.tool_calls), len(after.tool_calls))):
        pair = [
            json.dumps(asdict(message.tool_calls[index])) if index < len(message.tool_calls) else "none"
            for message in (before, after)
        ]
        if pair[0] != pair[1]:
            yield f"call {index}", pair[0], pair[1]
    if old.anomalies != new.anomalies:
        yield "counters", json.dumps(old.anomalies, sort_keys=True), json.dumps(new.anomalies, sort_keys=True)
    if same and old.deltas != new.deltas:
        at = next((at for at, pair in enumerate(zip(old.deltas, new.deltas, strict=False)) if pair[0] != pair[1]),
                  min(len(old.deltas), len(new.deltas)))  # fmt: skip
        one, other = (_shown(recording.deltas[at : at + 1]) for recording in (old, new))
        yield f"delta {at}, with the same message", one, other


def corpus_line(recording: Recording, source: str, dialect: str | None = None) -> dict[str, Any]:
    """A line for tests/corpus: what is expected is what this version makes of it, to be looked over."""
    parser = recording.parser(dialect, make_id=lambda name, index: "?")
    raw = recording.text
    message = assemble([*parser.feed(raw), *parser.finish(recording.finish_reason)])
    options = {name: value for name, value in recording.options.items() if name in _CORPUS_OPTIONS}
    calls = []
    for call in message.tool_calls:
        expected = {"name": call.name, "arguments": call.arguments, "complete": call.complete}
        calls.append(expected if call.id == "?" else {**expected, "id": call.id})
    number = sha256(raw.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    line = {
        "id": f"{parser.dialect.name.replace('_', '-')}-recorded-{number}",
        "source": source,
        "raw": raw,
        "tools": recording.tools,
        "options": options,
        "finish_reason": recording.finish_reason,
        "expected": {"content": message.content, "reasoning": message.reasoning, "tool_calls": calls},
    }
    return {name: value for name, value in line.items() if value or name not in ("options", "finish_reason")}


def _fields(delta: Delta) -> dict[str, Any]:
    values = asdict(delta).items()
    return {"kind": delta.kind, **{name: value for name, value in values if value is not None and value is not False}}


def _delta(data: Mapping[str, Any]) -> Delta:
    values = dict(data)
    return _KINDS[values.pop("kind")](**values)


def _shown(deltas: list[tuple[int, Delta]]) -> str:
    return f"chunk {deltas[0][0]}: {json.dumps(_fields(deltas[0][1]))}" if deltas else "none"
