"""Payload grammar: a head with the name, then arguments between delimiters, typed by the tool's schema.

    <function=NAME>
    <parameter=KEY>
    VALUE
    </parameter>
    </function>

Values are raw text, so a closer may also be data. What follows decides:

* the value's closer counts if the next argument, the tail or the outer closer follows (blanks between), or the
  input ends;
* a missing closer is implied by the tail, if the outer closer, another call or the end of the input follows it; by
  the outer closer, if another block or the end follows; and by the next argument's opener at the start of a line,
  if its key is one the schema declares.

All else is data. What cannot be told apart: a value that itself contains a closer followed by a line that could
follow a real one; and text after an outer closer that implied everything, which stays in the value.

At most one newline next to the value on each side is markup where the template writes one. Between arguments a
stray closer is skipped; other text ends the call, and is text again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache

from .buffer import Buffer
from .calls import Calls, Gate, ObjectWriter
from .head import Head, HeadReader, compile_head, is_name
from .json_scanner import ArgumentsReader, JsonValueScanner
from .markers import Matcher, Verdict
from .schema import ToolSchema
from .spec import Tagged
from .values import NEEDS_ESCAPE, Encoder, escape_json, make_encoder


class _Kind(Enum):
    """What a literal of the payload is."""

    ARGUMENT = 0  # the next argument's opener
    CLOSE = 1  # the value's closer
    TAIL = 2
    OUTER = 3  # the closer around the call
    AROUND = 4  # the opener around the next call, or the next head
    JSON = 5  # a JSON object in place of arguments


class _Closer:
    """A literal that may end a value, and how much of it is the newline in front."""

    __slots__ = ("frame", "kind")

    def __init__(self, kind: _Kind, frame: int) -> None:
        self.kind = kind
        self.frame = frame


class _Grammar:
    """A Tagged payload, compiled."""

    def __init__(self, spec: Tagged) -> None:
        argument, _, close = spec.argument.partition("{value}")
        opener = argument.partition("{key}")[0].strip()
        closer, tail = close.strip(), spec.tail.strip()
        head = spec.head.partition("{name}")[0].strip()
        around, outer = spec.around
        self.head: Head = compile_head(spec.head)
        self.argument: Head = compile_head(argument)
        self.key_end = self.argument.steps[2][0]  # opener, key, what ends the key
        self.lead = argument.endswith("\n")
        kinds = {opener: _Kind.ARGUMENT, closer: _Kind.CLOSE, tail: _Kind.TAIL, outer: _Kind.OUTER}
        kinds.pop("", None)
        following = {text: _Kind.AROUND for text in (around, head) if text}
        self.between: Matcher[_Kind] = Matcher({**following, **kinds, "{": _Kind.JSON}.items())
        frames = ("", "\n", "\r\n") if close.startswith("\n") else ("",)
        ends = {text: kind for text, kind in kinds.items() if kind is not _Kind.ARGUMENT}
        self.closers: Matcher[_Closer] = Matcher(
            (frame + text, _Closer(kind, len(frame)))
            for text, kind in kinds.items()
            for frame in (("", "\n", "\r\n") if kind is _Kind.ARGUMENT else frames)
        )
        # What must follow each of them.
        rest = {text: kind for text, kind in kinds.items() if kind is not _Kind.CLOSE}
        self.follow: dict[_Kind, Matcher[_Kind]] = {
            _Kind.CLOSE: Matcher(rest.items()),
            _Kind.TAIL: Matcher({**following, **{t: k for t, k in ends.items() if k is _Kind.OUTER}}.items()),
            _Kind.OUTER: Matcher(following.items()),
        }
        firsts = "".join(re.escape(char) for char in sorted(self.closers.firsts))
        self.stop = re.compile(f"[{firsts}]|{NEEDS_ESCAPE.pattern}").search
        # The opening of an argument as the template has it, and a value on one line that needs no second look, up to
        # its closer. They save steps where they match; the rest is read step by step.
        ahead = rf"\n?(?:{'|'.join(re.escape(text) for text in (opener, tail, outer) if text)})"
        self.ahead = re.compile(ahead).match
        self.opening: Callable[[str, int], re.Match[str] | None] | None = None
        self.whole: Callable[[str, int], re.Match[str] | None] | None = None
        if len(self.argument.steps) == 3:
            frame = close[: len(close) - len(close.lstrip("\n"))]
            plain = f"([^{firsts}{NEEDS_ESCAPE.pattern[1:-1]}]{{0,128}})"
            self.opening = re.compile(rf"\n?{re.escape(opener)}([^\s<>\"']{{1,128}}){re.escape(self.key_end)}").match
            self.whole = re.compile(
                rf"{re.escape(argument.rpartition(self.key_end)[2])}{plain}{frame}{re.escape(closer)}(?={ahead})"
            ).match


@lru_cache(maxsize=256)
def _compile(spec: Tagged) -> _Grammar:
    return _Grammar(spec)


_STRING = frozenset({"string"})
_HEAD, _CONFIRM, _BETWEEN, _KEY, _VALUE, _JSON = range(6)
_KEY_RUN = re.compile(r"[^<>\n]{0,257}").match


class TaggedReader:
    """Reads one call."""

    __slots__ = (
        "_calls", "_confirm", "_constrained", "_encoder", "_fresh", "_grammar", "_head", "_json", "_key",
        "_lead", "_name", "_pair", "_peek", "_schema", "_spec", "_state", "_writer",
    )  # fmt: skip

    def __init__(self, spec: Tagged, calls: Calls, confirm: bool, constrained: bool) -> None:
        self._spec = spec
        self._grammar = _compile(spec)
        self._calls = calls
        self._confirm = confirm
        self._constrained = constrained
        self._head = HeadReader(self._grammar.head)
        self._name = ""
        self._schema = ToolSchema(None)
        self._writer = ObjectWriter(calls)
        self._encoder: Encoder | None = None
        self._key = HeadReader(self._grammar.argument)
        self._json: ArgumentsReader | None = None
        self._pair = 0  # where the argument in progress begins
        self._peek: Buffer | None = None
        self._lead = False  # the newline after the value's opening tag may still come
        self._fresh = False  # the value has no text yet
        self._state = _HEAD
        calls.head()

    @property
    def passing_stop(self) -> Callable[[str], re.Match[str] | None] | None:
        """See Reader."""
        if self._state == _VALUE and self._encoder is not None and self._encoder.streaming and not self._fresh:
            return self._grammar.stop
        return None

    @property
    def scanner(self) -> JsonValueScanner | None:
        """See Reader."""
        return self._json.flowing if self._json is not None and self._state == _JSON else None

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be; see Verdict."""
        while True:
            state = self._state
            verdict: Verdict | None
            if state == _VALUE:
                verdict = self._value(buf, final)
            elif state == _BETWEEN:
                verdict = self._between(buf, final)
            elif state == _KEY:
                verdict = self._argument(buf, final)
            elif state == _HEAD:
                verdict = self._head.feed(buf, final)
                if verdict is Verdict.DONE:
                    self._name = self._head.slots["name"]
                    self._state = _CONFIRM
                    verdict = None if self._confirm else self._begin()
            elif state == _CONFIRM:
                verdict = self._confirmed(buf, final)
            else:
                verdict = self._json_body(buf, final)
            if verdict is not None:
                return verdict

    # -- identity -------------------------------------------------------------------------------------------

    def _begin(self) -> Verdict | None:
        self._schema = self._calls.schema(self._name)
        self._state = _BETWEEN
        return Verdict.REFUTED if self._calls.begin(self._name) is Gate.TEXT else None

    def _confirmed(self, buf: Buffer, final: bool) -> Verdict | None:
        kind = self._grammar.between.after_blanks(buf, final)
        if kind is Verdict.MORE:
            return Verdict.MORE
        if kind not in (_Kind.ARGUMENT, _Kind.TAIL):
            at_end = final and _reaches_end(buf, self._grammar.between)
            buf.advance(buf.scan)
            return Verdict.CUT if at_end else Verdict.REFUTED
        buf.restart()
        return self._begin()

    # -- between the arguments ------------------------------------------------------------------------------

    def _between(self, buf: Buffer, final: bool) -> Verdict | None:
        opening = self._grammar.opening
        if opening is not None and self._json is None and buf.scan <= buf.pos:
            found = opening(buf.text, buf.pos)
            if found is not None:
                self._pair = self._calls.position() + (found[0][0] == "\n")
                buf.examined += found.end() - buf.pos
                buf.advance(found.end())
                self._open(found[1], buf)
                return None
        kind = self._grammar.between.after_blanks(buf, final)
        if kind is Verdict.MORE:
            return Verdict.MORE
        if kind is _Kind.ARGUMENT and self._json is None:
            buf.advance(buf.start)
            self._pair = self._calls.position()
            self._key = HeadReader(self._grammar.argument)
            self._state = _KEY
        elif kind is _Kind.CLOSE:
            buf.advance(buf.end)
            self._calls.anomalies["stray_marker"] += 1
        elif kind is _Kind.JSON and self._json is None and self._writer.empty:
            buf.advance(buf.start)
            self._json = ArgumentsReader(self._calls.arguments)
            self._state = _JSON
        elif kind is _Kind.TAIL:
            buf.advance(buf.end)
            return self._end(True)
        elif kind in (_Kind.OUTER, _Kind.AROUND):
            if self._spec.tail:
                self._calls.anomalies["missing_closer"] += 1
            buf.restart()
            return self._end(True)
        elif kind is _Kind.ARGUMENT:
            buf.restart()
            return self._end(True)  # behind a JSON object: text again
        elif kind is None and final and _reaches_end(buf, self._grammar.between):
            buf.advance(len(buf.text))
            return self._end(False)
        else:
            buf.restart()
            return self._end(False)
        return None

    def _end(self, complete: bool) -> Verdict:
        if self._json is None:
            self._writer.close()
        self._calls.end(complete)
        return Verdict.DONE

    def _json_body(self, buf: Buffer, final: bool) -> Verdict | None:
        assert self._json is not None
        if self._json.feed(buf, final):
            self._state = _BETWEEN
            return None
        return self._end(False) if final else Verdict.MORE

    def _argument(self, buf: Buffer, final: bool) -> Verdict | None:
        verdict = self._key.feed(buf, final)
        if verdict is Verdict.MORE:
            return verdict
        if verdict is not Verdict.DONE:
            if verdict is Verdict.CUT:
                buf.advance(len(buf.text))
            self._calls.lost("broken_argument", self._calls.position() - self._pair)
            return self._end(False)
        self._open(self._key.slots["key"], buf)
        return None

    def _open(self, key: str, buf: Buffer) -> None:
        """A value begins."""
        self._writer.key(f'"{escape_json(key)}"')
        types = self._schema.types(key)
        whole = self._grammar.whole
        if whole is not None and types <= _STRING and (found := whole(buf.text, buf.pos)) is not None:
            buf.examined += found.end() - buf.pos
            buf.advance(found.end())
            self._writer.value(f'"{found[1]}"')
            self._state = _BETWEEN
            return
        self._encoder = make_encoder(types, python_words=self._spec.python_words, constrained=self._constrained)
        self._lead = self._grammar.lead
        self._fresh = True
        self._state = _VALUE

    # -- a value --------------------------------------------------------------------------------------------

    def _value(self, buf: Buffer, final: bool) -> Verdict | None:
        if self._lead:
            text, pos = buf.text, buf.pos
            if pos == len(text) or (text[pos] == "\r" and pos + 1 == len(text)):
                if not final:
                    return Verdict.MORE
            elif text[pos] == "\n":
                buf.advance(pos + 1)
            elif text.startswith("\r\n", pos):
                buf.advance(pos + 2)
            self._lead = False
        closer = self._grammar.closers.search(buf, final, self._accept)
        end = buf.start if closer is not None else len(buf.text) if final else buf.hold
        if end > buf.pos:
            self._text(buf.text[buf.pos:end])
        if closer is None:
            if not final:
                buf.pos = end  # the search goes on where it is
                return Verdict.MORE
            buf.advance(end)
            return self._cut()
        self._close()
        if closer.kind is _Kind.CLOSE:
            buf.advance(buf.end)
        else:
            self._calls.anomalies["missing_closer"] += 1
            buf.advance(buf.start + closer.frame)
        self._state = _BETWEEN
        return None

    def _text(self, text: str) -> None:
        assert self._encoder is not None
        self._fresh = False
        self._writer.value(self._encoder.feed(text))

    def _close(self) -> None:
        assert self._encoder is not None
        self._writer.value(self._encoder.close())
        if self._encoder.anomaly:
            self._calls.anomalies[self._encoder.anomaly] += 1
        self._encoder = None

    def _cut(self) -> Verdict:
        """The input ended inside the value: close what went out, drop a pair of which nothing can be given."""
        assert self._encoder is not None
        closing = self._encoder.cut()
        if closing is None:
            self._calls.lost("cut_value", self._calls.position() - self._pair)
        self._writer.value(closing or "")
        return self._end(False)

    def _accept(self, buf: Buffer, closer: _Closer, final: bool) -> bool | None:
        """The guard of a literal that may end the value: what follows it decides."""
        if closer.kind is _Kind.CLOSE:  # the common cases
            if self._grammar.ahead(buf.text, buf.end) is not None:
                self._peek = None
                return True
            if buf.end == len(buf.text) and not final:
                return None
        peek = self._peek
        if peek is None:
            if closer.kind is _Kind.ARGUMENT and not closer.frame and not (self._fresh and buf.start == buf.pos):
                return False
            peek = Buffer()
            peek.base = buf.base
            peek.pos = peek.scan = buf.end
        elif peek.base != buf.base:
            peek.shift(buf.base - peek.base)
        peek.text = buf.text
        peek.examined = 0
        follow = self._key_follows(peek, final) if closer.kind is _Kind.ARGUMENT else self._follows(peek, closer, final)
        buf.examined += peek.examined
        peek.text = ""  # see Buffer.append
        self._peek = peek if follow is None else None
        return follow

    def _follows(self, peek: Buffer, closer: _Closer, final: bool) -> bool | None:
        matcher = self._grammar.follow[closer.kind]
        kind = matcher.after_blanks(peek, final)
        if kind is Verdict.MORE:
            return None
        return kind is not None or (final and _reaches_end(peek, matcher))

    def _key_follows(self, peek: Buffer, final: bool) -> bool | None:
        run = _KEY_RUN(peek.text, peek.scan)
        end = run.end() if run else peek.scan
        peek.examined += end - peek.scan + 1
        peek.scan = end
        if peek.scan - peek.pos > 256:
            return False
        if peek.scan == len(peek.text):
            return False if final else None
        if peek.text[peek.scan] != self._grammar.key_end:
            return False
        key = peek.text[peek.pos:peek.scan].strip()
        declared = self._schema.declared
        return is_name(key) if declared is None else key in declared


def _reaches_end(buf: Buffer, matcher: Matcher[_Kind]) -> bool:
    """At the end of the input: whether nothing is left at ``scan``, or only the beginning of a literal."""
    return matcher.begins(buf.text, buf.scan)
