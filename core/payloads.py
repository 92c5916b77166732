"""Which reader reads which payload."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from .buffer import Buffer
from .call_syntax import CallSyntaxReader
from .calls import Calls
from .envelope import EnvelopeReader
from .markers import Verdict
from .named import NamedReader
from .spec import CallBlock, CallSyntax, Envelope, Named, Tagged
from .tagged import TaggedReader


class Reader(Protocol):
    """Reads one block of calls from the buffer."""

    @property
    def passing(self) -> bool:
        """Argument text without a character of ``passing_stop`` would go out unchanged."""
        ...

    @property
    def passing_stop(self) -> Callable[[str], re.Match[str] | None]:
        """Search for a character that could end such a run, or that has to be converted."""
        ...

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be. With ``final`` never MORE."""
        ...


def make_reader(block: CallBlock, calls: Calls, *, name: str | None, constrained: bool) -> Reader:
    """The reader of a block; ``name`` where a header gave it."""
    payload = block.payload
    calls.form = block.ids
    if isinstance(payload, Envelope):
        return EnvelopeReader(payload, calls)
    if isinstance(payload, Named):
        return NamedReader(payload, calls, block.close + block.until, name)
    if isinstance(payload, Tagged):
        return TaggedReader(payload, calls, block.confirm, constrained)
    assert isinstance(payload, CallSyntax)
    return CallSyntaxReader(payload, calls)
