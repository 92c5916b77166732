"""Payload grammar: a call whose arguments are an object in the family's own notation, ``call:f{a:<|"|>x<|"|>,b:1}``.

The same as call syntax (call_syntax.py) up to the head; then one object, which the literal transcoder turns into
JSON while it arrives. The payload ends with the object's bracket, or where a closer of the block stands outside a
string; several calls are several blocks.
"""

from __future__ import annotations

from functools import lru_cache

from .buffer import Buffer
from .calls import Calls, Gate
from .expected import Expected
from .head import HeadReader, compile_head
from .literal_parts import CLOSERS
from .literal_strings import Ends
from .literals import LiteralReader
from .markers import Verdict
from .passing import Passing
from .spec import CallSyntax


@lru_cache(maxsize=64)
def _expected(spec: CallSyntax) -> tuple[Expected, Expected]:
    """What is likely where a key, or its value, comes next."""
    return Expected([((spec.comma, ""), r"[\w.\-]")], (spec.assign,)), Expected((), (spec.quote,))


class CallObjectReader:
    """Reads the call of one block."""

    __slots__ = ("_calls", "_ends", "_head", "_literal", "_spec")

    def __init__(self, spec: CallSyntax, calls: Calls, ends: Ends) -> None:
        self._spec = spec
        self._calls = calls
        self._ends = ends
        self._head = HeadReader(compile_head(spec.head, variants=spec.variants))
        self._literal: LiteralReader | None = None
        calls.head()

    scanner = None  # see Reader

    @property
    def passing(self) -> Passing | None:
        """See Reader."""
        return self._literal.passing if self._literal is not None else None

    def expected(self, buf: Buffer) -> Expected | None:
        """See Reader."""
        if self._literal is None:
            return self._head.expected
        key, string = _expected(self._spec)
        return key if self._literal.before_key else string if self._literal.before_value else None

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be; see Verdict."""
        if self._literal is None:
            verdict = self._head.feed(buf, final)
            if verdict is not Verdict.DONE:
                return verdict
            name = self._head.slots["name"]
            if self._calls.begin(name) is Gate.TEXT:
                return Verdict.REFUTED
            close = CLOSERS[buf.text[buf.pos - 1]]  # the head ends with a bracket
            schema = self._calls.schema(name)
            self._literal = LiteralReader.of_arguments(close, self._spec.quote, self._ends, schema)
        literal = self._literal
        before = literal.examined
        pos, out, done = literal.feed(buf.text, buf.pos, final)
        buf.examined += literal.examined - before
        if out:
            self._calls.arguments(out)
        buf.advance(pos)
        if not done and not final:
            return Verdict.MORE
        if not done:
            self._calls.arguments(literal.cut() or "}")
            buf.advance(len(buf.text))
        if literal.supplied:
            self._calls.lost("missing_closer", 0)
        if literal.lost:
            self._calls.lost("malformed_value", literal.lost)
        for _ in range(literal.unconverted):
            self._calls.lost("unconverted_value", 0)
        self._calls.end(done)
        return Verdict.DONE
