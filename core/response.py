"""The response parser: text in, deltas out. The options of a request, the stream, and its fast path.

What the text means is the business of machine.py. While text would pass through (content, reasoning, the inside of a
string argument) the parser keeps a search for what could matter (passing.py); a chunk without any becomes one delta at
once. So does a chunk that lies inside JSON arguments as a whole.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal
from weakref import proxy

from .calls import Calls, UndeclaredTools
from .deltas import ContentDelta, Delta, Message, ReasoningDelta, ToolCallDelta, assemble
from .errors import ConfigurationError
from .json_scanner import JsonValueScanner
from .machine import Machine
from .passing import ANYTHING, Passing, Search
from .registry import get_dialect
from .spec import Dialect, ReasoningCalls
from .table import compile_table
from .tools import ToolChoice, chosen_functions

logger = logging.getLogger("toolglot")

AWAITING = 512  # characters of a tentative block, far below any limit, in which the rest of a literal may be awaited

# Anomalies that cost a call or text; others are spellings that were understood.
DROPS = frozenset({"undeclared_tool", "parallel_call", "incomplete_call", "cut_block", "noise", "builtin_tool",
                   "broken_header", "nameless_call"})  # fmt: skip


def _check(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{option}={value!r}: must be one of {', '.join(map(repr, allowed))}")


def _check_count(option: str, value: object) -> None:
    if not isinstance(value, int) or value < 0:
        raise ConfigurationError(f"{option}={value!r}: must be a number of 0 or more")


class ResponseParser:
    """Parses one response. Feed it chunks in order, then finish it; each call returns the deltas that are final.

    Parameters
    ----------
    dialect: name, alias or Dialect.
    tools: OpenAI tool dicts; None when unknown (then no name is filtered), empty when there are none (then no
        opener is legal).
    starts_in_reasoning: whether the prompt left a reasoning block open; None: the dialect's default.
    reasoning: False when reasoning is not wanted: its tags are plain content.
    tool_choice: "auto", "required", a dict naming a function or allowed tools, or "none" (the text is content).
    parallel_tool_calls: False lets only the first call out.
    undeclared_tools: "drop", "pass" or "text": what becomes of a call to a tool that is not offered.
    reasoning_calls: "resume", "end" or "keep": what a call inside reasoning does; None: the dialect's own.
    arguments: "stream", or "complete": a call goes out only once it is finished.
    held_arguments: how many characters of a block may wait for its name, at least 1,024.
    make_id: id of a call from its name and index, where the format carries none.
    previous_calls: calls made earlier in the conversation, for formats that number them throughout.
    constrained: the engine is known to enforce the request's structural tag.

    Raises ConfigurationError (a ValueError) for a wrong option, tool list or choice. Model text never raises.
    """

    # The parts that tracing.py puts watched ones in the place of.
    machine_type: ClassVar[type[Machine]] = Machine
    calls_type: ClassVar[type[Calls]] = Calls

    def __init__(
        self,
        dialect: str | Dialect,
        tools: Sequence[Mapping[str, Any]] | None = None,
        *,
        starts_in_reasoning: bool | None = None,
        reasoning: bool = True,
        tool_choice: ToolChoice | None = None,
        parallel_tool_calls: bool = True,
        undeclared_tools: UndeclaredTools = "drop",
        reasoning_calls: ReasoningCalls | None = None,
        arguments: Literal["stream", "complete"] = "stream",
        held_arguments: int = 1 << 20,
        make_id: Callable[[str, int], str] | None = None,
        previous_calls: int = 0,
        constrained: bool = False,
    ) -> None:
        _check("undeclared_tools", undeclared_tools, ("drop", "pass", "text"))
        _check("reasoning_calls", reasoning_calls, (None, "resume", "end", "keep"))
        _check("arguments", arguments, ("stream", "complete"))
        _check("reasoning", reasoning, (True, False))
        _check("starts_in_reasoning", starts_in_reasoning, (None, True, False))
        _check_count("held_arguments", held_arguments)
        _check_count("previous_calls", previous_calls)
        if make_id is not None and not callable(make_id):
            raise ConfigurationError(f"make_id={make_id!r}: must be a function of name and index")
        self.dialect = get_dialect(dialect)
        functions = chosen_functions(tools, tool_choice)
        calls_legal = functions is None or bool(functions)
        table = compile_table(self.dialect, reasoning, calls_legal, reasoning_calls)
        start = table.start
        if starts_in_reasoning and "reasoning" in table.regions:
            start = "reasoning"
        elif starts_in_reasoning is False and start == "reasoning":
            start = "plain"
        self.anomalies: Counter[str] = Counter()

        def calls(machine: Machine) -> Calls:
            # Without a reference back, a parser is freed with its response and leaves the garbage collector nothing.
            owner = proxy(machine)

            def commit(went_out: bool) -> None:
                owner.commit(went_out)

            return self.calls_type(
                machine.out,
                self.anomalies,
                functions,
                undeclared=undeclared_tools,
                parallel=parallel_tool_calls,
                complete_only=arguments == "complete",
                make_id=make_id,
                previous=previous_calls,
                limit=held_arguments,
                position=machine.buf.consumed,
                commit=commit,
            )

        self._machine = self.machine_type(
            table, start, calls, self.anomalies, calls_legal=calls_legal, constrained=constrained
        )
        self._done = False
        self._taken = ""  # the last chunk that is in the buffer
        # The fast path (see passing.py): searches for what could matter, and what a chunk without it becomes. One or
        # two characters are looked for by ``in``, which costs less than a search.
        self._first: str | None = None
        self._second = ""
        self._stop: Search | None = None
        self._newline = ""  # what ends a chunk behind which it matters that a line begins
        self._possible: Search | None = None
        self._escape: Callable[[str], str] | None = None
        self._passing = ANYTHING
        self._tail = ""  # text of earlier chunks that no more than begins a literal, and is not in the buffer
        self._keeps: Callable[[str], bool] | None = None  # whether markup, from _begun on, decides nothing yet
        self._begun = ""
        self._watching = True  # nothing was held back, and no line begins
        self._watched: tuple[str | None, Search | None] = (None, None)  # _first and _stop, while watching
        self._run_delta: Callable[[str], Delta] = ContentDelta
        self._scanner: JsonValueScanner | None = None  # of JSON arguments, which go out as long as they last

    def feed(self, text: str, controls: Sequence[tuple[int, int]] | None = None) -> list[Delta]:
        """Take the next chunk; ``controls`` are the spans of it that the engine knows to be control tokens."""
        if text and not controls:
            first = self._first
            if first is not None:
                if first not in text and self._second not in text:
                    return [self._run_delta(text)]
            elif (stop := self._stop) is not None and stop(text) is None:
                return [self._run_delta(text)]
            possible = self._possible
            if possible is not None:
                whole = self._tail + text
                found = possible(whole)
                if found is None and self._watching and text[-1] != self._newline:
                    escape = self._escape
                    return [self._run_delta(text if escape is None else escape(text))]
                deltas = self._settled(whole, found)
                if deltas is not None:
                    return deltas
            scanner = self._scanner
            if scanner is not None and scanner.passes(text):
                self._first = '"' if scanner.in_string else None
                return [self._run_delta(text)]
            keeps = self._keeps
            if keeps is not None:
                begun = self._begun + text
                if len(begun) < AWAITING and keeps(begun):
                    self._begun = begun
                    self._tail += text
                    return []
        if self._done:
            raise ConfigurationError("feed() after finish(): a ResponseParser serves one response")
        if not text:
            return []
        taken = text
        if self._tail:
            size = len(self._tail)
            text, self._tail = self._tail + text, ""
            controls = None if controls is None else [(start + size, end + size) for start, end in controls]
        self._first = self._stop = self._possible = self._scanner = self._keeps = None
        machine = self._machine
        machine.buf.append(text, controls)
        self._taken = taken
        machine.advance(False)
        self._publish()
        return machine.out.take()

    def _settled(self, text: str, found: re.Match[str] | None) -> list[Delta] | None:
        """What text becomes in which nothing that matters begins, except perhaps at its end; None if it may."""
        passing = self._passing
        if found is None:
            self._tail = ""
        else:
            half = found.lastindex is not None
            start = found.start(passing.half if half else 0)
            tail = text[start:]
            if not half and (passing.keeps is None or len(tail) > AWAITING or not passing.keeps(tail)):
                return None
            text, self._tail = text[:start], tail
        # The next chunk is looked at together with what was held back, and with where it stands.
        watching = found is None
        if passing.lines and text:
            self._machine.line = line = text[-1] == "\n"
            watching = watching and not line
        if watching is not self._watching:
            self._watching = watching
            self._first, self._stop = self._watched if watching else (None, None)
        if not text:
            return []
        escape = self._escape
        return [self._run_delta(text if escape is None else escape(text))]

    def finish(self, reason: str | None = None) -> list[Delta]:
        """Take the end of the input; ``reason`` is the engine's finish reason ("stop", "length", ...)."""
        if self._done:
            return []
        self._done = True
        self._first = self._stop = self._possible = self._scanner = self._keeps = None
        machine = self._machine
        machine.reason = reason
        if self._tail:
            known = machine.buf.controls is not None  # what the parser kept holds no control token
            machine.buf.append(self._tail, () if known else None)
            self._tail = ""
        if not machine.settled:
            machine.advance(True)
        machine.give_back()
        if self.anomalies:
            level = logging.WARNING if self.anomalies.keys() & DROPS else logging.DEBUG
            logger.log(level, "dialect %s: %s", self.dialect.name, dict(self.anomalies))
        return machine.out.take()

    def abandon(self, chunk: str = "") -> list[Delta]:
        """For an adapter that caught a defect of the parser: what is final, then all unsettled text as content.

        ``chunk`` is the one whose feed failed; it counts once, whether or not it was taken before that.
        """
        self._done = True
        self._first = self._stop = self._possible = self._scanner = self._keeps = None
        machine = self._machine
        buf = machine.buf
        start = buf.mark if 0 <= buf.mark < buf.pos else buf.pos
        text = buf.text[start:] + self._tail + (chunk if chunk is not self._taken else "")
        return [*machine.out.take(), *([ContentDelta(text)] if text else [])]

    @property
    def examined(self) -> int:
        """Characters looked at so far; those that took the fast path are not counted (each was looked at once)."""
        return self._machine.buf.examined

    @property
    def region(self) -> str:
        """Name of the region the text is in, "reasoning" while a reasoning block is open."""
        return self._machine.stack[-1].name

    def _publish(self) -> None:
        """Open the fast path where the rest of the text would pass through unchanged."""
        machine = self._machine
        buf = machine.buf
        reader = machine.reader
        if buf.pos == len(buf.text) and buf.mark < 0:
            if reader is None:
                region = machine.in_text
                if region is not None:
                    if region.pair is not None:
                        self._first, self._second = region.pair
                    self._pass(region.passing)
                    self._run_delta = ReasoningDelta if region.channel == "reasoning" else ContentDelta
                    return
            elif machine.calls.streaming:
                self._scanner = scanner = reader.scanner
                if scanner is not None:
                    self._first, self._second = '"' if scanner.in_string else None, "\\"
                passing = reader.passing
                if passing is not None:
                    self._pass(passing)
                if scanner is not None or passing is not None:
                    self._run_delta = partial(ToolCallDelta, machine.calls.count - 1, None, None)
                    return
        if len(buf.text) - (buf.pos if buf.mark < 0 else buf.mark) >= AWAITING:
            return
        expected = machine.expected()
        if expected is not None:
            self._keeps, self._begun = expected.keeps, buf.text[buf.pos:]
        elif buf.node is not None:
            self._keeps, self._begun = buf.node.prefix[:-1].startswith, ""

    def _pass(self, passing: Passing) -> None:
        self._passing = passing
        self._stop, self._possible, self._escape = passing.stop, passing.possible, passing.escape
        self._newline = "\n" if passing.lines else ""
        self._watched = self._first, self._stop
        self._watching = not (passing.lines and self._machine.line)
        if not self._watching:
            self._first = self._stop = None


def prompt_opens_reasoning(dialect: str | Dialect, prompt: str) -> bool:
    """Whether generation after ``prompt`` begins inside a reasoning block: what ``starts_in_reasoning`` asks.

    The region table is run over the text behind the last turn marker, so a prefilled opener, a prefilled empty
    block and a closed one need no rules of their own.
    """
    spec = get_dialect(dialect)
    tail = prompt.rpartition(spec.start.turn)[2] if spec.start.turn else prompt
    parser = ResponseParser(spec, [], starts_in_reasoning=False)
    parser.feed(tail)
    return parser.region == "reasoning"


def parse(
    text: str,
    dialect: str | Dialect,
    tools: Sequence[Mapping[str, Any]] | None = None,
    **options: Any,
) -> Message:
    """Parse a complete output: the stream with one chunk. Options and errors are those of ResponseParser."""
    parser = ResponseParser(dialect, tools, **options)
    deltas = parser.feed(text)
    deltas += parser.finish()
    return assemble(deltas)
