"""Which reader reads which payload."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .buffer import Buffer
from .builtin import BuiltinReader
from .call_object import CallObjectReader
from .call_syntax import CallSyntaxReader
from .calls import Calls
from .elements import ElementsReader
from .envelope import EnvelopeReader
from .expected import Expected
from .json_scanner import JsonValueScanner
from .literal_strings import compile_ends
from .markers import Verdict
from .named import NamedReader
from .passing import Passing
from .spec import Builtin, CallBlock, CallSyntax, Elements, Envelope, FirstChar, Grammar, Named, Tagged
from .tagged import TaggedReader


class Reader(Protocol):
    """Reads one block of calls from the buffer."""

    @property
    def passing(self) -> Passing | None:
        """What argument text may go round the reader; None: none may."""
        ...

    @property
    def scanner(self) -> JsonValueScanner | None:
        """Follows JSON arguments that go out as written; None where the reader itself is needed."""
        ...

    def expected(self, buf: Buffer) -> Expected | None:
        """What is likely to come from ``pos`` on, where text that begins it would settle nothing."""
        ...

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be. With ``final`` never MORE."""
        ...


class FirstCharReader:
    """Waits for the first character, then hands over to the reader of its grammar."""

    __slots__ = ("_choose", "_reader", "_spec")

    def __init__(self, spec: FirstChar, choose: Callable[[Grammar], Reader]) -> None:
        self._spec = spec
        self._choose = choose
        self._reader: Reader | None = None

    @property
    def passing(self) -> Passing | None:
        """See Reader."""
        return self._reader.passing if self._reader is not None else None

    @property
    def scanner(self) -> JsonValueScanner | None:
        """See Reader."""
        return self._reader.scanner if self._reader is not None else None

    def expected(self, buf: Buffer) -> Expected | None:
        """See Reader."""
        return self._reader.expected(buf) if self._reader is not None else None

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """See Reader."""
        if self._reader is None:
            if buf.scan <= buf.pos and not buf.skip_blanks():
                return Verdict.CUT if final else Verdict.MORE
            first = buf.text[buf.pos]
            second = ""
            if any(len(case) == 2 and case[0] == first for case, _ in self._spec.cases):
                buf.scan = max(buf.scan, buf.pos + 1)
                at = buf.blanks()
                if at == len(buf.text) and not final:
                    return Verdict.MORE
                second = buf.text[at:at + 1]
                buf.restart()
            fits = (grammar for case, grammar in self._spec.cases if case in (first, first + second))
            self._reader = self._choose(next(fits, self._spec.other))
        return self._reader.feed(buf, final)


def make_reader(block: CallBlock, calls: Calls, *, name: str | None, constrained: bool) -> Reader:
    """The reader of a block; ``name`` where a header gave it."""
    calls.form = block.ids
    if isinstance(block.payload, FirstChar):
        calls.head()
        return FirstCharReader(
            block.payload, lambda grammar: _reader(grammar, block, calls, name=name, constrained=constrained)
        )
    return _reader(block.payload, block, calls, name=name, constrained=constrained)


def _reader(payload: Grammar, block: CallBlock, calls: Calls, *, name: str | None, constrained: bool) -> Reader:
    if isinstance(payload, Envelope):
        return EnvelopeReader(payload, calls, block.confirm)
    if isinstance(payload, Named):
        return NamedReader(payload, calls, block.close + block.until, name, block.confirm)
    if isinstance(payload, Tagged):
        return TaggedReader(payload, calls, block.confirm, constrained)
    if isinstance(payload, Builtin):
        return BuiltinReader(calls, block.close)
    if isinstance(payload, Elements):
        return ElementsReader(payload, calls, block.confirm, constrained)
    assert isinstance(payload, CallSyntax)
    reader = CallObjectReader if payload.quote else CallSyntaxReader
    return reader(payload, calls, compile_ends(block.close + block.until))
