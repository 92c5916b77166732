"""What a model can do to a parser on purpose or out of control, in every dialect, with the exact result where one is
due: nesting without end, names without end, control characters in names, ids and values, keys given twice, markers
that are nearly right, calls by the thousand.

Openers by the thousand, and a megabyte without a closer, are in test_linear.py. TOOLGLOT_TEST_PROFILE=deep tries more.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from corpus import all_lines
from harness import CONTROL_MARKERS, Result, counters, make_id, pieces, run
from material import VERBATIM
from soup import FIXED, PER_CHARACTER
from written import Written, written

from toolglot.core import ResponseParser, get_dialect, list_dialects
from toolglot.core.serving.tokens import spellings

DEEP = os.environ.get("TOOLGLOT_TEST_PROFILE") == "deep"
DEPTH = 50_000 if DEEP else 3_000  # beyond Python's recursion limit
MANY = 10_000
FEW = 10_000 if DEEP else 300
SAMPLE = ("hermes", "deepseek_v31", "qwen3_coder", "minimax_m3", "llama4_pythonic")  # one of each payload grammar
LONG_NAME = 200  # with the prefixes that some formats write, a name has at most 256 characters
NAME_LIMIT = 256


def parsed(
    call: Written, text: str, tools: Any = None, sizes: tuple[int, ...] = (1, 7)
) -> tuple[Result, dict[str, int]]:
    """The result, which is the same for chunks of all these sizes, and cost no more than it may."""
    found: list[tuple[Result, dict[str, int]]] = []
    for size in (len(text), *sizes):
        parser = ResponseParser(call.dialect, tools, make_id=make_id, **call.options)
        result = run(parser, pieces(text, size))
        assert parser.examined <= PER_CHARACTER * len(text) + FIXED
        found.append((result, counters(parser)))
        assert found[-1] == found[0], f"chunks of {size}"
    return found[0]


def tool(name: str, key: str, schema: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {key: schema}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def is_clean(text: str) -> bool:
    """Without control characters and lone surrogates."""
    return all(char.isprintable() for char in text)


NESTS = {
    "arrays": ("[", "]", "1"),
    "objects": ('{"a":', "}", "1"),
    "tuples": ("(", ",)", "1"),
    "sets": ("{", "}", "1"),
    "elements": ("<a>", "</a>", "1"),
}
SCHEMAS: dict[str, dict[str, Any]] = {"object": {"type": "object"}, "array": {"type": "array"}, "anything": {}}


@pytest.mark.parametrize("nest", NESTS)
@pytest.mark.parametrize("dialect", list_dialects())
def test_deep_nesting(dialect: str, nest: str) -> None:
    """Left open or closed again, in the place of a value of any type: no exception, and linear."""
    call = written(dialect)
    opener, closer, core = NESTS[nest]
    for name, schema in SCHEMAS.items():
        tools = [tool("deep", call.key, schema)]
        for value in (opener * DEPTH, opener * DEPTH + core + closer * DEPTH):
            result, _ = parsed(call, call.bare("deep", value), tools, (64,))
            assert len(result.calls) <= 1, name


@pytest.mark.parametrize("dialect", list_dialects())
def test_behind_deep_nesting(dialect: str) -> None:
    """Well-formed JSON of any depth is a value like others: the next call is found."""
    call = written(dialect)
    value = "[" * DEPTH + "]" * DEPTH
    tools = [tool("deep", call.key, {"type": "array"}), tool("next", call.key, {"type": "string"})]
    text = call.joined([call.bare("deep", value), call.call("next", "here")])
    result, _ = parsed(call, text, tools, (64,))
    assert [made.name for made in result.calls] == ["deep", "next"]
    assert all(made.complete for made in result.calls)
    assert json.loads(result.calls[1].arguments)[call.key] == "here"


@pytest.mark.parametrize("dialect", list_dialects())
def test_long_names(dialect: str) -> None:
    call = written(dialect)
    name = "n" * LONG_NAME
    result, _ = parsed(call, call.call(name, "here"))
    assert [made.name for made in result.calls] == [name]
    for size in (NAME_LIMIT + 1, 5_000):
        result, counted = parsed(call, call.call("n" * size, "here"), sizes=(1, 64))
        assert all(len(made.name) <= NAME_LIMIT for made in result.calls)
        shown = result.visible.count("n")
        assert shown >= size or counted.get("dropped_characters", 0) >= size - shown


@pytest.mark.parametrize("char", ["\0", "\x1b", "\x7f", "\ud83d", "\u202e", "\n", "\u2028"], ids=ascii)
@pytest.mark.parametrize("dialect", list_dialects())
def test_odd_characters_in_names(dialect: str, char: str) -> None:
    """No name goes out that holds one."""
    call = written(dialect)
    for name in (f"to{char}ol", f"{char}tool", f"tool{char}"):
        result, _ = parsed(call, call.call(name, "here"))
        assert all(is_clean(made.name) for made in result.calls)
        result, _ = parsed(call, call.call(name, "here"), [tool("tool", call.key, {})])
        assert all(made.name == "tool" for made in result.calls)


ODD = "a\0b\x1bc\x7fd\u2028e\ud83df\u202eg\ufeffh"


@pytest.mark.parametrize("dialect", list_dialects())
def test_odd_characters_in_values(dialect: str) -> None:
    """They are data. What the parser writes is JSON; what the model wrote as JSON stays as it was."""
    call = written(dialect)
    result, _ = parsed(call, call.call("tool", ODD))
    (made,) = result.calls
    assert made.complete
    if dialect in VERBATIM:
        assert ODD in made.arguments
    assert json.loads(made.arguments, strict=False)[call.key] == ODD


@pytest.mark.parametrize("char", ["\0", "\x1b", "\ud83d", "\u202e"], ids=ascii)
@pytest.mark.parametrize("dialect", list_dialects())
def test_odd_characters_in_ids(dialect: str, char: str) -> None:
    """An id that a model writes is passed on, or replaced, but never breaks a call."""
    for line in all_lines():
        ids = [call["id"] for call in line.expected["tool_calls"] if call.get("id")]
        if line.dialect != dialect or len(ids) != 1 or line.raw.count(ids[0]) != 1 or line.options:
            continue
        raw = line.raw.replace(ids[0], ids[0][:-1] + char + ids[0][-1])
        results = []
        for chunks in ([raw], list(raw)):
            results.append(run(ResponseParser(dialect, line.tools, make_id=make_id), chunks))
        assert results[0] == results[1]


@pytest.mark.parametrize("dialect", list_dialects())
def test_near_misses(dialect: str) -> None:
    """A marker with a fault is text: in content, and in a value."""
    call = written(dialect)
    spelled = [*CONTROL_MARKERS[dialect], *spellings(get_dialect(dialect))]
    markup = {*spelled, *(text.replace("</", "<") for text in spelled)}
    for marker in CONTROL_MARKERS[dialect]:
        for at in {1, len(marker) // 2, len(marker) - 1}:
            for near in (marker[:at] + marker[at + 1 :], marker[:at] + "\u200b" + marker[at:], marker.swapcase()):
                if any(other in near for other in markup):
                    continue
                result, _ = parsed(call, call.call("tool", f"a {near} b"), sizes=(1,))
                (made,) = result.calls
                assert json.loads(made.arguments, strict=False)[call.key] == f"a {near} b", near


@pytest.mark.parametrize("dialect", list_dialects())
def test_calls_by_the_thousand(dialect: str) -> None:
    """All of them go out, under one name, each with an id and a value of its own."""
    call = written(dialect)
    count = MANY if dialect in SAMPLE else FEW
    text = call.calls(("tool", f"value{number}") for number in range(count))
    result, _ = parsed(call, text, sizes=() if count == MANY else (64,))
    assert len(result.calls) == count
    assert all(made.name == "tool" and made.complete for made in result.calls)
    assert [json.loads(made.arguments)[call.key] for made in result.calls] == [f"value{n}" for n in range(count)]
    assert len({made.id for made in result.calls}) == count


@pytest.mark.parametrize("dialect", list_dialects())
def test_repeated_calls_have_ids_of_their_own(dialect: str) -> None:
    """The same call again and again, whatever id the format writes."""
    call = written(dialect)
    parser = ResponseParser(dialect, None, **call.options)
    result = run(parser, [call.calls([("tool", "same")] * 50)])
    assert len({made.id for made in result.calls}) == 50
