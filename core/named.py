"""Payload grammar: a head with the name, then one JSON value.

``functions.add:3<|tool_call_argument_begin|>{"a": 1}``. The call's identity goes out when the head is complete, and
the value goes out verbatim as it comes. No value at all means ``{}``. A body that is not JSON goes out as it is up to
the block's closer; where a dialect has no closer such text is not the call's, and the call ends before it.
"""

from __future__ import annotations

from functools import lru_cache

from .buffer import Buffer
from .calls import Calls, Gate
from .expected import Expected
from .head import HeadReader, compile_head
from .json_scanner import ArgumentsReader, JsonValueScanner
from .markers import Matcher, Verdict
from .spec import Named

_HEAD, _CONFIRM, _BODY, _JSON, _RAW = range(5)


@lru_cache(maxsize=1024)
def _closers(close: tuple[str, ...]) -> Matcher[str]:
    return Matcher((text, text) for text in close)


class NamedReader:
    """Reads one call."""

    __slots__ = ("_arguments", "_calls", "_closers", "_confirm", "_given", "_head", "_name", "_state")

    def __init__(self, spec: Named, calls: Calls, close: tuple[str, ...], name: str | None, confirm: bool) -> None:
        self._calls = calls
        self._confirm = confirm
        self._closers = _closers(close) if close else None
        self._head = HeadReader(compile_head(spec.head, spec.optional, ("{", *close)))
        self._name = name
        self._arguments = ArgumentsReader()
        self._given = False
        self._state = _HEAD
        calls.head()

    passing = None  # see Reader

    @property
    def scanner(self) -> JsonValueScanner | None:
        """See Reader."""
        return self._arguments.flowing if self._state == _JSON else None

    def expected(self, buf: Buffer) -> Expected | None:
        """See Reader."""
        return self._head.expected if self._state == _HEAD else None

    def _emit(self, text: str) -> None:
        self._given = True
        self._calls.arguments(text)

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be; see Verdict."""
        if self._state == _HEAD:
            verdict = self._head.feed(buf, final)
            if verdict is not Verdict.DONE:
                return verdict
            if self._confirm:
                self._state = _CONFIRM
            elif not self._begin():
                return Verdict.REFUTED
            else:
                self._state = _BODY
        if self._state == _CONFIRM:
            if not buf.skip_blanks():
                return Verdict.CUT if final else Verdict.MORE
            if buf.text[buf.pos] != "{" or not self._begin():
                return Verdict.REFUTED
            self._state = _JSON
        if self._state == _BODY:
            done = self._body(buf, final)
            if done is not None:
                return done
        if self._state == _RAW:
            return self._raw(buf, final)
        if self._arguments.feed(buf, final, self._emit):
            if self._arguments.unwrapped:
                self._calls.anomalies["string_arguments"] += 1
            self._calls.end(True)
            return Verdict.DONE
        return self._end(False) if final else Verdict.MORE

    def _begin(self) -> bool:
        name, wire_id = self._name, self._head.slots.get("id")
        if name is None:
            name = self._head.slots.get("name")
        if name is None:  # the head is the id
            assert wire_id is not None
            name, number = split_id(wire_id, self._calls.form)
            if not name:  # nothing but the id's prefix
                return False
            if not number:
                wire_id = None
        return self._calls.begin(name, wire_id) is not Gate.TEXT

    def _body(self, buf: Buffer, final: bool) -> Verdict | None:
        """Before the value: is there one, and is it JSON?"""
        if self._closers is not None:
            closer = self._closers.after_blanks(buf, final)
            if closer is Verdict.MORE:
                return Verdict.MORE
            if closer is not None:
                buf.restart()
                return self._end(True)
            if final and self._closers.begins(buf.text, buf.scan):  # half a closer
                buf.advance(len(buf.text))
                return self._end(False)
            buf.restart()
        if not buf.skip_blanks():
            return self._end(False) if final else Verdict.MORE
        if buf.text[buf.pos] in '{["':
            self._state = _JSON
        elif self._closers is None:
            return self._end(True)
        else:
            self._calls.anomalies["non_json_arguments"] += 1
            self._state = _RAW
        return None

    def _raw(self, buf: Buffer, final: bool) -> Verdict:
        """Text that is no JSON, up to the closer, which is left to the block."""
        assert self._closers is not None
        closer = self._closers.search(buf, final)
        end = buf.start if closer is not None else len(buf.text) if final else buf.hold
        if end > buf.pos:
            self._emit(buf.text[buf.pos:end])
        if closer is not None:
            buf.advance(end)
            return self._end(True)
        buf.pos = end
        if not final:
            return Verdict.MORE
        buf.advance(end)
        return self._end(False)

    def _end(self, complete: bool) -> Verdict:
        if not self._given:
            self._calls.arguments("{}")
        self._calls.end(complete)
        return Verdict.DONE


def split_id(wire_id: str, form: str) -> tuple[str, str]:
    """Name and number of an id such as ``functions.add:3``, written after ``form``; its prefix may be missing."""
    prefix, _, rest = form.partition("{name}")
    separator = rest.partition("{index}")[0]
    text = wire_id.removeprefix(prefix)
    name, found, number = text.rpartition(separator)
    return (name, number) if found and name and number.isdecimal() else (text, "")
