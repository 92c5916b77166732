"""The fast path (toolglot.core.passing, toolglot.core.expected) saves steps and decides nothing.

The same chunks go through a parser without one: at no chunk may that one have given out more.
"""

from __future__ import annotations

from typing import Any

import pytest
from corpus import CorpusLine, all_lines
from harness import make_id, pieces

from toolglot.core import ResponseParser


class Plain(ResponseParser):
    """A parser without the fast path."""

    def _publish(self) -> None:
        pass


def given(deltas: list[Any]) -> int:
    """How much the deltas give out: characters, names and ends."""
    calls = (delta for delta in deltas if delta.kind == "tool_call")
    texts = sum(len(delta.text) for delta in deltas if delta.kind != "tool_call")
    return texts + sum(len(delta.arguments or "") + (delta.name is not None) + delta.complete for delta in calls)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("line", all_lines(), ids=str)
def test_never_later(line: CorpusLine, size: int) -> None:
    """What a chunk settles goes out with that chunk."""
    options = {"make_id": make_id, **line.options}
    fast, plain = ResponseParser(line.dialect, line.tools, **options), Plain(line.dialect, line.tools, **options)
    ahead = 0
    for number, chunk in enumerate(pieces(line.raw, size)):
        ahead += given(fast.feed(chunk)) - given(plain.feed(chunk))
        assert ahead >= 0, f"{ahead} behind {line.raw[: size * (number + 1)]!r}"


def test_it_is_a_fast_path() -> None:
    """Markup as the template writes it enters the machine for what has to be decided only."""
    text = '<tool_call>\n{"name": "ping", "arguments": {"host": "example.com"}}\n</tool_call>'
    parser = ResponseParser("hermes")
    entered = 0
    advance = parser._machine.advance

    def counted(final: bool) -> None:
        nonlocal entered
        entered += 1
        advance(final)

    parser._machine.advance = counted  # type: ignore[method-assign]
    for chunk in pieces(text, 4):
        parser.feed(chunk)
    assert entered < len(text) / 8
