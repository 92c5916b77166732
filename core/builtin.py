"""A block that is no function call: code for an interpreter, a query for a built-in tool.

It is tentative until its closer, so that an opener quoted in prose costs at most what a block may hold. The closed
block is dropped and counted, as a call to a tool that nobody offered is.
"""

from __future__ import annotations

from functools import lru_cache

from .buffer import Buffer
from .calls import Calls
from .markers import Matcher, Verdict


@lru_cache(maxsize=256)
def _closers(close: tuple[str, ...]) -> Matcher[str]:
    return Matcher((text, text) for text in close)


class BuiltinReader:
    """Reads up to the closer, which is left to the block."""

    __slots__ = ("_calls", "_closers")

    def __init__(self, calls: Calls, close: tuple[str, ...]) -> None:
        self._calls = calls
        self._closers = _closers(close)
        calls.head()

    passing = scanner = None  # see Reader

    def expected(self, buf: Buffer) -> None:
        """See Reader."""

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be; see Verdict."""
        if self._closers.search(buf, final) is None:
            return Verdict.CUT if final else Verdict.MORE
        buf.advance(buf.start)
        self._calls.drop("builtin_tool")
        self._calls.end(True)
        return Verdict.DONE
