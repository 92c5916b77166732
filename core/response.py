"""The response parser: text in, deltas out. The one state machine, and the one owner of unsettled text.

States. The top of the region stack says where text goes and which markers mean something there (see spec.py and
table.py). A call block in progress has a reader; behind its payload the block waits for its closer. After a call
the parser is in the *gap*: blanks are held until it is clear whether another opener follows (then they are
dropped) or not (then they are text).

                         +--------- marker: Goto, Push, Pop, Skip ---------+
                         v                                                 |
    text of the region --+-- Call / Push --> tentative block -- name --> block -- payload ends --> closer --> gap
                         ^                        |                                                            |
                         +------- refuted --------+---------------------- text or marker ----------------------+

Tentative. A mark at the opener keeps the raw text until a name has gone out. A refuted block gives its text back:
a short one is parsed again from right after its opener, a long one (over RETRY characters from the opener, so
the same under any split) is text as a whole, which keeps the work linear.

Cut. Input that ends in a tentative block leaves no trace but a counter, unless its opener is ordinary text, or
the model stopped right behind it. Dropped text comes back as content if the response would end with nothing.

Fast path. While text would pass through unchanged (content, reasoning, a string argument) the parser keeps a
search for the characters that could matter; a chunk without any becomes one delta at once.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from .buffer import Buffer
from .calls import Calls, UndeclaredTools
from .deltas import ContentDelta, Delta, Message, Output, ReasoningDelta, ToolCallDelta, assemble
from .errors import ConfigurationError
from .markers import Matcher, Verdict
from .payloads import Reader, make_reader
from .registry import get_dialect
from .spec import (
    Call,
    CallBlock,
    CallSyntax,
    Dialect,
    Envelope,
    Goto,
    Named,
    Pop,
    Push,
    ReasoningCalls,
    Route,
    Sink,
    Skip,
)
from .table import Arc, CompiledRegion, compile_table
from .tools import ToolChoice, chosen_functions, schemas_of

logger = logging.getLogger("toolglot")

RETRY = 256  # characters of a refuted block, from its opener, that are parsed again
HEADER_LIMIT = 256



def _never(text: str) -> None:
    """Nothing can matter: a region without markers."""


def _check(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{option}={value!r}: must be one of {', '.join(map(repr, allowed))}")


def _newlines(text: str, floor: int, end: int, limit: int) -> int:
    """How many newlines, at most ``limit``, stand directly before ``end``."""
    count = 0
    while count < limit and end - count > floor and text[end - count - 1] == "\n":
        count += 1
    return count


@lru_cache(maxsize=1024)
def _closers(block: CallBlock) -> Matcher[str] | None:
    """What may follow a payload. A JSON value is often followed by a bracket too many."""
    if not block.close:
        return None
    surplus = {Envelope: "}]", Named: "}]", CallSyntax: "]"}.get(type(block.payload), "")
    return Matcher([*((text, "closer") for text in block.close), *((char, "stray") for char in surplus)])


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
    held_arguments: how many characters of arguments may wait for their name.
    make_id: id of a call from its name and index, where the format carries none.
    previous_calls: calls made earlier in the conversation, for formats that number them throughout.
    constrained: the engine is known to enforce the request's structural tag.

    Raises ConfigurationError (a ValueError) for a wrong option, tool list or choice. Model text never raises.
    """

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
        self.dialect = get_dialect(dialect)
        functions = chosen_functions(tools, tool_choice)
        self._calls_legal = functions is None or bool(functions)
        table = compile_table(self.dialect, reasoning, self._calls_legal, reasoning_calls)
        self.anomalies: Counter[str] = Counter()
        self._regions = table.regions
        start = table.start
        if starts_in_reasoning is not None and ("reasoning" in table.regions or not starts_in_reasoning):
            start = "reasoning" if starts_in_reasoning else table.start
        self._stack: list[CompiledRegion] = [table.regions[start]]
        self._buf = Buffer()
        self._out = Output()
        self._calls = Calls(
            self._out,
            self.anomalies,
            None if functions is None else schemas_of(functions),
            undeclared=undeclared_tools,
            parallel=parallel_tool_calls,
            complete_only=arguments == "complete",
            make_id=make_id,
            previous=previous_calls,
            limit=held_arguments,
            position=self._buf.consumed,
            commit=self._commit,
        )
        self._constrained = constrained
        self._reader: Reader | None = None
        self._block: CallBlock | None = None
        self._closing: CallBlock | None = None
        self._after: str | None = None  # region to go on in after the block, set by a header's Route
        self._opener = 0  # length of the opener of the tentative block, framing included
        self._plain_opener = False  # that opener is ordinary text
        self._restore: list[CompiledRegion] = []  # the stack when the tentative block began
        self._fresh = True  # the region has no text yet but blanks
        self._line = True  # text at ``pos`` is at the start of a line
        self._skip = 0  # newlines after a marker that are still framing
        self._gap = False
        self._noise = False  # a section's noise is being held at the mark
        self._reason: str | None = None
        self._done = False
        # The fast path: search for what could matter, and what a chunk without it becomes.
        self._run: Callable[[str], object] | None = None
        self._run_call = -1
        self._run_delta: type[ContentDelta] | type[ReasoningDelta] = ContentDelta

    # -- the public face ------------------------------------------------------------------------------------

    def feed(self, text: str, controls: Sequence[tuple[int, int]] | None = None) -> list[Delta]:
        """Take the next chunk of text; ``controls`` are the spans of it that the engine knows to be control tokens."""
        run = self._run
        if run is not None and controls is None and run(text) is None and text:
            if self._run_call >= 0:
                return [ToolCallDelta(self._run_call, None, None, text)]
            return [self._run_delta(text)]
        if self._done:
            raise ConfigurationError("feed() after finish(): a ResponseParser serves one response")
        if text:
            self._run = None
            self._buf.append(text, controls)
            self._advance(False)
            self._publish()
        return self._out.take()

    def finish(self, reason: str | None = None) -> list[Delta]:
        """Take the end of the input; ``reason`` is the engine's finish reason ("stop", "length", ...)."""
        if self._done:
            return []
        self._done = True
        self._run = None
        self._reason = reason
        self._advance(True)
        if not self._out.visible and self._buf.kept >= 0:
            text = self._buf.text[self._buf.kept:]
            if text:
                self._out.text("content", text)
        if self.anomalies:
            level = logging.WARNING if self.anomalies["dropped_characters"] else logging.DEBUG
            logger.log(level, "dialect %s: %s", self.dialect.name, dict(self.anomalies))
        return self._out.take()

    @property
    def examined(self) -> int:
        """Characters looked at so far; those that took the fast path are not counted (each was looked at once)."""
        return self._buf.examined

    @property
    def region(self) -> str:
        """Name of the region the text is in, "reasoning" while a reasoning block is open."""
        return self._stack[-1].name

    # -- the machine ----------------------------------------------------------------------------------------

    def _advance(self, final: bool) -> None:
        """Settle what can be. With ``final`` everything."""
        going = True
        while going:
            if self._reader is not None:
                going = self._read(final)
            elif self._closing is not None:
                going = self._close(final)
            else:
                region = self._stack[-1]
                if region.sink is Sink.SECTION:
                    going = self._section(region, final)
                elif region.sink is Sink.HEADER:
                    going = self._header(region, final)
                else:
                    going = self._text(region, final)

    def _publish(self) -> None:
        """Open the fast path where the rest of the text would pass through unchanged."""
        buf = self._buf
        if buf.pos != len(buf.text) or buf.mark >= 0 or buf.node is not None:
            return
        reader = self._reader
        if reader is not None:
            if self._calls.streaming and reader.passing:
                self._run = reader.passing_stop
                self._run_call = self._calls.count - 1
            return
        region = self._stack[-1]
        if self._closing is not None or self._gap or self._skip or self._fresh or self._line:
            return
        if region.sink is Sink.CONTENT or region.sink is Sink.REASONING:
            self._run = region.run or _never
            self._run_call = -1
            self._run_delta = ReasoningDelta if region.channel == "reasoning" else ContentDelta

    # -- regions of text ------------------------------------------------------------------------------------

    def _text(self, region: CompiledRegion, final: bool) -> bool:
        """One step in a region whose text is shown (or dropped as a whole). False: needs more text."""
        buf = self._buf
        if self._skip and not self._skip_framing():
            return False
        if self._gap:
            return self._after_call(region, final)
        arc = region.matcher.search(buf, final, self._accept)
        if arc is None:
            end = len(buf.text) if final else buf.hold
            if end > buf.pos:
                self._show(region, buf.text[buf.pos:end])
                buf.pos = end
            if final:
                buf.advance(end)
            return False
        start = buf.start
        if start > buf.pos:
            self._show(region, buf.text[buf.pos:start])
            buf.pos = start
        self._take(arc, start, start + arc.frame, buf.end)
        return True

    def _skip_framing(self) -> bool:
        """Swallow the newlines after a marker that belong to it. False: more of them may come."""
        buf = self._buf
        while self._skip and buf.pos < len(buf.text) and buf.text[buf.pos] == "\n":
            buf.advance(buf.pos + 1)
            self._skip -= 1
        if buf.pos < len(buf.text):
            self._skip = 0
        return not self._skip

    def _show(self, region: CompiledRegion, text: str) -> None:
        """Emit text of a region."""
        if region.sink is Sink.DROPPED:
            self.anomalies["dropped_characters"] += len(text)
            return
        self._line = text[-1] == "\n"
        if self._fresh and not text.isspace():
            self._fresh = False
        self._emit(region.channel, text)

    def _emit(self, channel: str, text: str) -> None:
        self._out.text(channel, text)
        self._buf.kept = -1

    def _accept(self, buf: Buffer, arc: Arc, final: bool) -> bool | None:
        """The guard of a marker in running text: its anchor, and whether it is a control token."""
        marker = arc.marker
        if marker.control and buf.controls is not None and buf.start + arc.frame not in buf.controls:
            return False
        if marker.at == "anywhere":
            return True
        if marker.at == "line":
            return arc.frame > 0 or (self._line if buf.start == buf.pos else buf.text[buf.start - 1] == "\n")
        if self._fresh and buf.start > buf.pos and not buf.text[buf.pos:buf.start].isspace():
            self._fresh = False
        return self._fresh

    def _after_call(self, region: CompiledRegion, final: bool) -> bool:
        """In the gap: blanks, then a marker or text."""
        buf = self._buf
        arc = region.after_call.after_blanks(buf, final)
        if arc is Verdict.MORE:
            return False
        assert not isinstance(arc, Verdict)
        start = buf.start
        if arc is not None and (
            arc.marker.at == "start"
            or (arc.marker.control and buf.controls is not None and start not in buf.controls)
        ):
            arc = None
        if arc is not None and isinstance(arc.edge.do, (Call, Push)):
            self._gap = False
            self._take(arc, buf.pos, start, buf.end)
        elif arc is not None and arc.marker.at == "after_call":
            buf.advance(buf.end)
            self.anomalies["stray_marker"] += 1
        else:
            self._gap = False
            self._line = True
            if arc is not None:
                start -= _newlines(buf.text, buf.pos, start, arc.edge.trim[0])
                end = buf.end
                if start > buf.pos:
                    self._show(region, buf.text[buf.pos:start])
                    buf.pos = start
                self._take(arc, start, start, end)
                return True
            if final and buf.kept >= 0 and not self._out.visible and buf.scan == len(buf.text):
                buf.advance(buf.scan)  # blanks behind a dropped block, which comes back as a whole
                return False
            buf.restart()
        return True

    # -- taking a marker ------------------------------------------------------------------------------------

    def _take(self, arc: Arc, start: int, literal: int, end: int) -> None:
        """Follow an edge. The marker with its framing is ``start:end``, its own text begins at ``literal``."""
        buf = self._buf
        do = arc.edge.do
        if isinstance(do, (Call, Push)):
            self._tentative(start, end, plain=not arc.marker.consume)
            if do.then is not None:
                self._stack[-1] = self._regions[do.then]
            buf.advance(end if arc.marker.consume else literal)
            if isinstance(do, Push):
                self._stack.append(self._regions[do.region])
            else:
                self._begin_block(do.block, do.name)
            return
        buf.advance(end)
        self._skip = arc.edge.trim[1]
        if isinstance(do, Goto):
            self._enter(do.region)
        elif isinstance(do, Skip) and arc.marker.at == "start" and self._stack[-1].channel == "content":
            self.anomalies["stray_marker"] += 1

    def _enter(self, region: str) -> None:
        self._stack[-1] = self._regions[region]
        self._fresh = self._line = True
        self._gap = False

    def _tentative(self, start: int, end: int, *, plain: bool) -> None:
        """A block begins at ``start``, its opener ends at ``end``; inside a section its mark is already set."""
        self._calls.rollback = True
        if self._buf.mark >= 0:
            return
        self._buf.mark = start
        self._opener = end - start
        self._plain_opener = plain and self._stack[-1].sink is not Sink.SECTION
        self._restore = list(self._stack)

    def _begin_block(self, block: CallBlock, name: str | None) -> None:
        self._block = block
        self._reader = make_reader(block, self._calls, name=name, constrained=self._constrained)

    # -- a block --------------------------------------------------------------------------------------------

    def _read(self, final: bool) -> bool:
        """Let the reader go on. False: needs more text."""
        assert self._reader is not None
        verdict = self._reader.feed(self._buf, final)
        if verdict is Verdict.REFUTED:
            self._refute()
            return True
        if verdict is Verdict.MORE:
            return False
        if verdict is Verdict.CUT:
            self._cut()
        else:
            self._closing = self._block
        self._reader = None
        return True

    def _commit(self) -> None:
        """A name went out, or was dropped: there is no way back. Raw text is kept while nothing is visible."""
        buf = self._buf
        if self._out.visible:
            buf.kept = -1
        elif buf.mark >= 0 and buf.kept < 0:
            buf.kept = buf.mark
        buf.mark = -1
        self._opener = 0
        self._plain_opener = False

    def _refute(self) -> None:
        """No call: the text from the mark on is text of the region the block began in."""
        buf = self._buf
        self.anomalies["refuted_block"] += 1
        self._reader = None
        self._noise = False
        if self._opener:
            self._stack = self._restore
            if self._stack[-1].sink is Sink.SECTION:
                self._stack.pop()  # its other calls went out; this text ends it
        start, failed = buf.mark, buf.pos
        end = start + self._opener if failed - start <= RETRY else max(failed, start + self._opener)
        self._gap = self._opener == 0
        buf.mark = -1
        self._opener = 0
        buf.advance(start)
        if end > start:
            self._show(self._stack[-1], buf.text[start:end])
            buf.advance(end)

    def _cut(self) -> None:
        """The input ended before the name of a call."""
        buf = self._buf
        start = buf.mark if buf.mark >= 0 else buf.pos
        opened = start + self._opener
        quoted = self._reason == "stop" and not buf.text[opened:].strip()
        if self._opener and (self._plain_opener or quoted):
            self._stack = self._restore
            buf.mark = -1
            self._show(self._stack[-1], buf.text[start:])
            self.anomalies["refuted_block"] += 1
        else:
            self.anomalies["cut_block"] += 1
            self.anomalies["dropped_characters"] += len(buf.text) - start
            self._commit()
        buf.advance(len(buf.text))

    def _close(self, final: bool) -> bool:
        """Behind a payload: the block's closer, surplus brackets before it, or whatever comes next."""
        block = self._closing
        assert block is not None
        buf = self._buf
        closers = _closers(block)
        if closers is not None:
            closer = closers.after_blanks(buf, final)
            if closer is Verdict.MORE:
                return False
            if closer is not None:
                buf.advance(buf.end)
                if closer == "stray":
                    self.anomalies["stray_bracket"] += 1
                    self.anomalies["dropped_characters"] += 1
                    return True
            else:
                buf.restart()
        self._closing = None
        self._block = None
        self._gap = True
        self._fresh = False
        if self._after is not None:
            self._enter(self._after)
            self._after = None
        return True

    # -- sections -------------------------------------------------------------------------------------------

    def _section(self, region: CompiledRegion, final: bool) -> bool:
        """Inside a section, outside its calls. False: needs more text."""
        buf = self._buf
        self._gap = False
        if not self._noise:
            arc = region.after_call.after_blanks(buf, final)
            if arc is Verdict.MORE:
                return False
            assert not isinstance(arc, Verdict)
            if arc is not None:
                self._in_section(arc, buf.pos)
                return True
            if final and region.after_call.begins(buf.text, buf.scan):
                return self._section_ends(final=True)
            if not region.noise:
                if buf.mark >= 0:
                    buf.advance(buf.scan)
                return self._section_ends(final=False)
            self._noise = True
            if buf.mark < 0:
                buf.mark = buf.pos  # held until a call or the closer follows
                self._opener = 0
            buf.scan = buf.pos
        arc = region.matcher.search(buf, final, limit=buf.pos + region.noise + 1)
        noise_end = buf.start if arc is not None else len(buf.text) if final else buf.hold
        if noise_end - buf.pos > region.noise:
            self._noise = False
            buf.advance(buf.pos + region.noise)
            return self._section_ends(final=False)
        if arc is not None:
            self._noise = False
            self.anomalies["noise"] += 1
            self.anomalies["dropped_characters"] += buf.start - buf.pos
            if not self._opener:
                buf.mark = -1
            self._in_section(arc, buf.start)
            return True
        if not final:
            return False
        self._noise = False
        buf.advance(len(buf.text))
        return self._section_ends(final=False)

    def _in_section(self, arc: Arc, start: int) -> None:
        """A marker of the section at ``buf.start``."""
        buf = self._buf
        do = arc.edge.do
        if isinstance(do, Pop):
            self._stack.pop()
            buf.advance(buf.end)
            self._commit_empty()
            self._gap = True
            self._fresh = False
        else:
            self._take(arc, start, buf.start, buf.end)

    def _commit_empty(self) -> None:
        self._buf.mark = -1
        self._opener = 0

    def _section_ends(self, final: bool) -> bool:
        """Something other than a call or the closer follows: no section at all, or one without its closer."""
        buf = self._buf
        if self._opener:  # no call yet
            if final:
                self._stack = list(self._restore)
                self._cut()
                return False
            self._refute()
            return True
        if buf.mark >= 0:
            buf.advance(buf.mark)
            buf.mark = -1
        else:
            buf.restart()
        self._stack.pop()
        self._gap = True
        return True

    # -- headers --------------------------------------------------------------------------------------------

    def _header(self, region: CompiledRegion, final: bool) -> bool:
        """Capture a header and let it decide. False: needs more text."""
        buf = self._buf
        if self._fresh:
            if region.header.stands(buf.text, buf.pos):
                self._fresh = False
            elif not region.header.begins(buf.text, buf.pos):
                buf.restart()
                self._enter("plain")
                return True
        arc = region.matcher.search(buf, final, self._accept, limit=buf.pos + HEADER_LIMIT + 1)
        end = buf.start if arc is not None else buf.hold
        if end - buf.pos > HEADER_LIMIT:
            buf.restart()
            self._enter("plain")
            return True
        if arc is None:
            if final and buf.pos < len(buf.text):
                self._broken_header(len(buf.text))
            return False
        header = buf.text[buf.pos:buf.start]
        do = arc.edge.do
        if not isinstance(do, Route):
            self._broken_header(buf.end)
            self._take(arc, buf.start, buf.start, buf.end)
            return True
        action = do.by(header)
        if isinstance(action, Goto):
            if self._regions[action.region].sink is Sink.DROPPED:
                self.anomalies["builtin_tool"] += 1
                self._keep(buf.pos)
            buf.advance(buf.end)
            self._enter(action.region)
            return True
        self._call_header(action, buf.pos, buf.end)
        return True

    def _call_header(self, action: Call, start: int, end: int) -> None:
        buf = self._buf
        if not self._calls_legal:
            buf.advance(start)
            self._enter("plain")
            self._show(self._stack[-1], buf.text[start:end])
            buf.advance(end)
            return
        self._restore = [self._regions["plain"]]
        self._calls.rollback = True
        buf.mark = start
        self._opener = end - start
        self._plain_opener = False
        self._after = action.then
        buf.advance(end)
        self._begin_block(action.block, action.name)

    def _keep(self, at: int) -> None:
        if not self._out.visible and self._buf.kept < 0:
            self._buf.kept = at

    def _broken_header(self, end: int) -> None:
        buf = self._buf
        self.anomalies["broken_header"] += 1
        self.anomalies["dropped_characters"] += end - buf.pos
        self._keep(buf.pos)
        buf.advance(end)


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
