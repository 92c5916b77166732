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

from .buffer import Buffer
from .calls import Calls
from .deltas import Output
from .markers import Matcher, Verdict
from .payloads import Reader, make_reader
from .spec import Call, CallBlock, CallSyntax, Envelope, Goto, Named, Pop, Push, Route, Sink, Skip
from .table import Arc, CompiledRegion, Table

RETRY = 256  # characters of a refuted block, from its opener, that are parsed again
HEADER_LIMIT = 256


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
        self._regions = table.regions
        self._calls_legal = calls_legal
        self._constrained = constrained
        self._block: CallBlock | None = None
        self._closing: CallBlock | None = None  # its payload ended, its closer may follow
        self._after: str | None = None  # region to go on in after the block, set by a header's Route
        self._opener = 0  # length of the opener of the tentative block, framing included
        self._plain_opener = False  # that opener is ordinary text
        self._restore: list[CompiledRegion] = []  # the stack when the tentative block began
        self._fresh = True  # the region has no text yet but blanks
        self._line = True  # text at ``pos`` is at the start of a line
        self._skip = 0  # newlines after a marker that are still framing
        self._gap = False
        self._then: tuple[int, str] | None = None  # where on the stack a call that goes out changes the region
        self._strays = 0  # surplus brackets behind a payload
        self._noise = False  # a section's noise is being held at the mark
        self._held_noise = 0  # noise in front of a block that is still tentative

    @property
    def in_text(self) -> CompiledRegion | None:
        """The region whose text would go out unchanged but for its markers, if that is the state."""
        region = self.stack[-1]
        if self._closing is not None or self._gap or self._skip or self._fresh or self._line:
            return None
        return region if region.sink is Sink.CONTENT or region.sink is Sink.REASONING else None

    def advance(self, final: bool) -> None:
        """Settle what can be. With ``final`` everything."""
        going = True
        while going:
            if self.reader is not None:
                going = self._read(final)
            elif self._closing is not None:
                going = self._close(final)
            else:
                region = self.stack[-1]
                if region.sink is Sink.SECTION:
                    going = self._section(region, final)
                elif region.sink is Sink.HEADER:
                    going = self._header(region, final)
                else:
                    going = self._text(region, final)

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
        buf = self.buf
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
        self.out.text(channel, text)
        self.buf.kept = -1

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
            if final and buf.kept >= 0 and not self.out.visible and buf.scan == len(buf.text):
                buf.advance(buf.scan)  # blanks behind a dropped block, which comes back as a whole
                return False
            buf.restart()
        return True

    # -- taking a marker ------------------------------------------------------------------------------------

    def _take(self, arc: Arc, start: int, literal: int, end: int) -> None:
        """Follow an edge. The marker with its framing is ``start:end``, its own text begins at ``literal``."""
        buf = self.buf
        do = arc.edge.do
        if isinstance(do, (Call, Push)):
            self._tentative(start, end, plain=not arc.marker.consume)
            if do.then is not None:
                self._then = (len(self.stack) - 1, do.then)
            buf.advance(end if arc.marker.consume else literal)
            if isinstance(do, Push):
                self.stack.append(self._regions[do.region])
            else:
                self._begin_block(do.block, do.name)
            return
        buf.advance(end)
        self._skip = arc.edge.trim[1]
        if isinstance(do, Goto):
            self._enter(do.region)
        elif isinstance(do, Skip) and arc.marker.at == "start" and self.stack[-1].channel == "content":
            self.anomalies["stray_marker"] += 1

    def _enter(self, region: str) -> None:
        self.stack[-1] = self._regions[region]
        self._fresh = self._line = True
        self._gap = False

    def _tentative(self, start: int, end: int, *, plain: bool) -> None:
        """A block begins at ``start``, its opener ends at ``end``; inside a section its mark is already set."""
        if self.buf.mark >= 0:
            return
        self.buf.mark = start
        self.calls.tentative(textual=self.stack[-1].sink is not Sink.SECTION)
        self._opener = end - start
        self._plain_opener = plain and self.stack[-1].sink is not Sink.SECTION
        self._restore = list(self.stack)

    def _begin_block(self, block: CallBlock, name: str | None) -> None:
        self._block = block
        self.reader = make_reader(block, self.calls, name=name, constrained=self._constrained)

    # -- a block --------------------------------------------------------------------------------------------

    def _read(self, final: bool) -> bool:
        """Let the reader go on. False: needs more text."""
        assert self.reader is not None
        verdict = self.reader.feed(self.buf, final)
        if verdict is Verdict.REFUTED:
            self._refute()
            return True
        if verdict is Verdict.MORE:
            if self.buf.mark < 0 or not self._overdue():
                return False
            self._refute()
            return True
        if verdict is Verdict.CUT:
            self._cut()
        else:
            self._closing = self._block
        self.reader = None
        return True

    def _count_noise(self) -> None:
        if self._held_noise:
            self.anomalies["noise"] += 1
            self.anomalies["dropped_characters"] += self._held_noise
            self._held_noise = 0

    def _overdue(self) -> bool:
        """Whether the tentative block holds more than it may."""
        return self.calls.rollback and max(self.buf.pos, self.buf.scan) - self.buf.mark > self.calls.limit

    def commit(self, went_out: bool) -> None:
        """A name went out, or was dropped: there is no way back. Raw text is kept while nothing is visible."""
        buf = self.buf
        if went_out and self._then is not None:
            at, region = self._then
            self.stack[at] = self._regions[region]
            self._then = None
        self._count_noise()
        if self.out.visible:
            buf.kept = -1
        elif buf.mark >= 0 and buf.kept < 0:
            buf.kept = buf.mark
        buf.mark = -1
        self._opener = 0
        self._plain_opener = False

    def _refute(self) -> None:
        """No call: the text from the mark on is text of the region the block began in."""
        buf = self.buf
        self.anomalies["refuted_block"] += 1
        self.reader = None
        self._noise = False
        self._held_noise = 0
        start, failed = buf.mark, min(buf.pos, buf.mark + self.calls.limit)
        if self._opener:
            self.stack = list(self._restore)
            if self.stack[-1].sink is Sink.SECTION:  # its other calls went out: noise, or the section is over
                self._noise = True
                buf.advance(start)
                buf.scan = start + self._opener
                self._opener = 0
                return
            self._then = None
        end = start + self._opener if failed - start <= RETRY else max(failed, start + self._opener)
        self._gap = end == start
        buf.mark = -1
        self._opener = 0
        buf.advance(start)
        if end > start:
            self._show(self.stack[-1], buf.text[start:end])
            buf.advance(end)

    def _cut(self) -> None:
        """The input ended before the name of a call."""
        buf = self.buf
        start = buf.mark if buf.mark >= 0 else buf.pos
        opened = start + self._opener
        quoted = self.reason == "stop" and not buf.text[opened:].strip()
        if self._opener and (self._plain_opener or quoted):
            self.stack = list(self._restore)
            if self.stack[-1].sink is Sink.SECTION:  # its other calls went out
                self.stack.pop()
            self._then = None
            buf.mark = -1
            self._show(self.stack[-1], buf.text[start:])
            self.anomalies["refuted_block"] += 1
        else:
            self.anomalies["cut_block"] += 1
            self.anomalies["dropped_characters"] += len(buf.text) - start
            self._held_noise = 0
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
        self._gap = True
        self._fresh = False
        if self._after is not None:
            self._enter(self._after)
            self._after = None
        return True

    # -- sections -------------------------------------------------------------------------------------------

    def _section(self, region: CompiledRegion, final: bool) -> bool:
        """Inside a section, outside its calls. False: needs more text."""
        buf = self.buf
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
            if not region.noise and (buf.mark >= 0 or not region.repeat):
                if buf.mark >= 0:
                    buf.advance(buf.scan)
                return self._section_ends(final=False)
            self._noise = True
            if buf.mark < 0:
                buf.mark = buf.pos  # held until a call or the closer follows
                self._opener = 0
            buf.scan = buf.pos
        tolerated = region.noise or RETRY  # behind a call one bad block must not cost the good ones that follow
        arc = region.matcher.search(buf, final, limit=buf.pos + tolerated + 1)
        noise_end = buf.start if arc is not None else len(buf.text) if final else buf.hold
        if noise_end - buf.pos > tolerated:
            self._noise = False
            buf.advance(buf.pos + tolerated)
            return self._section_ends(final=False)
        if arc is not None:
            self._noise = False
            self._held_noise += buf.start - buf.pos
            if not self._opener:
                buf.mark = -1
                self._count_noise()
            self._in_section(arc, buf.start)
            return True
        if not final:
            return False
        self._noise = False
        buf.advance(len(buf.text))
        return self._section_ends(final=False)

    def _in_section(self, arc: Arc, start: int) -> None:
        """A marker of the section at ``buf.start``."""
        buf = self.buf
        do = arc.edge.do
        if isinstance(do, Pop):
            self.stack.pop()
            buf.advance(buf.end)
            if buf.mark >= 0:  # an empty section
                buf.mark = -1
                self._count_noise()
            self._opener = 0
            self._then = None
            self._gap = True
            self._fresh = False
        else:
            self._take(arc, start, buf.start, buf.end)

    def _section_ends(self, final: bool) -> bool:
        """Something other than a call or the closer follows: no section at all, or one without its closer."""
        buf = self.buf
        if self._opener:  # no call yet
            if final:
                self._cut()
                return False
            self._refute()
            return True
        if buf.mark >= 0:
            buf.advance(buf.mark)
            buf.mark = -1
        else:
            buf.restart()
        self.stack.pop()
        self._then = None
        self._gap = True
        return True

    # -- headers --------------------------------------------------------------------------------------------

    def _header(self, region: CompiledRegion, final: bool) -> bool:
        """Capture a header and let it decide. False: needs more text."""
        buf = self.buf
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
        buf = self.buf
        if not self._calls_legal:
            buf.advance(start)
            self._enter("plain")
            self._show(self.stack[-1], buf.text[start:end])
            buf.advance(end)
            return
        self._restore = [self._regions["plain"]]
        self.calls.tentative(textual=True)
        buf.mark = start
        self._opener = end - start
        self._plain_opener = False
        self._after = action.then
        buf.advance(end)
        self._begin_block(action.block, action.name)

    def _keep(self, at: int) -> None:
        if not self.out.visible and self.buf.kept < 0:
            self.buf.kept = at

    def _broken_header(self, end: int) -> None:
        buf = self.buf
        self.anomalies["broken_header"] += 1
        self.anomalies["dropped_characters"] += end - buf.pos
        self._keep(buf.pos)
        buf.advance(end)
