"""Values that are XML text: whatever is written as entities or CDATA comes back, under any split."""

from __future__ import annotations

import json
from itertools import pairwise
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core import ResponseParser, assemble, parse

TOOLS = [{"type": "function", "function": {"name": "note", "parameters": {"properties": {"text": {"type": "string"}}}}}]
PIECES = st.sampled_from(
    ["<", "&", "]]>", "]", ">", "&lt;", "&amp;", "a", "</param>", "</function>", "<![CDATA[", "\n"]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


def call(value: str) -> str:
    return f'<function name="note"><param name="text">{value}</param></function>'


def cdata(text: str) -> str:
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def read(raw: str, cuts: list[int]) -> str:
    parser = ResponseParser("minicpm5", TOOLS)
    places = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    deltas = [delta for start, end in pairwise(places) for delta in parser.feed(raw[start:end])]
    message = assemble([*deltas, *parser.finish()])
    assert [tool.complete for tool in message.tool_calls] == [True]
    return str(json.loads(message.tool_calls[0].arguments)["text"])


@given(TEXTS, st.lists(st.integers(0, 500), max_size=8))
def test_cdata(text: str, cuts: list[int]) -> None:
    assert read(call(cdata(text)), cuts) == text


@given(TEXTS, st.lists(st.integers(0, 500), max_size=8))
def test_entities(text: str, cuts: list[int]) -> None:
    spelled = escape(text, {'"': "&quot;", "'": "&apos;"})
    framed = text[1:].removesuffix("\n") if text.startswith("\n") else text
    assert read(call(spelled), cuts) == framed


@given(TEXTS, TEXTS, st.lists(st.integers(0, 500), max_size=8))
def test_both_in_one_value(before: str, after: str, cuts: list[int]) -> None:
    assert read(call("." + escape(before) + cdata(after) + "."), cuts) == f".{before}{after}."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("&#34;&#39;&quot;&apos;&gt;", "\"'\"'>"),
        ("&lt", "&lt"),
        ("&nbsp; & &;", "&nbsp; & &;"),
        ("&amp;lt;", "&lt;"),
        ("<![CDATA[]]>", ""),
        ("<![CDATA", "<![CDATA"),
        ("]]>", "]]>"),
    ],
)
def test_spellings(value: str, expected: str) -> None:
    assert read(call(value), []) == read(call(value), list(range(99))) == expected


def test_an_open_section_holds_everything() -> None:
    message = parse('<function name="note"><param name="text"><![CDATA[a</param></function> b', "minicpm5", TOOLS)
    assert message.content is None
    assert json.loads(message.tool_calls[0].arguments) == {"text": "a</param></function> b"}
    assert not message.tool_calls[0].complete


def test_a_cut_closer_of_a_section_is_data() -> None:
    message = parse('<function name="note"><param name="text"><![CDATA[a]]', "minicpm5", TOOLS)
    assert json.loads(message.tool_calls[0].arguments) == {"text": "a]]"}
