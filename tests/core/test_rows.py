"""Strings in a row, as a template writes them: the fast path takes them by patterns (toolglot.core.plain_strings),
which must decide what the readers decide.

The texts are made of what stands between two strings, whole and in parts, and of what may be mistaken for it.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import chain
from typing import Any

import pytest
from harness import make_id, pieces
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fast_path import Counting, Plain
from test_fast_path import given as amount

from toolglot.core import ResponseParser, assemble

STRING = {"type": "string"}
PROPERTIES = {
    "k": STRING, "l": STRING, "tags": {"type": "array", "items": STRING}, "n": {"type": "integer"}, "any": {},
    "o": {"type": "object", "properties": {"k": STRING, "l": STRING}},
}  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": PROPERTIES}}}]
PYTHON = (
    '", "', "', '", '", k="', "', l='", '"', "'", '["', "']", "[", "]", "{", "}", ", ", ": ", "k=", "x", "it's", "\\n",
    "\\", "\\u00e9", "\n", "1", "('a', 'b')", '{"a": "b", "c": "d"}', ")", '"), f(k="', '"""', "r'", '\\"', "=", " ",
    f', {"k" * 33}="x"',
)  # fmt: skip


def quoted(token: str) -> tuple[str, ...]:
    return (token, f"{token},{token}", f"{token},k:{token}", "k:", ",", token[:3], token[:-1], '"', "'", "[", "]", "{",
            "}", "1", "x", "\n", f"tags:[{token}a{token},{token}b{token}]", f"{token}}}", f"{token} ,", " ", "l:",
            f',{"k" * 33}:{token}x', f"o:{{k:{token}a{token},l:{token}b{token}}}")  # fmt: skip


FORMATS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "llama4_pythonic": ("[f(", PYTHON, ")]"),
    "lfm2": ("<|tool_call_start|>[f(", (*PYTHON, "<|tool_call_end|>"), ")]<|tool_call_end|>"),
    "olmo3": ("<function_calls>f(", (*PYTHON, "\nf(k='", "</function_calls>"), ")</function_calls>"),
    "gemma4": ("<|tool_call>call:f{", (*quoted('<|"|>'), "<tool_call|>"), "}<tool_call|>"),
    "functiongemma": (
        "<start_function_call>call:f{", (*quoted("<escape>"), "<end_function_call>"), "}<end_function_call>",
    ),
}  # fmt: skip


def read(parser: ResponseParser, chunks: list[str]) -> tuple[Any, list[int]]:
    """The result, and how much went out with each chunk."""
    deltas = [parser.feed(chunk) for chunk in chunks]
    return assemble([*chain(*deltas), *parser.finish()]), [amount(each) for each in deltas]


@pytest.mark.parametrize("dialect", FORMATS)
def test_like_the_readers(dialect: str) -> None:
    head, fragments, tail = FORMATS[dialect]

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.sampled_from(fragments), max_size=16), st.integers(1, 9), st.booleans())
    def check(body: list[str], size: int, whole: bool) -> None:
        text = head + "".join(body) + tail * whole
        new = partial(ResponseParser, dialect, TOOLS, make_id=make_id)
        chunks = list(pieces(text, size))
        parser, slow = new(), Plain(dialect, TOOLS, make_id=make_id)
        result, sizes = read(parser, chunks)
        expected, slow_sizes = read(slow, chunks)
        assert result == expected == read(new(), [text])[0]
        assert parser.anomalies == slow.anomalies
        ahead = 0
        for fast, plain in zip(sizes, slow_sizes, strict=True):
            ahead += fast - plain
            assert ahead >= 0

    check()


def row(dialect: str, words: list[str]) -> str:
    """A call with a list of the words, and an argument for each of the first two, as the template has it."""
    head, _, tail = FORMATS[dialect]
    quote = {"gemma4": '<|"|>', "functiongemma": "<escape>"}.get(dialect)
    if quote is None:
        pairs = ", ".join(f"{key}={json.dumps(word)}" for key, word in zip("kl", words, strict=False))
        return f"{head}tags={json.dumps(words)}, {pairs}{tail}"
    items = ",".join(quote + word + quote for word in words)
    pairs = ",".join(f"{key}:{quote}{word}{quote}" for key, word in zip("kl", words, strict=False))
    return f"{head}tags:[{items}],{pairs}{tail}"


@pytest.mark.parametrize("dialect", FORMATS)
def test_no_reader_in_a_row(dialect: str) -> None:
    """However many strings there are, the machine is entered for what is around them."""
    words = [f"word {number}" for number in range(60)]
    parser = Counting(dialect, TOOLS)
    text = row(dialect, words)
    deltas = [delta for chunk in pieces(text, 4) for delta in parser.feed(chunk)] + parser.finish()
    (call,) = assemble(deltas).tool_calls
    assert json.loads(call.arguments) == {"tags": words, "k": words[0], "l": words[1]}
    assert call.complete
    assert 0 < parser.entered < 40


@pytest.mark.parametrize("other", [", n=1", ", any={", ", any=(1", ", any= "])
def test_quote_before_no_string(other: str) -> None:
    """The quote that closes a string waits for a string of its row, and for nothing else."""
    parser = ResponseParser("llama4_pythonic", TOOLS, make_id=make_id)
    deltas = [*parser.feed("[f(k='a'"), *chain(*map(parser.feed, other))]
    (call,) = assemble(deltas).tool_calls
    assert call.arguments == '{"k": "a"'
