"""Whether a literal ends a tagged value, or is part of it: what follows decides.

* The value's closer counts if the next argument, the tail, the outer closer or another call follows (blanks between),
  or the input ends.
* A missing closer is implied by the tail, if the outer closer, another call or the end of the input follows it; by the
  outer closer, if another block or the end follows; and by the next argument's opener at the start of a line, if its
  key is one the schema declares.

All else is data. What cannot be told apart: a value that itself contains a closer followed by a line that could follow
a real one; and text after an outer closer that implied everything, which stays in the value.
"""

from __future__ import annotations

from .buffer import Buffer
from .head import is_name
from .markers import Matcher, Verdict
from .schema import ToolSchema
from .spec import Tagged
from .tagged_grammar import Closer, Kind, TaggedGrammar

XML = (Kind.ENTITY, Kind.CDATA)


class CloserGuard:
    """Looks ahead behind a literal, and goes on where it was when more text has come."""

    __slots__ = ("_control", "_entities", "_grammar", "_peek", "fresh", "schema")

    def __init__(self, spec: Tagged, grammar: TaggedGrammar) -> None:
        self._control = spec.control
        self._entities = spec.entities
        self._grammar = grammar
        self._peek: Buffer | None = None
        self.schema: ToolSchema | None = None  # of the tool, once known
        self.fresh = False  # the value has no text yet

    def accept(self, buf: Buffer, closer: Closer, final: bool) -> bool | None:
        """The guard of a literal that may end the value: what follows it decides."""
        if closer.kind in XML:
            return True
        if closer.kind is Kind.CLOSE and not self._control:  # the common cases
            if self._grammar.ahead(buf.text, buf.end) is not None:
                self._peek = None
                return True
            if buf.end == len(buf.text) and not final:
                return None
        peek = self._peek
        if peek is None:
            if self._control and buf.controls is not None and buf.start + closer.frame not in buf.controls:
                return False
            starts_line = closer.frame or self._grammar.inline or (self.fresh and buf.start == buf.pos)
            if closer.kind is Kind.ARGUMENT and not starts_line:
                return False
            peek = Buffer()
            peek.base = buf.base
            peek.pos = peek.scan = buf.end
        elif peek.base != buf.base:
            peek.shift(buf.base - peek.base)
        peek.text = buf.text
        peek.examined = 0
        follow = self._key_follows(peek, final) if closer.kind is Kind.ARGUMENT else self._follows(peek, closer, final)
        buf.examined += peek.examined
        peek.text = ""  # see Buffer.append
        self._peek = peek if follow is None else None
        return follow

    def _follows(self, peek: Buffer, closer: Closer, final: bool) -> bool | None:
        matcher = self._grammar.follow[closer.kind]
        kind = matcher.after_blanks(peek, final)
        if kind is Verdict.MORE:
            return None
        return kind is not None or (final and reaches_end(peek, matcher))

    def _key_follows(self, peek: Buffer, final: bool) -> bool | None:
        run = self._grammar.key_run(peek.text, peek.scan)
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
        key = plain_key(key) if self._entities else key
        declared = self.schema.declared if self.schema is not None else None
        return is_name(key) if declared is None else key in declared


def plain_key(key: str) -> str:
    """A key as it was before the template escaped it."""
    return key.replace("&quot;", '"').replace("&amp;", "&")


def reaches_end(buf: Buffer, matcher: Matcher[Kind]) -> bool:
    """At the end of the input: whether nothing is left at ``scan``, or only the beginning of a literal."""
    return matcher.begins(buf.text, buf.scan)
