"""Watching the parser at work: what became of every character, and what every delta waited for.

There is no second parser here. The text goes through the real one, a character at a time and without its fast path,
with a watched buffer, call gate and machine in the place of the plain ones. They say where text was shown, which
literal was a marker, where a name and arguments came from; what is settled besides is markup. The parser itself
carries nothing of this.

Every character gets one kind:

    content, reasoning   shown as that
    name, id             of a call that went out
    arguments            what a call's arguments were made from, keys included; where the format writes JSON the
                         characters of one call, joined, are its arguments
    marker               markup: delimiters, headers, and keys of a JSON envelope
    framing              blanks that belong to markup
    dropped              in no part of the result: a dropped or cut call, noise
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .account import PARTIAL, Account, Emission, Event, Span
from .buffer import Buffer, Run
from .call_object import CallObjectReader
from .call_syntax import CallSyntaxReader
from .calls import Calls, Gate
from .deltas import Delta, Message, assemble
from .envelope import EnvelopeReader
from .expected import Expected
from .machine import Machine
from .named import NamedReader
from .payloads import Reader
from .response import ResponseParser
from .spec import Dialect, Goto, Push, Sink, Skip
from .table import Arc, CompiledRegion

__all__ = ["Emission", "Event", "Span", "Trace", "trace"]

_JSON_READERS = (EnvelopeReader, NamedReader)  # they emit arguments as written
_BRACKET_READERS = (CallSyntaxReader, CallObjectReader)  # a call ends with its bracket
_VALUE = "a key goes out with its value, a value that has to be converted when it is whole"
_TOKEN = "half a name, key, number or escape"
_SHOWN = 40  # characters of held text that a reason quotes


@dataclass
class Trace:
    """What happened to one response. ``given_back``: what was dropped is content, for nothing else was left.
    ``agrees``: the parser, not watched, gives the same message."""

    text: str
    dialect: str
    spans: list[Span]
    events: list[Event]
    emissions: list[Emission]
    message: Message
    anomalies: dict[str, int]
    given_back: bool
    agrees: bool

    def joined(self, kind: str, call: int | None = None) -> str:
        """All characters of a kind, or those of it that belong to one call."""
        spans = (span for span in self.spans if span.kind == kind and (call is None or span.call == call))
        return "".join(self.text[span.start:span.end] for span in spans)


def trace(
    text: str,
    dialect: str | Dialect,
    tools: Sequence[Mapping[str, Any]] | None = None,
    *,
    finish_reason: str | None = None,
    controls: Sequence[tuple[int, int]] | None = None,
    **options: Any,
) -> Trace:
    """Parse a complete output and tell what happened. Options and errors are those of ResponseParser."""
    options.setdefault("make_id", lambda name, index: f"call_{index}")
    parser = _Watched(dialect, tools, **options)
    account = parser.account
    account.text = text
    controlled = None if controls is None else {at for start, end in controls for at in range(start, end)}
    deltas: list[Delta] = []
    for at, char in enumerate(text):
        spans = None if controlled is None else [(0, 1)] * (at in controlled)
        deltas += account.step(at + 1, parser.feed(char, spans))
    deltas += account.step(len(text), parser.finish(finish_reason), end=True)
    message = assemble(deltas)
    plain = ResponseParser(dialect, tools, **options)
    agrees = assemble([*plain.feed(text, controls), *plain.finish(finish_reason)]) == message
    anomalies = {kind: count for kind, count in parser.anomalies.items() if count}
    name, events, emissions, given_back = parser.dialect.name, account.events, account.emissions, account.given_back
    return Trace(text, name, account.spans(), events, emissions, message, anomalies, given_back, agrees)


class _Buffer(Buffer):
    """Says what is settled. ``base + pos`` is the place in the whole text, since nothing takes the fast path."""

    __slots__ = ("account",)
    account: Account

    def append(self, chunk: str, controls: Sequence[tuple[int, int]] | None = None) -> None:
        self.account.received += len(chunk)
        super().append(chunk, controls)

    def advance(self, to: int) -> None:
        self.account.sync()
        at_literal = self.pos <= self.start <= to and to in (self.start, self.end)
        literal = self.base + self.start if at_literal else None
        self.account.moved(self.base + self.pos, self.base + to, literal)
        super().advance(to)

    def passed(self, pattern: Run) -> None:
        """Nothing: readers take one step at a time."""

    def begins(self, expected: Expected) -> bool:
        return False

    def skip_blanks(self) -> bool:
        self.account.sync()
        found = super().skip_blanks()
        self.account.sync(blanks=True)
        return found


class _Calls(Calls):
    """Says where calls come from. ``open``: the index of the open call, -1 of one that is dropped."""

    account: Account
    open: int | None = None
    _began = 0
    _naming = False
    _bracket = True

    @property
    def holding(self) -> bool:
        """The open call waits for its end."""
        return self._holding is not None

    @property
    def _payload(self) -> Reader | None:
        machine = self.account.machine
        assert isinstance(machine, _Machine)
        return machine.payload

    def tentative(self, textual: bool) -> None:
        self.account.moves.clear()
        super().tentative(textual)

    def head(self) -> None:
        self._began = self.position()
        self._waiting: list[tuple[int, int]] = []
        super().head()

    def hold(self, text: str) -> None:
        self.account.verbatim(text, "arguments", None, self._unwrapped())
        super().hold(text)

    def begin(self, name: str, wire_id: str | None = None) -> Gate:
        count, self._naming = self.count, True
        gate = super().begin(name, wire_id)
        self._naming, self._bracket = False, True
        if gate is Gate.DROPPED:
            self.open = -1
            self.account.event(f"call {name!r} is dropped")
        elif gate is Gate.OPEN:
            self.open = count
            self.account.named(name, wire_id, count)
            self.account.event(f"call {count} {name!r} begins")
            for at in range(self._began, self.position()):  # arguments that came before the name
                if self.account.kinds[at] == "arguments":
                    self.account.owners[at] = count
        return gate

    def drop(self, kind: str) -> None:
        self.open = -1
        super().drop(kind)

    def arguments(self, text: str) -> None:
        if not self._naming and self.open is not None and isinstance(self._payload, _JSON_READERS):
            self.account.verbatim(text, "arguments", self.open, self._unwrapped())
        super().arguments(text)

    def _unwrapped(self) -> bool:
        reader = getattr(self._payload, "_arguments", None)
        return bool(getattr(reader, "unwrapped", False))

    def lost(self, kind: str, characters: int) -> None:
        pos = self.position()
        if kind in ("cut_value", "broken_argument", "positional_argument"):
            self.account.assign(pos - characters, pos, "dropped")
        self._bracket &= kind != "missing_closer"
        super().lost(kind, characters)

    def end(self, complete: bool) -> None:
        account, pos = self.account, self.position()
        account.sync()
        if self.dropping or (self._complete_only and not complete):
            account.assign(self._began, pos, "dropped")
            account.unsent = None
        elif complete and self._bracket and isinstance(self._payload, _BRACKET_READERS):
            account.assign(pos - 1, pos, "marker")
        account.event("the call is finished" if complete else "the call is cut")
        self.open = None
        super().end(complete)


class _Machine(Machine):
    """Says what it shows, takes and gives back."""

    calls: _Calls

    def __init__(
        self, table: Any, start: str, calls: Callable[[Machine], Calls], anomalies: Counter[str], **options: Any
    ) -> None:
        self.account = Account(self)

        def watched(machine: Machine) -> Calls:
            machine.buf = _Buffer()
            machine.buf.account = self.account
            made = calls(machine)
            assert isinstance(made, _Calls)
            made.account = self.account
            return made

        super().__init__(table, start, watched, anomalies, **options)
        self.account.state = self.state()
        self.account.event(self.account.state)

    @property
    def payload(self) -> Reader | None:
        """The reader of the payload in progress."""
        return getattr(self.reader, "_reader", None) or self.reader

    @property
    def converting(self) -> int | None:
        """See Source in account.py."""
        return None if isinstance(self.payload, _JSON_READERS) else self.calls.open

    def between_calls(self, literal: bool) -> bool:
        """See Source: noise stands in a section, behind a payload, and in a broken header."""
        sink = self.stack[-1].sink
        if sink is Sink.HEADER and self.reader is None:
            return self.anomalies["broken_header"] > self.account.counted["broken_header"]
        return self.reader is None and literal and (self._closing is not None or sink is Sink.SECTION)

    def show(self, region: CompiledRegion, text: str) -> None:
        self.account.show(text, "dropped" if region.sink is Sink.DROPPED else region.channel)
        super().show(region, text)

    def give_back(self) -> None:
        kept = self.buf.kept
        if kept >= 0 and not self.out.visible:
            text = self.buf.text[kept:]
            self.account.show(text, "content")
            self.account.given_back = True
            self.account.event("nothing else is left of the response: what was dropped is content")
        super().give_back()

    def take(self, arc: Arc, start: int, literal: int, end: int) -> None:
        do = arc.edge.do
        what = (
            f"on to {do.region}" if isinstance(do, Goto)
            else f"a section begins, {do.region}" if isinstance(do, Push)
            else "swallowed" if isinstance(do, Skip)
            else "a block begins"
        )  # fmt: skip
        self.account.event(f"marker {self.buf.text[literal:end]!r}: {what}")
        super().take(arc, start, literal, end)

    def refute(self) -> None:
        self.account.event("no call after all: the block is refuted")
        self.calls.open = None
        super().refute()

    def cut(self) -> None:
        before = self.anomalies["cut_block"]
        start = self.buf.base + (self.buf.mark if self.buf.mark >= 0 else self.buf.pos)
        super().cut()
        if self.anomalies["cut_block"] > before:
            self.account.assign(start, self.account.received, "dropped")
            self.account.event("the input ended before the call had a name: the block is dropped")

    def state(self) -> str:
        """See Source."""
        regions = " > ".join(region.name for region in self.stack)
        if self.reader is not None:
            index = self.calls.open
            tentative = "a block without a name yet" if self.buf.mark >= 0 else "behind a call of the block"
            inside = tentative if index is None else "a dropped call" if index < 0 else f"call {index}"
            return f"{regions}: {inside}"
        if self._closing is not None:
            return f"{regions}: behind the payload"
        return f"{regions}: behind a call" if self.gap else regions

    def reason_to_hold(self, unsent: bool) -> str:
        """See Source."""
        buf = self.buf
        waits = buf.pos < len(buf.text)
        if buf.mark >= 0:
            if self.noise:
                return "text inside a section: dropped if a call or the closer follows"
            return "a block without a name yet: it may turn out to be text"
        if self.calls.open is not None and self.calls.holding:
            return "arguments=complete: a call goes out once it is finished"
        if waits and buf.found is not None:
            marker = buf.text[buf.start : buf.end][:_SHOWN]
            return f"what follows {marker!r} decides whether it is a marker"
        if waits and buf.node is not None:
            return f"{buf.text[buf.start : buf.start + _SHOWN]!r}{PARTIAL}"
        if self.reader is not None:
            return _VALUE if unsent else _TOKEN if waits else ""
        if not waits:
            return ""
        if self._closing is not None:
            return "behind a payload, its closer may follow"
        if self.gap:
            return "blanks behind a call: dropped if another call follows"
        return "a header: its end decides" if self.stack[-1].sink is Sink.HEADER else "framing may follow"


class _Watched(ResponseParser):
    """The parser with all text on its slow path, where it can be seen."""

    machine_type = _Machine
    calls_type = _Calls

    @property
    def account(self) -> Account:
        """What was seen."""
        assert isinstance(self._machine, _Machine)
        return self._machine.account

    def _publish(self) -> None:
        """Open no fast path."""

