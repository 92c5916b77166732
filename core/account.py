"""The account of a trace (tracing.py): kind and call of every character, and the deltas and events on the way.

It is told what the parser does: text was settled, shown, given back; a name was read; arguments were emitted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from .buffer import Buffer
from .deltas import Delta, ToolCallDelta

__all__ = ["PARTIAL", "Account", "Emission", "Event", "Source", "Span"]

PARTIAL = " may become a marker"  # ends a reason to hold text
_UNKNOWN = ""
_LONGEST = 2000  # a name of 256 characters, all of them escapes, is shorter


@dataclass(frozen=True)
class Span:
    """A run of characters of one kind; ``call`` is the call's index where it belongs to one."""

    start: int
    end: int
    kind: str
    call: int | None = None


@dataclass(frozen=True)
class Event:
    """Something that happened when so many characters had come."""

    at: int
    what: str


@dataclass(frozen=True)
class Emission:
    """A delta. It went out when ``at`` characters had come (``end``: at the end of the input); its first character
    is at ``start``, None where it was made by the parser. ``why``: what it waited for, nothing if it did not."""

    at: int
    delta: Delta
    start: int | None
    why: tuple[str, ...]
    end: bool = False

    @property
    def held(self) -> int:
        """How many characters came after its first one before it went out."""
        return 0 if self.start is None else self.at - 1 - self.start


class Source(Protocol):
    """What the account asks the machine."""

    buf: Buffer
    anomalies: Counter[str]

    @property
    def converting(self) -> int | None:
        """Index of the open call whose arguments are not written as JSON, -1 of one that is dropped."""
        ...

    def between_calls(self, literal: bool) -> bool:
        """Whether settled text that is no blank is noise; ``literal``: a literal follows it."""
        ...

    def state(self) -> str:
        """The state in words."""
        ...

    def reason_to_hold(self, unsent: bool) -> str:
        """Why text waits, "" where none does; ``unsent``: arguments are settled that have not gone out."""
        ...


@dataclass
class Account:
    """Kind and call of every character so far, and the deltas and events on the way."""

    machine: Source
    text: str = ""
    kinds: list[str] = field(default_factory=list)
    owners: list[int | None] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    emissions: list[Emission] = field(default_factory=list)
    settled: int = 0
    moves: list[tuple[int, int, bool]] = field(default_factory=list)  # of the block in progress; was it a literal
    names: dict[int, int] = field(default_factory=dict)  # call -> where its name begins
    shown: list[int] = field(default_factory=list)  # where each character of text shown in this step came from
    unsent: int | None = None  # first character of arguments that have not gone out
    reasons: list[str] = field(default_factory=list)  # why text was held after each character
    state: str = ""
    counted: Counter[str] = field(default_factory=Counter)
    received: int = 0
    given_back: bool = False

    # -- characters -----------------------------------------------------------------------------------------

    def assign(self, start: int, end: int, kind: str, call: int | None = None, *, over: bool = True) -> None:
        """Say what characters are; without ``over`` only of those of which nothing is known."""
        while len(self.kinds) < end:
            self.kinds.append(_UNKNOWN)
            self.owners.append(None)
        for at in range(start, end):
            if over or self.kinds[at] == _UNKNOWN:
                self.kinds[at] = kind
                self.owners[at] = call
        if kind == "arguments" and self.unsent is None and end > start:
            self.unsent = start

    def moved(self, start: int, end: int, literal: int | None = None, *, direct: bool = False) -> None:
        """Text was settled: data up to ``literal``, where a literal of the format begins, if there is one."""
        if end < start:  # a block is given back
            self.assign(end, start, _UNKNOWN)
            self.unsent = None
            self.settled = end
            return
        behind_literal = bool(self.moves) and self.moves[-1][2]
        stop = end if literal is None else literal
        data = self.text[start:stop]
        kind, call = "marker", self.machine.converting
        seam = call is not None and not direct and not data.strip() and (behind_literal or literal is not None)
        if seam:
            call = None
        elif call is not None:
            kind = "arguments"
        elif data.strip() and self.machine.between_calls(literal is not None):
            kind = "dropped"
        self.assign(start, stop, kind, call, over=False)
        self.assign(stop, end, "marker", over=False)
        self.moves += [(start, stop, False)] * (stop > start and not seam) + [(stop, end, True)] * (end > stop)
        self.settled = end

    def verbatim(self, text: str, kind: str, call: int | None, unwrapped: bool) -> None:
        """A JSON reader emits arguments: the text just settled, or the text that is settled next."""
        pos = self.machine.buf.consumed()
        start, end, _ = self.moves[-1] if self.moves else (pos, pos, False)
        if end == pos and start < end and self.kinds[start] == "marker" and (unwrapped or self.text[start:end] == text):
            self.assign(start, end, kind, call)
        elif self.text.startswith(text, pos) and pos + len(text) <= self.received:
            self.assign(pos, pos + len(text), kind, call)

    def show(self, text: str, kind: str) -> None:
        """Text of a region: it stands at the position, or is all that is left."""
        start = self.machine.buf.consumed()
        if not self.text.startswith(text, start) or start + len(text) > self.received:
            start = self.received - len(text)
        self.assign(start, start + len(text), kind)
        if kind != "dropped":
            self.shown += range(start, start + len(text))

    def named(self, name: str, wire_id: str | None, call: int) -> None:
        """A call's name was read: find where it stands among what was settled last."""
        for wanted, kind in ((wire_id, "id"), (name, "name")):
            span = self._find(wanted) if wanted else None
            if span is not None:
                self.assign(*span, kind, call)
                if kind == "name":
                    self.names[call] = span[0]

    def _find(self, wanted: str) -> tuple[int, int] | None:
        for begin, end, literal in reversed(self.moves):
            raw = self.text[begin:end]
            text = raw.strip()
            start = begin + len(raw) - len(raw.lstrip())
            if text == wanted and not literal:
                return start, start + len(text)
            if text[:1] == '"' and len(text) <= _LONGEST and _decoded(text) == wanted:
                return start + 1, start + len(text) - 1
        inside = re.compile(rf"(?<![\w|]){re.escape(wanted)}(?!\w)")
        for start, end, literal in reversed(self.moves):
            found = None if literal else list(inside.finditer(self.text, start, end))[-1:]
            if found:
                return found[0].span()
        return None

    def spans(self) -> list[Span]:
        """The runs of characters of one kind."""
        self.assign(0, len(self.text), "dropped", over=False)
        kinds = [
            "framing" if kind == "marker" and char in " \t\r\n" else kind
            for kind, char in zip(self.kinds, self.text, strict=True)
        ]
        found, start = [], 0
        for (kind, call), group in groupby(zip(kinds, self.owners, strict=True)):
            end = start + sum(1 for _ in group)
            found.append(Span(start, end, kind, call))
            start = end
        return found

    # -- steps ----------------------------------------------------------------------------------------------

    def step(self, received: int, deltas: list[Delta], end: bool = False) -> list[Delta]:
        """After a character, or the end: what went out, what changed, and why text is held."""
        self.sync()
        shown = iter(self.shown)
        for delta in deltas:
            start = self._source(delta, shown)
            why: tuple[str, ...] = ()
            if start is not None:
                why = _summed(self.reasons[start : received - (not end)])
            self.emissions.append(Emission(received, delta, start, why, end))
        self.shown = []
        anomalies = self.machine.anomalies
        for kind in sorted(anomalies.keys() - {"dropped_characters"}):
            if anomalies[kind] > self.counted[kind]:
                self.event(f"counted: {kind}")
        self.counted = Counter(anomalies)
        state = "the end" if end else self.machine.state()
        if state != self.state:
            self.event(state)
            self.state = state
        self.reasons.append(self.machine.reason_to_hold(self.unsent is not None))
        return deltas

    def _source(self, delta: Delta, shown: Iterator[int]) -> int | None:
        if not isinstance(delta, ToolCallDelta):
            places = [next(shown, None) for _ in delta.text]
            return places[0]
        if delta.name is not None:
            return self.names.get(delta.index)
        start = self.unsent if delta.arguments else None
        if delta.arguments:
            self.unsent = None
        return start

    def event(self, what: str) -> None:
        """Something happened."""
        self.events.append(Event(self.received, what))

    def sync(self, *, blanks: bool = False) -> None:
        """Account for text that was settled without ``advance``; ``blanks``: as the blanks at a seam."""
        pos = self.machine.buf.consumed()
        if pos > self.settled:
            self.moved(self.settled, pos, direct=not blanks)


def _summed(reasons: Sequence[str]) -> tuple[str, ...]:
    """The reasons in order, each once, and of a marker that grows only the longest beginning."""
    found: list[str] = []
    for reason in dict.fromkeys(filter(None, reasons)):
        grows = bool(found) and found[-1].endswith(PARTIAL) and reason.endswith(PARTIAL)
        if grows and reason.startswith(found[-1].removesuffix(PARTIAL)[:-1]):
            found.pop()
        found.append(reason)
    return tuple(found)


def _decoded(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return text[1:-1]
