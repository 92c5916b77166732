"""Which reader reads which payload."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from .buffer import Buffer
from .call_syntax import CallSyntaxReader
from .calls import Calls
from .envelope import EnvelopeReader
from .json_scanner import JsonValueScanner
from .markers import Verdict
from .named import NamedReader
from .spec import CallBlock, CallSyntax, Envelope, FirstChar, Grammar, Named, Tagged
from .tagged import TaggedReader


class Reader(Protocol):
    """Reads one block of calls from the buffer."""

    @property
    def passing_stop(self) -> Callable[[str], re.Match[str] | None] | None:
        """Search for a character without which argument text would go out unchanged; None: it never would."""
        ...

    @property
    def scanner(self) -> JsonValueScanner | None:
        """Follows JSON arguments that go out as written; None where the reader itself is needed."""
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
    def passing_stop(self) -> Callable[[str], re.Match[str] | None] | None:
        """See Reader."""
        return self._reader.passing_stop if self._reader is not None else None

    @property
    def scanner(self) -> JsonValueScanner | None:
        """See Reader."""
        return self._reader.scanner if self._reader is not None else None

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """See Reader."""
        if self._reader is None:
            if not buf.skip_blanks():
                return Verdict.CUT if final else Verdict.MORE
            cases = dict(self._spec.cases)
            self._reader = self._choose(cases.get(buf.text[buf.pos], self._spec.other))
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
        return EnvelopeReader(payload, calls)
    if isinstance(payload, Named):
        return NamedReader(payload, calls, block.close + block.until, name)
    if isinstance(payload, Tagged):
        return TaggedReader(payload, calls, block.confirm, constrained)
    assert isinstance(payload, CallSyntax)
    return CallSyntaxReader(payload, calls)
