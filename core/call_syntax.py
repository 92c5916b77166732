"""Payload grammar: calls as a programming language writes them, ``[f(a=1, b="x"), g()]``.

Names and keys are read here, and strings as long as they are plain (plain_strings.py); other values by the literal
transcoder, which turns Python literals into JSON while they arrive. A call's identity goes out at its ``(``. What is
no keyword argument has no name and is dropped, counted. The payload ends with its wrap (``]``), or where something
else follows a call. Calls without a wrap are parted by newlines. A closer of the block ends a call that is open.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .buffer import Buffer
from .calls import Calls, Gate, ObjectWriter
from .expected import Expected
from .head import NAME_LIMIT, HeadReader, compile_head
from .literal_strings import Ends
from .literals import LiteralReader
from .markers import Verdict
from .passing import Passing
from .plain_strings import Plain, plain_opening, plain_strings
from .spec import CallSyntax

_OPEN, _HEAD, _ARGUMENT, _ASSIGNED, _STRING, _VALUE, _NEXT = range(7)
_STOPS = ",)"  # what ends an argument's value
_GUARD = _STOPS + "]}:"  # and a string
_CHARACTER = r"[\w.\-]"
_IDENTIFIER = re.compile(rf"{_CHARACTER}{{1,{NAME_LIMIT + 1}}}").match
_OPENING = plain_opening("")


class _Grammar:
    """A CallSyntax payload, compiled."""

    def __init__(self, spec: CallSyntax) -> None:
        comma, assign = spec.comma.strip(), spec.assign
        self.head = compile_head(spec.head)
        # What the template writes in front of a value, as far as it is there: the comma, the key, and what assigns.
        key = rf"({_CHARACTER}{{1,{NAME_LIMIT}}})"
        self.keyword = re.compile(rf"(?:{re.escape(comma)})? ?(?:{key}(?:({re.escape(assign)})|\Z))?").match
        self.joint = f"{spec.comma}{{key}}{assign}"
        self.argument = Expected([((comma, ""), _CHARACTER)], (assign,))
        (_, name), *_, (opening, _) = self.head.parts(0)
        self.call = Expected([((comma,), name)], opening)
        self.line = Expected([(("\n",), _CHARACTER)], opening, before="")  # see _next


@lru_cache(maxsize=64)
def _compile(spec: CallSyntax) -> _Grammar:
    return _Grammar(spec)


class CallSyntaxReader:
    """Reads the calls of one block."""

    __slots__ = (
        "_calls", "_ends", "_grammar", "_head", "_in_call", "_key_length", "_lines", "_literal", "_named", "_owed",
        "_pair", "_plain", "_spec", "_state", "_unnamed", "_writer",
    )  # fmt: skip

    def __init__(self, spec: CallSyntax, calls: Calls, ends: Ends) -> None:
        self._spec = spec
        self._grammar = _compile(spec)
        self._calls = calls
        self._ends = ends
        self._state = _OPEN if spec.wrap[0] else _HEAD
        self._lines = not spec.wrap[0]  # calls without brackets around them, parted by newlines
        self._in_call = False
        self._head = HeadReader(self._grammar.head)
        self._writer = ObjectWriter(calls)
        self._plain: Plain | None = None  # the kind of the string in progress, plain so far
        self._literal = LiteralReader(_STOPS, ends)  # of any other value
        self._owed = ""  # text that goes out with what follows
        self._unnamed = 0  # characters of a value without a key
        self._pair = 0  # where the argument in progress begins
        self._key_length = -1  # of the key in progress, once known
        self._named = True  # the value in progress has a key
        calls.head()

    scanner = None  # see Reader

    @property
    def passing(self) -> Passing | None:
        """See Reader."""
        if self._plain is not None:
            return self._plain.passing
        return self._literal.passing if self._state == _VALUE and self._named else None

    def expected(self, buf: Buffer) -> Expected | None:
        """See Reader."""
        state = self._state
        if state == _ARGUMENT:
            return self._grammar.argument
        if state == _HEAD:
            return self._head.expected
        if state == _NEXT:
            return self._grammar.line if self._lines else self._grammar.call
        return None

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be; see Verdict."""
        while True:
            state = self._state
            verdict: Verdict | None
            if state == _STRING:
                verdict = self._string(buf, final)
            elif state == _ARGUMENT:
                verdict = self._argument(buf, final)
            elif state == _ASSIGNED:
                verdict = self._assigned(buf, final)
            elif state == _VALUE:
                verdict = self._value(buf, final)
            elif state == _HEAD:
                verdict = self._read_head(buf, final)
            elif state == _NEXT:
                verdict = self._next(buf, final)
            else:
                verdict = self._open(buf, final)
            if verdict is not None:
                return verdict

    def _open(self, buf: Buffer, final: bool) -> Verdict | None:
        if not buf.skip_blanks():
            return self._finish() if final else Verdict.MORE
        if buf.text[buf.pos] == self._spec.wrap[0]:
            buf.advance(buf.pos + 1)
        elif self._spec.loose:
            self._lines = True
        else:
            return Verdict.REFUTED
        self._state = _HEAD
        return None

    def _read_head(self, buf: Buffer, final: bool) -> Verdict | None:
        verdict = self._head.feed(buf, final)
        if verdict is not Verdict.DONE:
            return verdict
        if self._calls.begin(self._head.slots["name"]) is Gate.TEXT:
            return Verdict.REFUTED
        self._writer = ObjectWriter(self._calls)
        self._in_call = True
        self._state = _ARGUMENT
        return None

    # -- up to a value --------------------------------------------------------------------------------------

    def _argument(self, buf: Buffer, final: bool) -> Verdict | None:
        """Before an argument, or in its key, which begins at ``pos``: then ``scan`` is behind that."""
        if buf.scan > buf.pos:
            return self._key(buf, final)
        found = self._grammar.keyword(buf.text, buf.pos)
        assert found is not None
        buf.examined += found.end() - buf.pos
        if found.lastindex == 2:
            self._assign(buf, found[1], found.start(1), found.end())
            return None
        if found.lastindex == 1:
            buf.advance(found.start(1))
            buf.scan = found.end()
            return None if final else Verdict.MORE
        buf.advance(found.end())
        if not buf.skip_blanks():
            return self._finish() if final else Verdict.MORE
        text, pos = buf.text, buf.pos
        if text[pos] == self._spec.tail:
            buf.advance(pos + 1)
            self._end(True)
            self._state = _NEXT
            return None
        if text[pos] == ",":
            buf.advance(pos + 1)
            return None
        ends = self._ends.stand(text, pos, final)
        if ends is None:
            return Verdict.MORE
        if ends:
            self._calls.lost("missing_closer", 0)
            self._end(True)
            self._state = _NEXT
            return None
        return self._key(buf, final)

    def _key(self, buf: Buffer, final: bool) -> Verdict | None:
        """In a key, or behind it at blanks; or at a value that has none."""
        text = buf.text
        if self._key_length < 0:
            run = _IDENTIFIER(text, buf.scan)
            end = run.end() if run else buf.scan
            buf.examined += end - buf.scan + 1
            buf.scan = end
            if end == len(text) and not final and end - buf.pos <= NAME_LIMIT:
                return Verdict.MORE
            self._key_length = end - buf.pos
        key = text[buf.pos:buf.pos + self._key_length] if self._key_length <= NAME_LIMIT else ""
        at = buf.blanks()
        if key and at == len(text) and not final:
            return Verdict.MORE
        self._key_length = -1
        if key and text[at:at + 1] == self._spec.assign:
            self._assign(buf, key, buf.pos, at + 1)
            return None
        self._pair = buf.consumed()
        buf.restart()
        self._pay()
        self._named = False
        self._literal.again()
        self._state = _VALUE
        return None

    def _assign(self, buf: Buffer, key: str, start: int, end: int) -> None:
        """A key, which begins at ``start``, has its value from ``end`` on."""
        self._pair = buf.base + start
        self._writer.key(f'"{key}"')  # it holds nothing that JSON escapes
        self._named = True
        buf.advance(end)
        self._state = _ASSIGNED

    def _assigned(self, buf: Buffer, final: bool) -> Verdict | None:
        """Before a value that has a key."""
        text, pos = buf.text, buf.pos
        opened = _OPENING(text, pos)
        if opened is not None:
            self._plain = plain_strings(opened[1], "", _GUARD, self._grammar.joint)
            buf.advance(opened.end())
            self._state = _STRING
            return self._string(buf, final, '"')
        if not final and text[pos:pos + 2] in ("", '"', "'"):
            return Verdict.MORE
        self._pay()
        self._literal.again()
        self._state = _VALUE
        return None

    # -- a value --------------------------------------------------------------------------------------------

    def _string(self, buf: Buffer, final: bool, opening: str = "") -> Verdict | None:
        """In a string that is plain so far."""
        plain = self._plain
        assert plain is not None
        text, pos = buf.text, buf.pos
        found = plain.row(text, pos)
        assert found is not None
        end = found.end()
        closed = found.lastindex is not None and text[end] in _STOPS
        last = end if found.lastindex is None else found.start(1)
        self._write(opening + plain.json(text[pos:last]))
        buf.examined += end - pos + 1
        buf.advance(end if closed else last)
        if closed:
            self._owed = '"'
            self._state = _ARGUMENT
        elif not final and text[last:last + 2] in ("", plain.quote):
            return Verdict.MORE
        else:
            self._literal.resume(plain)
            self._state = _VALUE
        self._plain = None
        return None

    def _value(self, buf: Buffer, final: bool) -> Verdict | None:
        before = self._literal.examined
        pos, out, done = self._literal.feed(buf.text, buf.pos, final)
        buf.examined += self._literal.examined - before
        if self._named:
            self._write(out)
        else:
            self._unnamed += pos - buf.pos
        buf.advance(pos)
        if not self._named and (done or final):
            self._calls.lost("positional_argument", self._unnamed)
            self._unnamed = 0
        if done:
            self._owed += self._literal.owed()
            if self._named and self._literal.lost:
                self._calls.lost("malformed_value", self._literal.lost)
            self._state = _ARGUMENT
            return None
        if not final:
            return Verdict.MORE
        rest = self._literal.cut()
        buf.advance(len(buf.text))
        if self._named:
            self._write(rest or "")
            if rest is None:
                self._calls.lost("cut_value", self._calls.position() - self._pair)
            elif self._literal.lost:
                self._calls.lost("malformed_value", self._literal.lost)
        return self._finish()

    def _write(self, text: str) -> None:
        """Text of a value. The quote of the string before it goes with it, as the fast path has it."""
        if text:
            self._pay()
        self._writer.value(text)

    def _pay(self) -> None:
        """The quote of a string that no other one of its row follows, and what else is owed."""
        if self._owed:
            self._calls.arguments(self._owed)
            self._owed = ""

    def _end(self, complete: bool) -> None:
        self._pay()
        self._writer.close()
        self._calls.end(complete)
        self._in_call = False

    def _next(self, buf: Buffer, final: bool) -> Verdict | None:
        """Behind a call: the next one, the end of the list, or text."""
        text = buf.text
        at = buf.blanks()
        if at == len(text):
            return Verdict.DONE if final else Verdict.MORE
        if text[at] == self._spec.wrap[1]:
            buf.advance(at + 1)
            return Verdict.DONE
        comma = text[at] == ","
        line = self._lines and "\n" in text[buf.pos:at] and _IDENTIFIER(text, at) is not None
        if not comma and not line:
            buf.restart()
            return Verdict.DONE
        buf.mark = buf.pos  # refuted on its own, without the calls before it
        self._calls.tentative(textual=False)
        buf.advance(at + comma)
        self._calls.head()
        self._head = HeadReader(self._grammar.head)
        self._state = _HEAD
        return None

    def _finish(self) -> Verdict:
        """The input ended."""
        if not self._in_call:
            return Verdict.CUT
        self._end(False)
        return Verdict.DONE
