"""The value codec: whole values by their types, and the same under every split."""

from __future__ import annotations

import json
import sys
import time
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.values import NEEDS_ESCAPE, Encoder, Written, convert, escape_json, fix_number, make_encoder

TYPES = ("null", "integer", "number", "boolean", "object", "array", "string")


def of(*names: str) -> frozenset[str]:
    return frozenset(names)


def run(encoder: Encoder, chunks: Any) -> tuple[str, str | None]:
    out = []
    for chunk in chunks:
        passed = encoder.streaming and NEEDS_ESCAPE.search(chunk) is None
        out.append(encoder.feed(chunk))
        assert not passed or out[-1] == chunk
    out.append(encoder.close())
    return "".join(out), encoder.anomaly


def splits(text: str) -> list[list[str]]:
    return [[text], list(text), *([text[:i], text[i:]] for i in range(len(text) + 1))]


# -- strings


@given(st.text(st.characters(exclude_categories=())))
def test_escape_json(text: str) -> None:
    body = escape_json(text)
    assert json.loads(f'"{body}"') == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    body.encode("utf-8")
    assert (body is text) == (NEEDS_ESCAPE.search(text) is None)


def test_escape_json_keeps_what_it_can() -> None:
    assert escape_json("é€😀\u2028\x7f/") == "é€😀\u2028\x7f/"
    assert escape_json('a"\\\n\x01\ud800') == 'a\\"\\\\\\n\\u0001\\ud800'


# -- whole values


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        ("null", ["null"], "null"),
        (" NoNe\n", ["null"], "null"),
        ("null", ["string"], '"null"'),
        ("null", [], '"null"'),
        ("null", ["string", "null"], "null"),
        ("5", ["integer"], "5"),
        (" 5\n", ["integer"], "5"),
        ("007", ["integer"], "7"),
        ("-007", ["integer"], "-7"),
        ("000", ["integer"], "0"),
        ("+5", ["integer"], "5"),
        ("1e20", ["integer"], "1e20"),
        ("1.50E1", ["integer"], "1.50E1"),
        ("10e-1", ["integer"], "10e-1"),
        ("0e-9", ["integer"], "0e-9"),
        ("1.0", ["integer"], "1.0"),
        ("1.5", ["number"], "1.5"),
        (".5", ["number"], "0.5"),
        ("-.5e3", ["number"], "-0.5e3"),
        ("5.", ["number"], "5.0"),
        ("02139", ["string"], '"02139"'),
        ("7", ["integer", "string"], "7"),
        ("7 x", ["integer", "string"], '"7 x"'),
        ("true", ["boolean"], "true"),
        ("TRUE", ["boolean"], "true"),
        ("False", ["boolean", "string"], "false"),
        ('{"a":  1.0}', ["object"], '{"a":  1.0}'),
        (' {"a": 1e400, "a": 2}\n', ["object"], '{"a": 1e400, "a": 2}'),
        ("[1, 2]", ["array", "string"], "[1, 2]"),
        ("[1, 2", ["array", "string"], '"[1, 2"'),
        ('{"a": 1}', ["array", "string"], '"{\\"a\\": 1}"'),
        ("  x\n", ["string", "integer"], '"  x\\n"'),
        ("", ["string", "integer"], '""'),
        ('"[1]"', ["array", "string"], '"\\"[1]\\""'),
    ],
)
def test_values(text: str, types: list[str], expected: str) -> None:
    assert convert(text, of(*types)) == (expected, None)
    for chunks in splits(text):
        assert run(make_encoder(of(*types)), chunks) == (expected, None)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (" x ", ["integer"]), ("1.5", ["integer"]), ("1e-1", ["integer"]), ("1e-999999999999", ["integer"]),
        ("NaN", ["number"]), ("inf", ["number"]), ("-Infinity", ["number", "integer"]), (".", ["number"]),
        ("-", ["number"]), ("1e", ["number"]), ("e5", ["number"]), ("1_000", ["integer"]), ("٣", ["integer"]),
        ("", ["integer"]), ("yes", ["boolean"]), ("{", ["object"]), ("[1]", ["object"]),
        ('{"a": NaN}', ["object"]),
        ("[" * 100_000, ["array"]), ("\ud800", ["object"]), ('"[1]"', ["object"]), ('"x', ["array"]),
    ],
)  # fmt: skip
def test_unconverted(text: str, types: list[str]) -> None:
    value, anomaly = convert(text, of(*types))
    assert anomaly == "unconverted_value"
    assert json.loads(value) == text
    assert run(make_encoder(of(*types)), [text]) == (value, anomaly)


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        ('"{\\"a\\": [1]}"', ["object"], '{"a": [1]}'),
        (' "[1,2]" ', ["array"], "[1,2]"),
        ('" {} "', ["array", "object"], "{}"),
    ],
)
def test_unwrapped(text: str, types: list[str], expected: str) -> None:
    assert convert(text, of(*types)) == (expected, "string_arguments")


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        ("{'a': True, 'b': None}", ["object"], '{"a": true, "b": null}'),
        ("[1, 2,]", ["array"], "[1, 2]"),
        ("(1, 2)", ["array"], "[1, 2]"),
        ("{1, 2}", ["array"], "[1, 2]"),
        ("['a']", ["array", "string"], '["a"]'),
        ('{"a": "line\nfeed"}', ["object"], '{"a": "line\\nfeed"}'),
    ],
)
def test_python_literals(text: str, types: list[str], expected: str) -> None:
    assert convert(text, of(*types)) == (expected, None)
    for chunks in splits(text):
        assert run(make_encoder(of(*types)), chunks) == (expected, None)
    quoted = '"' + escape_json(text) + '"'
    assert convert(text, of(*types), python_words=False)[0] == quoted


@pytest.mark.parametrize(
    ("text", "types"), [("(1, 2)", ["array", "string"]), ("{1, 2}", ["array", "string"])]
)
def test_python_text_where_strings_are_allowed(text: str, types: list[str]) -> None:
    assert run(make_encoder(of(*types)), [text]) == (f'"{text}"', None)


def test_words_without_python() -> None:
    types = of("null", "boolean", "string")
    for text, expected in {"null": "null", "true": "true", "None": '"None"', "True": '"True"'}.items():
        for chunks in splits(text):
            assert run(make_encoder(types, python_words=False), chunks) == (expected, None)


def test_huge_numbers() -> None:
    for digits in ("9" * 10_000, "1e" + "9" * 10_000, "0." + "9" * 10_000):
        assert convert(digits, of("number")) == (digits, None)
        assert convert(f"[{digits}]", of("array")) == (f"[{digits}]", None)
    assert convert("0" * 10_000 + "1", of("integer")) == ("1", None)


# -- values that say themselves what they are


@pytest.mark.parametrize(
    ("text", "written", "types", "expected", "anomaly"),
    [
        ("1", Written.TEXT, [], '"1"', None),
        ("null", Written.TEXT, ["null", "string"], '"null"', None),
        (" x\n", Written.TEXT, ["string"], '" x\\n"', None),
        ("1", Written.TEXT, ["integer"], "1", None),
        ("one", Written.TEXT, ["integer"], '"one"', "unconverted_value"),
        ('{"a": 1}', Written.TEXT, ["object"], '{"a": 1}', None),
        (" 1.50 ", Written.JSON, [], "1.50", None),
        ("123", Written.JSON, ["string"], "123", None),
        ("null", Written.JSON, ["string"], "null", None),
        ('{"a":[1,  2]}', Written.JSON, [], '{"a":[1,  2]}', None),
        ('"a\\u0041"', Written.JSON, [], '"a\\u0041"', None),
        ('"{\\"a\\": 1}"', Written.JSON, ["object"], '{"a": 1}', "string_arguments"),
        ('"5"', Written.JSON, ["object"], '"5"', "unconverted_value"),
        ("True", Written.JSON, ["boolean"], "true", None),
        ("02139", Written.JSON, [], '"02139"', None),
        ("02139", Written.JSON, ["string"], '"02139"', None),
        ("hello", Written.JSON, ["string"], '"hello"', None),
        ("{'a': 1}", Written.JSON, ["object"], '{"a": 1}', None),
        ("", Written.JSON, [], '""', None),
    ],
)
def test_written(text: str, written: Written, types: list[str], expected: str, anomaly: str | None) -> None:
    for chunks in splits(text):
        assert run(make_encoder(of(*types), written=written), chunks) == (expected, anomaly)


# -- early


def test_string_streams_at_once() -> None:
    encoder = make_encoder(of("string"))
    assert not encoder.streaming
    assert encoder.feed("") == ""
    assert encoder.feed('{"a') == '"{\\"a'
    assert encoder.streaming
    assert encoder.feed("b") == "b"
    assert encoder.close() == '"'


@pytest.mark.parametrize(
    ("text", "types", "held"),
    [
        ("nullable", ["null", "string"], 4),
        ("nothing", ["null", "string"], 2),
        ("no", ["boolean", "string"], 0),
        ("trust", ["boolean", "string"], 3),
        ("7 apples", ["integer", "string"], 2),
        ("1.5.2", ["number", "string"], 3),
        ("- item", ["number", "string"], 1),
        (". ", ["number", "string"], 1),
        ("1e 5", ["number", "string"], 2),
        ("hello", ["null", "integer", "boolean", "object", "array", "string"], 0),
        ("  hi", ["null", "string"], 2),
        ("null x", ["null", "string"], 5),
        ("5", ["null", "string"], 0),
        ("{x", ["array", "string"], 0),
    ],
)
def test_union_holds_no_longer_than_it_must(text: str, types: list[str], held: int) -> None:
    encoder = make_encoder(of(*types))
    for char in text[:held]:
        assert encoder.feed(char) == ""
    assert encoder.cut() is None
    assert encoder.feed(text[held]) == json.dumps(text[: held + 1])[:-1]
    assert encoder.streaming
    assert encoder.cut() == '"'


def test_cut() -> None:
    assert make_encoder(of("string")).cut() is None
    for types in (of("integer"), of("object"), of("integer", "string"), of("null")):
        encoder = make_encoder(types)
        encoder.feed("1" if "integer" in types else "n" if "null" in types else '{"a": 1')
        assert encoder.cut() is None
    encoder = make_encoder(of())
    encoder.feed("x")
    assert encoder.cut() == '"'


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        (' \n{"a": [1,  2]}\n ', ["object"], '{"a": [1,  2]}'),
        ("[1]", ["array", "null"], "[1]"),
        (" 12 ", ["integer"], "12"),
        ("True", ["boolean"], "true"),
        (" null", ["object", "null"], "null"),
    ],
)
def test_constrained(text: str, types: list[str], expected: str) -> None:
    for chunks in splits(text):
        assert run(make_encoder(of(*types), constrained=True), chunks) == (expected, None)


def test_constrained_goes_out_as_it_comes() -> None:
    encoder = make_encoder(of("object"), constrained=True)
    assert [encoder.feed(chunk) for chunk in (" ", ' {"a" ', " ", ": 1 ")] == ["", '{"a"', "", "  : 1"]
    assert not encoder.streaming
    assert encoder.cut() == ""
    assert encoder.close() == ""
    encoder = make_encoder(of("object"), constrained=True)
    encoder.feed("  ")
    assert encoder.cut() is None
    assert encoder.close() == '"  "'
    encoder = make_encoder(of("object", "string"), constrained=True)
    assert encoder.feed("{") == ""


# -- any text, any split

VALUE = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())),
    st.text("nulfaseroNTtrue ", max_size=8),
    st.text("0123456789+-.eE ", max_size=10),
    st.text("{}[]():,'\"\\1a \n", max_size=24),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ).flatmap(
        lambda value: st.sampled_from([repr(value), json.dumps(value), json.dumps(value, ensure_ascii=False)])
    ),
)


@given(VALUE, st.sets(st.sampled_from(TYPES)), st.booleans(), st.data())
def test_any_split_is_convert(text: str, names: set[str], python_words: bool, data: st.DataObject) -> None:
    types = of(*names)
    value, anomaly = convert(text, types, python_words=python_words)
    json.loads(value)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    bounds = [0, *cuts, len(text)]
    for chunks in ([text], list(text), [text[a:b] for a, b in pairwise(bounds)]):
        assert run(make_encoder(types, python_words=python_words), chunks) == (value, anomaly)
    for end in range(len(text) + 1):
        encoder = make_encoder(types, python_words=python_words)
        out = encoder.feed(text[:end])
        closing = encoder.cut()
        if closing is None:
            assert out == ""
        else:
            json.loads(out + closing)
            assert value.startswith(out)


@given(st.text("0123456789+-.eE", max_size=12))
def test_fix_number_against_python(text: str) -> None:
    number = fix_number(text)
    try:
        float(text)
    except ValueError:
        assert number is None
        return
    assert number is not None
    assert float(json.loads(number)) == float(text)
    value, anomaly = convert(text, of("integer"))
    if abs(float(text)) < 1e15 and len(text) < 10:
        assert (anomaly is None) == (
            float(text).is_integer() and "e-" not in value.lower()
        ) or "e" in text.lower()


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_numbers_are_copied(value: float) -> None:
    text = json.dumps(value)
    assert convert(text, of("number")) == (text, None)


def test_every_pair_of_types_is_decided() -> None:
    for size in range(len(TYPES) + 1):
        for names in combinations(TYPES, size):
            for text in ("", "x", "1", "null", "true", "{}", "[]", '"', " "):
                json.loads(convert(text, of(*names))[0])


@pytest.mark.parametrize("text", [" " * 100_000, "1" * 100_000, "[" + "1," * 50_000 + "1]", "x" * 100_000])
def test_one_character_chunks_are_linear(text: str) -> None:
    def cost(chars: str) -> float:
        best = sys.float_info.max
        for _ in range(3):
            encoder = make_encoder(frozenset(TYPES))
            start = time.process_time()
            for char in chars:
                encoder.feed(char)
            encoder.close()
            best = min(best, time.process_time() - start)
        return best

    assert cost(text) < 40 * cost(text[: len(text) // 10]) + 0.05
