"""Marker soup: whatever the text, no exception, one result under any chunking, and nothing lost uncounted (soup.py)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from corpus import all_lines, std_tools
from harness import CONTROL_MARKERS, Result, chunkings, make_id, run
from hypothesis import given
from hypothesis import strategies as st
from soup import COMMON, OWN, SLOT, check_soup, numbered

from toolglot.core import ResponseParser, list_dialects

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "starts_in_reasoning": st.booleans(),
        "reasoning": st.booleans(),
        "undeclared_tools": st.sampled_from(["drop", "pass", "text"]),
        "reasoning_calls": st.sampled_from(["resume", "end", "keep"]),
        "arguments": st.sampled_from(["stream", "complete"]),
        "parallel_tool_calls": st.booleans(),
        "tool_choice": st.sampled_from(["auto", "none", {"type": "function", "function": {"name": "add"}}]),
        "previous_calls": st.integers(0, 3),
    },
)


def soups(dialect: str) -> st.SearchStrategy[str]:
    """Pieces in any order, or a corpus line with pieces struck out, doubled and put in."""
    piece = st.sampled_from([*COMMON, *OWN[dialect] * 3, *CONTROL_MARKERS[dialect] * 4])
    heap = st.lists(piece, max_size=30).map("".join)
    raws = [line.raw for line in all_lines() if line.dialect == dialect]

    @st.composite
    def mutated(draw: st.DrawFn) -> str:
        raw = draw(st.sampled_from(raws)).replace(SLOT, "")
        for _ in range(draw(st.integers(1, 5))):
            at = draw(st.integers(0, len(raw)))
            end = at + draw(st.sampled_from([0, 0, 1, 3, 10, 40]))
            doubled = raw[at:end] if draw(st.booleans()) else ""
            raw = raw[:at] + doubled + draw(piece) + doubled + raw[end:]
        return raw

    return st.one_of(heap, mutated()).map(numbered)


@pytest.mark.parametrize("dialect", list_dialects())
def test_marker_soup(dialect: str) -> None:
    assert dialect in list_dialects()

    @given(
        text=soups(dialect),
        options=OPTIONS,
        tools=st.sampled_from(["std", "std", "std", None, []]),
        reason=st.sampled_from([None, "stop", "length"]),
        seed=st.integers(0, 2**16),
    )
    def soup(text: str, options: dict[str, Any], tools: Any, reason: str | None, seed: int) -> None:
        offered = std_tools() if tools == "std" else tools
        if not isinstance(options.get("tool_choice", ""), str) and not offered:
            del options["tool_choice"]
        check_soup(dialect, text, options, offered, reason, seed)

    soup()


# Texts that once broke a rule, as the fuzz found them.
FOUND = [
    ("hermes", '<tool_call>{"name":"get_weather","zq0qz":"zq1qz"}</tool_call>', {}),
    ("hermes", '<tool_call>{"name":"get_weather""zq0qz"', {}),
    ("hermes", '<tool_call>{"name":"add""":{zq0qzzq1qz', {}),
    ("hermes", 'zq0qz<tool_call>{"":{"""zq1qz"}"name":"write_file"', {}),
    ("hermes", '<tool_call>{"name":"ping""arguments":"""zq0qz""', {}),
    ("hermes", '<tool_call>{"name":"add""zq0qz"a', {}),
    ("qwen3_coder", "zq0qz<function=book><parameter=opts>zq1qzzq2qz", {}),
    ("qwen3_coder", "zq0qz<function=book><parameter=zq1qz>", {}),
    ("qwen3_coder", "zq0qz<function=book><parameter=zq1qz<", {}),
    ("deepseek_v31", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜><｜tool▁call▁begin｜>", {}),
    ("llama4_pythonic", "[ping(m" + "x" * 260 + "s=''", {}),
    ("llama4_pythonic", "[book(a=zq0qz", {}),
    ("llama4_pythonic", "[book(a=(zq0qz", {}),
    ("llama4_pythonic", "[book(a=[zq0qz", {}),
    ("llama4_pythonic", "[write_file(path='zq0qz':zq1qzzq2qz", {}),
    ("llama4_pythonic", "[book(s={s:[(zq0qz]zq1qzzq2qz", {}),
    ("gpt_oss", " to=functions.<|message|>", {}),
    ("gpt_oss", "<|channel|>to=functions.<|message|>{}", {"undeclared_tools": "pass"}),
]


@pytest.mark.parametrize(
    ("dialect", "text", "options"), FOUND, ids=[f"{case[0]}-{at}" for at, case in enumerate(FOUND)]
)
def test_found(dialect: str, text: str, options: dict[str, Any]) -> None:
    for tools in (std_tools(), None):
        for reason in (None, "stop"):
            for seed in range(10):
                check_soup(dialect, text, options, tools, reason, seed)


@given(text=st.text(max_size=200), seed=st.integers(0, 2**16))
def test_any_text(text: str, seed: int) -> None:
    """Text without any marker is content, to the character, in every dialect."""
    rng = random.Random(seed)
    for dialect in list_dialects():
        if any(char in text for char in "<[") or (dialect == "gpt_oss" and text.startswith(" ")):
            continue
        for _, chunks in chunkings(text, rng):
            result = run(ResponseParser(dialect, make_id=make_id, starts_in_reasoning=False), chunks)
            assert result == Result(text or None, None, ())
