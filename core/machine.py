"""The state machine of a response, and the one owner of its unsettled text.

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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from . import headers, sections
from .buffer import Buffer
from .calls import Calls
from .deltas import Output
from .expected import Expected
from .markers import Matcher, Verdict
from .payloads import Reader, make_reader
from .spec import Call, CallBlock, CallSyntax, Envelope, FirstChar, Goto, Named, Push, Sink, Skip
from .table import Arc, CompiledRegion, Table

RETRY = 256  # characters of a refuted block, from its opener, that are parsed again


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
    payload = block.payload.other if isinstance(block.payload, FirstChar) else block.payload
    surplus = {Envelope: "}]", Named: "}]", CallSyntax: "}])"}.get(type(payload), "")
    return Matcher([*((text, "closer") for text in block.close), *((char, "stray") for char in surplus)])


class Machine:
    """Settles the text of one response and emits its deltas into ``out``."""

    def __init__(
        self,
        table: Table,
        start: str,
        calls: Callable[[Machine], Calls],
        anomalies: Counter[str],
        *,
        calls_legal: bool,
        constrained: bool,
    ) -> None:
        self.anomalies = anomalies
        self.buf = Buffer()
        self.out = Output()
        self.calls = calls(self)
        self.reason: str | None = None  # the engine's finish reason, known at the end
        self.reader: Reader | None = None  # of the block in progress
        self.stack: list[CompiledRegion] = [table.regions[start]]
        self.regions = table.regions
        self.calls_legal = calls_legal
        self._constrained = constrained
        self._block: CallBlock | None = None
        self._closing: CallBlock | None = None  # its payload ended, its closer may follow
        self.after: str | None = None  # region to go on in after the block, set by a header's Route
        self.opener = 0  # length of the opener of the tentative block, framing included
        self.plain_opener = False  # that opener is ordinary text
        self.restore: list[CompiledRegion] = []  # the stack when the tentative block began
        self.fresh = True  # the region has no text yet but blanks
        self.line = True  # text at ``pos`` is at the start of a line
        self._skip = 0  # newlines after a marker that are still framing
        self.gap = False
        self.then: tuple[int, str] | None = None  # where on the stack a call that goes out changes the region
        self._strays = 0  # surplus brackets behind a payload
        self.noise = False  # a section's noise is being held at the mark
        self.held_noise = 0  # noise in front of a block that is still tentative

    @property
    def in_text(self) -> CompiledRegion | None:
        """The region whose text would go out unchanged but for its markers, if that is the state."""
        region = self.stack[-1]
        if self._closing is not None or self.gap or self._skip or self.fresh:
            return None
        return region if region.sink is Sink.CONTENT or region.sink is Sink.REASONING else None

    def expected(self) -> Expected | None:
        """What is likely to come from ``pos`` on, where text that begins it would settle nothing."""
        if self.reader is not None:
            return self.reader.expected(self.buf)
        if self._closing is not None:
            closers = _closers(self._closing)
            return None if closers is None else closers.expected
        region = self.stack[-1]
        if self.gap or (region.sink is Sink.SECTION and not self.noise):
            return None if self._skip else region.after_call.expected
        return None

    def advance(self, final: bool) -> None:
        """Settle what can be. With ``final`` everything."""
        going = True
        while going:
            if self.reader is not None:
                going = self._read(final)
            elif self._closing is not None:
                going = self._close(final)
            elif self.buf.pos == len(self.buf.text) and not final:
                return
            else:
                region = self.stack[-1]
                if region.sink is Sink.SECTION:
                    going = sections.step(self, region, final)
                elif region.sink is Sink.HEADER:
                    going = headers.step(self, region, final)
                else:
                    going = self._text(region, final)

    @property
    def settled(self) -> bool:
        """Nothing is held, and no block or section is open: the end of the input changes nothing."""
        if self.reader is not None or self._closing is not None or self.buf.pos < len(self.buf.text):
            return False
        return self.stack[-1].sink in (Sink.CONTENT, Sink.REASONING)

    def give_back(self) -> None:
        """At the end: what was dropped is content if the response would end with nothing at all."""
        text = self.buf.text[self.buf.kept :] if self.buf.kept >= 0 else ""
        if text and not self.out.visible:
            self.out.text("content", text)

    # -- regions of text ------------------------------------------------------------------------------------

    def _text(self, region: CompiledRegion, final: bool) -> bool:
        """One step in a region whose text is shown (or dropped as a whole). False: needs more text."""
        buf = self.buf
        if self._skip and not self._skip_framing():
            return False
        if self.gap:
            return self._after_call(region, final)
        arc = region.matcher.search(buf, final, self.accept)
        if arc is None:
            end = len(buf.text) if final else buf.hold
            if end > buf.pos:
                self.show(region, buf.text[buf.pos:end])
                buf.pos = end
            if final:
                buf.advance(end)
            return False
        start = buf.start
        if start > buf.pos:
            self.show(region, buf.text[buf.pos:start])
            buf.pos = start
        self.take(arc, start, start + arc.frame, buf.end)
        return True

    def _skip_framing(self) -> bool:
        """Swallow the newlines after a marker that belong to it. False: more of them may come."""
        buf = self.buf
        while self._skip and buf.pos < len(buf.text) and buf.text[buf.pos] == "\n":
            buf.advance(buf.pos + 1)
            self._skip -= 1
        if buf.pos < len(buf.text):
            self._skip = 0
        return not self._skip

    def show(self, region: CompiledRegion, text: str) -> None:
        """Emit text of a region."""
        if region.sink is Sink.DROPPED:
            self.anomalies["dropped_characters"] += len(text)
            return
        self.line = text[-1] == "\n"
        if self.fresh and not text.isspace():
            self.fresh = False
        self._emit(region.channel, text)

    def _emit(self, channel: str, text: str) -> None:
        self.out.text(channel, text)
        self.buf.kept = -1

    def accept(self, buf: Buffer, arc: Arc, final: bool) -> bool | None:
        """The guard of a marker in running text: its anchor, and whether it is a control token."""
        marker = arc.marker
        if marker.control and buf.controls is not None and buf.start + arc.frame not in buf.controls:
            return False
        if marker.at == "anywhere":
            return True
        if marker.at == "line":
            return arc.frame > 0 or (self.line if buf.start == buf.pos else buf.text[buf.start - 1] == "\n")
        if self.fresh and buf.start > buf.pos and not buf.text[buf.pos:buf.start].isspace():
            self.fresh = False
        return self.fresh

    def _after_call(self, region: CompiledRegion, final: bool) -> bool:
        """In the gap: blanks, then a marker or text."""
        buf = self.buf
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
            self.gap = False
            self.take(arc, buf.pos, start, buf.end)
        elif arc is not None and arc.marker.at == "after_call":
            buf.advance(buf.end)
            self.anomalies["stray_marker"] += 1
        else:
            self.gap = False
            self.line = True
            if arc is not None:
                start -= _newlines(buf.text, buf.pos, start, arc.edge.trim[0])
                end = buf.end
                if start > buf.pos:
                    self.show(region, buf.text[buf.pos:start])
                    buf.pos = start
                self.take(arc, start, start, end)
                return True
            if final and buf.kept >= 0 and not self.out.visible and buf.scan == len(buf.text):
                buf.advance(buf.scan)  # blanks behind a dropped block, which comes back as a whole
                return False
            buf.restart()
        return True

    # -- taking a marker ------------------------------------------------------------------------------------

    def take(self, arc: Arc, start: int, literal: int, end: int) -> None:
        """Follow an edge. The marker with its framing is ``start:end``, its own text begins at ``literal``."""
        buf = self.buf
        do = arc.edge.do
        if isinstance(do, (Call, Push)):
            self._tentative(start, end, plain=arc.marker.plain or not arc.marker.consume)
            if do.then is not None:
                self.then = (len(self.stack) - 1, do.then)
            buf.advance(end if arc.marker.consume else literal)
            if isinstance(do, Push):
                self.stack.append(self.regions[do.region])
            else:
                self.begin_block(do.block, do.name)
            return
        buf.advance(end)
        self._skip = arc.edge.trim[1]
        if isinstance(do, Goto):
            self.enter(do.region)
        elif isinstance(do, Skip) and arc.marker.at == "start" and self.stack[-1].channel == "content":
            self.anomalies["stray_marker"] += 1

    def enter(self, region: str) -> None:
        self.stack[-1] = self.regions[region]
        self.fresh = self.line = True
        self.gap = False

    def _tentative(self, start: int, end: int, *, plain: bool) -> None:
        """A block begins at ``start``, its opener ends at ``end``; inside a section its mark is already set."""
        if self.buf.mark >= 0:
            return
        self.buf.mark = start
        self.calls.tentative(textual=self.stack[-1].sink is not Sink.SECTION)
        self.opener = end - start
        self.plain_opener = plain and self.stack[-1].sink is not Sink.SECTION
        self.restore = list(self.stack)

    def begin_block(self, block: CallBlock, name: str | None) -> None:
        self._block = block
        self.reader = make_reader(block, self.calls, name=name, constrained=self._constrained)

    # -- a block --------------------------------------------------------------------------------------------

    def _read(self, final: bool) -> bool:
        """Let the reader go on. False: needs more text."""
        assert self.reader is not None
        verdict = self.reader.feed(self.buf, final)
        if verdict is Verdict.REFUTED:
            self.refute()
            return True
        if verdict is Verdict.MORE:
            if self.buf.mark < 0 or not self._overdue():
                return False
            self.refute()
            return True
        if verdict is Verdict.CUT:
            self.cut()
        else:
            self._closing = self._block
        self.reader = None
        return True

    def count_noise(self) -> None:
        if self.held_noise:
            self.anomalies["noise"] += 1
            self.anomalies["dropped_characters"] += self.held_noise
            self.held_noise = 0

    def _overdue(self) -> bool:
        """Whether the tentative block holds more than it may."""
        return self.calls.rollback and max(self.buf.pos, self.buf.scan) - self.buf.mark > self.calls.limit

    def commit(self, went_out: bool) -> None:
        """A name went out, or was dropped: there is no way back. Raw text is kept while nothing is visible."""
        buf = self.buf
        if went_out and self.then is not None:
            at, region = self.then
            self.stack[at] = self.regions[region]
            self.then = None
        self.count_noise()
        if self.out.visible:
            buf.kept = -1
        elif buf.mark >= 0 and buf.kept < 0:
            buf.kept = buf.mark
        buf.mark = -1
        self.opener = 0
        self.plain_opener = False

    def refute(self) -> None:
        """No call: the text from the mark on is text of the region the block began in."""
        buf = self.buf
        self.anomalies["refuted_block"] += 1
        self.reader = None
        self.noise = False
        self.held_noise = 0
        start, failed = buf.mark, min(buf.pos, buf.mark + self.calls.limit)
        if self.opener:
            self.stack = list(self.restore)
            if self.stack[-1].sink is Sink.SECTION:  # its other calls went out: noise, or the section is over
                self.noise = True
                buf.advance(start)
                buf.scan = start + self.opener
                self.opener = 0
                return
            self.then = None
        end = start + self.opener if failed - start <= RETRY else max(failed, start + self.opener)
        self.gap = end == start
        buf.mark = -1
        self.opener = 0
        buf.advance(start)
        if end > start:
            self.show(self.stack[-1], buf.text[start:end])
            buf.advance(end)

    def cut(self) -> None:
        """The input ended before the name of a call."""
        buf = self.buf
        start = buf.mark if buf.mark >= 0 else buf.pos
        opened = start + self.opener
        quoted = self.reason == "stop" and not buf.text[opened:].strip()
        if self.opener and (self.plain_opener or quoted):
            self.stack = list(self.restore)
            if self.stack[-1].sink is Sink.SECTION:  # its other calls went out
                self.stack.pop()
            self.then = None
            buf.mark = -1
            self.show(self.stack[-1], buf.text[start:])
            self.anomalies["refuted_block"] += 1
        else:
            self.anomalies["cut_block"] += 1
            self.anomalies["dropped_characters"] += len(buf.text) - start
            self.held_noise = 0
            self.commit(False)
        buf.advance(len(buf.text))

    def _close(self, final: bool) -> bool:
        """Behind a payload: the block's closer, surplus brackets before it, or whatever comes next."""
        block = self._closing
        assert block is not None
        buf = self.buf
        closers = _closers(block)
        while closers is not None:
            closer = closers.after_blanks(buf, final)
            if closer is Verdict.MORE:
                return False
            if closer == "stray":  # counts only if the closer follows
                self._strays += 1
                continue
            if closer is None:
                buf.restart()
            else:
                if self._strays:
                    self.anomalies["stray_bracket"] += self._strays
                    self.anomalies["dropped_characters"] += buf.end - buf.pos
                buf.advance(buf.end)
            break
        self._strays = 0
        self._closing = None
        self._block = None
        self.gap = True
        self.fresh = False
        if self.after is not None:
            self.enter(self.after)
            self.after = None
        return True
