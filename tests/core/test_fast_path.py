"""The fast path (toolglot.core.passing, toolglot.core.expected) saves steps and decides nothing.

The same chunks go through a parser without one: at no chunk may that one have given out more.
"""

from __future__ import annotations

import os
import random
from itertools import chain
from typing import Any

import pytest
from corpus import CorpusLine, all_lines, std_tools
from harness import make_id, pieces
from soup import COMMON, OWN

from toolglot.core import ResponseParser, assemble, list_dialects
from toolglot.core.response import AWAITING

SOUPS = {"quick": 20, "deep": 2000}.get(os.environ.get("TOOLGLOT_TEST_PROFILE", ""), 100)


class Plain(ResponseParser):
    """A parser without the fast path."""

    def _publish(self) -> None:
        pass


def given(deltas: list[Any]) -> int:
    """How much the deltas give out: characters, names and ends."""
    calls = (delta for delta in deltas if delta.kind == "tool_call")
    texts = sum(len(delta.text) for delta in deltas if delta.kind != "tool_call")
    return texts + sum(len(delta.arguments or "") + (delta.name is not None) + delta.complete for delta in calls)


def compare(text: str, size: int, dialect: str, tools: Any, **options: Any) -> None:
    """Chunk by chunk with and without the fast path; the results are the same."""
    fast, plain = (kind(dialect, tools, make_id=make_id, **options) for kind in (ResponseParser, Plain))
    ahead = 0
    deltas: tuple[list[Any], list[Any]] = ([], [])
    for number, chunk in enumerate(pieces(text, size)):
        now = fast.feed(chunk), plain.feed(chunk)
        ahead += given(now[0]) - given(now[1])
        assert ahead >= 0, f"{ahead} behind {text[: size * (number + 1)]!r}"
        deltas[0].extend(now[0])
        deltas[1].extend(now[1])
    assert assemble(deltas[0] + fast.finish()) == assemble(deltas[1] + plain.finish())
    assert +fast.anomalies == +plain.anomalies


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("line", all_lines(), ids=str)
def test_never_later(line: CorpusLine, size: int) -> None:
    """What a chunk settles goes out with that chunk."""
    compare(line.raw, size, line.dialect, line.tools, **line.options)


LONG = [
    ("hermes", '<tool_call>@{@"name"@:@"ping", "arguments"@:@{"host": "a"}@}@</tool_call>@.'),
    ("hermes", '<tool_call>{"name": "ping~"}</tool_call>'),
    ("hermes", '<tool_call>{"name": "~ping"}</tool_call>'),
    ("glm45", "<tool_call>ping<arg_key>ho~st</arg_key><arg_value>a</arg_value></tool_call>"),
    ("qwen3_coder", "<tool_call>@<function=ping>@<parameter=host>@a\n</parameter>@</function>@</tool_call>@."),
    ("qwen3_coder", "<tool_call>\n<function=ping>\n<parameter=host~>\na\n</parameter>\n</function>\n</tool_call>"),
    ("qwen3_coder", "<tool_call>\n<function=ping~>\n</function>\n</tool_call>"),
    ("kimi_k2", "<|tool_calls_section_begin|>@<|tool_call_begin|>@functions.ping:0@<|tool_call_argument_begin|>@{}@"
                "<|tool_call_end|>@<|tool_calls_section_end|>"),
    ("deepseek_v4", '<｜DSML｜tool_calls>@<｜DSML｜invoke name="ping~">@</｜DSML｜invoke>@</｜DSML｜tool_calls>'),
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("length", [0, 1, 250, 257, AWAITING - 1, AWAITING, AWAITING + 1, 3 * AWAITING])
@pytest.mark.parametrize(("dialect", "text"), LONG)
def test_long_waits(dialect: str, text: str, length: int, size: int) -> None:
    """Around the length up to which markup is kept: blanks at each seam in turn, and names and keys that are too long,
    with blanks as well. There is a limit to a block without a name besides."""
    fillers = {"@": " ", "~": "x "}
    for seam, filler in ((at, filler) for at, char in enumerate(text) for filler in fillers.get(char, "")):
        filled = text[:seam] + filler * length + text[seam + 1 :]
        compare(filled.replace("@", "").replace("~", ""), size, dialect, None, held_arguments=1024)


def test_what_waits_is_no_control_token() -> None:
    """Text that was kept before the end of the input is not a marker's beginning by that."""
    spelled = "<|close|>response<|sep|>"  # by ordinary tokens but for the last word
    chunks = ["<|open|>", "response", "<|sep|>", "<|close|>response", "<|sep|>", "<", "|ope"]
    controls = {"<|open|>", "<|sep|>"}
    for kind in (ResponseParser, Plain):
        parser = kind("kimi_k3", None, starts_in_reasoning=False)
        deltas = [parser.feed(chunk, [(0, len(chunk))] if chunk in controls else []) for chunk in chunks]
        assert assemble([*chain(*deltas), *parser.finish()]).content == f"{spelled}<|ope"


class Counting(ResponseParser):
    """A parser that counts how often its machine is entered."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.entered = 0
        advance = self._machine.advance

        def counted(final: bool) -> None:
            self.entered += 1
            advance(final)

        self._machine.advance = counted  # type: ignore[method-assign]


def test_it_is_a_fast_path() -> None:
    """Markup as the template writes it enters the machine for what has to be decided only."""
    text = '<tool_call>\n{"name": "ping", "arguments": {"host": "example.com"}}\n</tool_call>'
    parser = Counting("hermes")
    for chunk in pieces(text, 4):
        parser.feed(chunk)
    assert 0 < parser.entered < len(text) / 8


@pytest.mark.parametrize("dialect", list_dialects())
def test_soup(dialect: str) -> None:
    """The same for markup in no order."""
    rng = random.Random(dialect)
    parts = [*OWN[dialect], *OWN[dialect], *COMMON]
    for _ in range(SOUPS):
        text = "".join(rng.choices(parts, k=rng.randint(3, 30)))
        compare(text, rng.randint(1, 5), dialect, std_tools())
