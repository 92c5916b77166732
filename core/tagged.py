"""Payload grammar: a head with the name, then arguments between delimiters, typed by the tool's schema.

    <function=NAME>
    <parameter=KEY>
    VALUE
    </parameter>
    </function>

Values are raw text, so a closer may also be data: tagged_guard.py decides.

At most one newline next to the value on each side is markup where the template writes one. A format that is
``padded`` writes none, but is often imitated with them: there a newline behind the opening tag is markup, and only
then one in front of the closer. Between arguments a stray closer is skipped; other text ends the call, and is text
again.

Where values are XML text, its entities are decoded, and a CDATA section is data up to its closer, whatever it holds.
"""

from __future__ import annotations

from .buffer import BLANKS, Buffer
from .calls import Calls, Gate, ObjectWriter
from .expected import Expected
from .head import HeadReader
from .json_scanner import ArgumentsReader, JsonValueScanner
from .markers import Verdict
from .passing import Passing
from .schema import ToolSchema
from .spec import Tagged
from .tagged_grammar import ENTITIES, Closer, Kind, compile_tagged
from .tagged_guard import XML, CloserGuard, plain_key, reaches_end
from .values import Encoder, Written, escape_json, make_encoder

_STRING = frozenset({"string"})
_HEAD, _CONFIRM, _BETWEEN, _KEY, _WRAPPER, _VALUE, _JSON = range(7)


class TaggedReader:
    """Reads one call."""

    __slots__ = (
        "_bare", "_calls", "_closers", "_confirm", "_constrained", "_encoder", "_grammar", "_guard", "_head", "_json",
        "_key", "_lead", "_name", "_pair", "_schema", "_spec", "_state", "_wrapped", "_writer",
    )  # fmt: skip

    def __init__(self, spec: Tagged, calls: Calls, confirm: bool, constrained: bool) -> None:
        self._spec = spec
        self._grammar = compile_tagged(spec)
        self._calls = calls
        self._confirm = confirm
        self._constrained = constrained
        self._head = HeadReader(self._grammar.head)
        self._name = ""
        self._schema = ToolSchema(None)
        self._writer = ObjectWriter(calls)
        self._encoder: Encoder | None = None
        self._key: HeadReader  # of the argument in progress
        self._json: ArgumentsReader | None = None
        self._wrapped = False  # the JSON object stands inside an argument
        self._pair = 0  # where the argument in progress begins
        self._lead = False  # the newline after the value's opening tag may still come
        self._bare = False  # none came, and so one in front of the closer is data
        self._guard = CloserGuard(spec, self._grammar)
        self._closers = self._grammar.closers  # what may end the value, or the CDATA section in it
        self._state = _HEAD
        calls.head()

    @property
    def passing(self) -> Passing | None:
        """See Reader."""
        if self._state == _VALUE and self._encoder is not None and self._encoder.streaming and not self._guard.fresh:
            return self._grammar.passing if self._closers is self._grammar.closers else self._grammar.cdata_passing
        return None

    @property
    def scanner(self) -> JsonValueScanner | None:
        """See Reader."""
        return self._json.flowing if self._json is not None and self._state == _JSON else None

    def expected(self, buf: Buffer) -> Expected | None:
        """See Reader."""
        state = self._state
        if state == _VALUE:
            if self._closers is not self._grammar.closers or (buf.found is None and self._spec.control):
                return None
            return self._grammar.closing if buf.found is not None or buf.node is not None else None
        if self._json is not None:
            return None
        if state == _BETWEEN:
            return self._grammar.expected(0)
        if state == _KEY:
            return self._grammar.expected(self._key.step)
        return self._head.expected if state == _HEAD else None

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
                if verdict is Verdict.CUT:
                    verdict = self._cut_off(self._head.slots.get("name") or buf.text[buf.pos :].strip())
                if verdict is Verdict.DONE:
                    self._name = self._head.slots["name"]
                    self._state = _CONFIRM
                    verdict = self._begin() if self._head.closed or not self._confirm else None
            elif state == _CONFIRM:
                verdict = self._confirmed(buf, final)
            elif state == _WRAPPER:
                verdict = self._wrapper(buf, final)
            else:
                verdict = self._json_body(buf, final)
            if verdict is not None:
                return verdict

    # -- identity -------------------------------------------------------------------------------------------

    def _begin(self) -> Verdict | None:
        self._schema = self._guard.schema = self._calls.schema(self._name)
        self._state = _BETWEEN
        wire_id = self._head.slots.get("id") if self._calls.form else None
        if self._calls.begin(self._name, wire_id) is Gate.TEXT:
            return Verdict.REFUTED
        return self._end(True) if self._head.closed else None

    def _confirmed(self, buf: Buffer, final: bool) -> Verdict | None:
        kind = self._grammar.between.after_blanks(buf, final)
        if kind is Verdict.MORE:
            return Verdict.MORE
        if kind not in self._grammar.begins:
            at_end = final and reaches_end(buf, self._grammar.between)
            buf.advance(buf.scan)
            return self._cut_off(self._name) if at_end else Verdict.REFUTED
        buf.restart()
        return self._begin()

    def _cut_off(self, name: str) -> Verdict:
        """The input ended before an identity. A name that is plain text and no tool's was prose."""
        bare = self._spec.head.startswith("{name}")
        return Verdict.CUT if not bare or self._calls.may_call(name) else Verdict.REFUTED

    # -- between the arguments ------------------------------------------------------------------------------

    def _between(self, buf: Buffer, final: bool) -> Verdict | None:
        if self._json is None:
            opening = self._grammar.opening
            found = buf.passed(opening) if opening is not None else None
            if found is not None:
                self._pair = self._calls.position() - len(found[0].lstrip(BLANKS))
                slots = found.groupdict()
                self._opened(buf, slots["key"].rstrip(), slots.get("type"))
                return None
        kind = self._grammar.between.after_blanks(buf, final)
        if kind is Verdict.MORE:
            return Verdict.MORE
        if kind is Kind.ARGUMENT and self._json is None:
            if not final and buf.begins(self._grammar.expected(0)):
                buf.restart()
                return Verdict.MORE
            buf.advance(buf.start)
            self._pair = self._calls.position()
            self._key = HeadReader(self._grammar.argument)
            self._state = _KEY
        elif kind is Kind.CLOSE:
            buf.advance(buf.end)
            if not self._wrapped:
                self._calls.anomalies["stray_marker"] += 1
            self._wrapped = False
        elif kind is Kind.BODY:
            buf.advance(buf.end)
        elif kind is Kind.JSON and self._json is None and self._writer.empty:
            buf.advance(buf.end - 1)
            self._json = ArgumentsReader()
            self._state = _JSON
        elif kind is Kind.TAIL:
            buf.advance(buf.end)
            return self._end(True)
        elif kind in (Kind.OUTER, Kind.AROUND):
            if self._spec.tail:
                self._calls.anomalies["missing_closer"] += 1
            buf.restart()
            return self._end(True)
        elif kind is Kind.ARGUMENT:
            buf.restart()
            return self._end(True)  # behind a JSON object: text again
        elif kind is None and final and reaches_end(buf, self._grammar.between):
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
        if self._json.feed(buf, final, self._calls.arguments):
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
        if self._key.missing:
            self._calls.anomalies["missing_opener"] += 1
        slots = self._key.slots
        self._opened(buf, slots["key"], slots.get("type"), closed=self._key.closed)
        if self._key.closed:
            self._close()
            self._state = _BETWEEN
        return None

    def _opened(self, buf: Buffer, key: str, word: str | None, *, closed: bool = False) -> None:
        """An argument's opening is passed; its value may stand behind it as a whole. ``closed``: there is none."""
        if self._spec.entities:
            key = plain_key(key)
        types, written = self._schema.types(key), self._grammar.written(word)
        self._writer.key(f'"{escape_json(key)}"')
        if key in self._spec.wrappers and self._writer.empty and self._undeclared(key):
            self._state = _WRAPPER
        else:
            self._state = _VALUE
            whole = self._grammar.whole
            if whole is not None and types <= _STRING and written is not Written.JSON and not closed:
                found = buf.passed(whole)
                if found is not None:
                    self._writer.value(f'"{found[1]}"')
                    self._state = _BETWEEN
                    return
        self._encoder = make_encoder(
            types, python_words=self._spec.python_words, constrained=self._constrained, written=written
        )
        self._lead = self._grammar.lead
        self._bare = False
        self._guard.fresh = True

    def _undeclared(self, key: str) -> bool:
        declared = self._schema.declared
        return declared is not None and key not in declared

    def _wrapper(self, buf: Buffer, final: bool) -> Verdict | None:
        """At the value of an argument that may hold all others: an object is the arguments."""
        at = buf.blanks()
        if at == len(buf.text) and not final:
            return Verdict.MORE
        if buf.text[at:at + 1] != "{":
            buf.restart()
            self._state = _VALUE
            return None
        buf.advance(at)
        self._calls.anomalies["wrapped_arguments"] += 1
        self._encoder = None
        self._wrapped = True
        self._json = ArgumentsReader()
        self._state = _JSON
        return None

    # -- a value --------------------------------------------------------------------------------------------

    def _value(self, buf: Buffer, final: bool) -> Verdict | None:
        if self._lead:
            text, pos = buf.text, buf.pos
            if not final and text[pos:] in ("", "\r"):
                return Verdict.MORE
            if text.startswith(("\n", "\r\n"), pos):
                buf.advance(pos + (1 if text[pos] == "\n" else 2))
            else:
                self._bare = self._grammar.padded
            self._lead = False
        closer = self._closers.search(buf, final, self._guard.accept)
        end = buf.start if closer is not None else len(buf.text) if final else buf.hold
        if closer is not None and self._bare and closer.kind is Kind.CLOSE:
            end += closer.frame
        if end > buf.pos:
            self._text(buf.text[buf.pos:end])
        if closer is None:
            if not final:
                buf.pos = end  # the search goes on where it is
                return Verdict.MORE
            buf.advance(end)
            return self._cut()
        if closer.kind in XML:
            self._xml(buf, closer)
            return None
        self._close()
        if closer.kind is Kind.CLOSE:
            buf.advance(buf.end)
        else:
            self._calls.anomalies["missing_closer"] += 1
            buf.advance(buf.start + closer.frame)
        self._state = _BETWEEN
        return None

    def _xml(self, buf: Buffer, closer: Closer) -> None:
        """An entity, or either end of a CDATA section."""
        grammar = self._grammar
        if closer.kind is Kind.ENTITY:
            self._text(ENTITIES[buf.text[buf.start:buf.end]])
        else:
            self._closers = grammar.cdata if self._closers is grammar.closers else grammar.closers
        buf.advance(buf.end)

    def _text(self, text: str) -> None:
        assert self._encoder is not None
        self._guard.fresh = False
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
