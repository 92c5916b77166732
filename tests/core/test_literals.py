"""Python literals to JSON: whole, streamed under every split, cut anywhere, and hostile."""

from __future__ import annotations

import ast
import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolglot.core.literals import DEPTH, LiteralReader, python_to_json


def passed(reader: LiteralReader, chunk: str) -> str | None:
    """What a chunk becomes that goes round the reader; None where it may not. Both looks at it must agree."""
    passing = reader.passing
    if passing is None:
        return None
    possible = None
    if passing.possible is not None and passing.possible(chunk) is None:
        possible = chunk if passing.escape is None else passing.escape(chunk)
    if passing.stop(chunk) is None:
        assert possible in (None, chunk)
        return chunk
    return possible


def read(chunks: list[str], final: bool = True, stops: str = ",)") -> tuple[str, str, str | None]:
    """The JSON text, what was left behind the value, and what `cut` said (None when the value ended)."""
    reader = LiteralReader(stops)
    out = ""
    rest = ""
    for number, chunk in enumerate(chunks):
        rest += chunk
        round_it = passed(reader, chunk)
        if round_it is not None:
            assert rest == chunk
            out += round_it
            rest = ""
            continue
        pos, text, done = reader.feed(rest, 0, False)
        out += text
        rest = rest[pos:]
        if done:
            return out, rest + "".join(chunks[number + 1 :]), None
        assert len(rest) <= 16
    if not final:
        return out, rest, reader.cut()
    pos, text, done = reader.feed(rest, 0, True)
    return out + text, rest[pos:], None if done else reader.cut() or ""


def all_splits(text: str) -> tuple[str, str, str | None]:
    whole = read([text])
    assert read(list(text)) == whole
    for i in range(1, len(text)):
        assert read([text[:i], text[i:]]) == whole
    return whole


# -- values that end at a stop


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", "1"), ("-2", "-2"), ("1e3", "1e3"), ("1.50", "1.50"), ("007", "7"), ("1_000", "1000"),
        ("0x10", "16"),
        ("-0b11", "-3"), ("0o17", "15"), (".5", "0.5"), ("5.", "5.0"), ("+5", "5"), ("-.5e1", "-0.5e1"),
        ("True", "true"), ("False", "false"), ("None", "null"), ("true", "true"), ("false", "false"),
        ("null", "null"), ("'x'", '"x"'), ('"x"', '"x"'), ("''", '""'), ('""', '""'), (" 'x' ", '"x"'),
        # quote guard
        ("'it's'", '"it\'s"'), ("'a 'b' c'", '"a \'b\' c"'), ('"say "hi" now"', '"say \\"hi\\" now"'),
        ("'a'  b'", '"a\'  b"'), ("'a\nb'", '"a\\nb"'), ("'a' 'b'", '"a\' \'b"'), ("''a'", '"\'a"'),
        # triples
        ("'''a'b''c'''", '"a\'b\'\'c"'), ('"""a\n"b" """', '"a\\n\\"b\\" "'), ("''''''", '""'),
        # escapes
        (r"'it\'s \"x\" \\'", '"it\'s \\"x\\" \\\\"'),
        (r"'\n\t\r\a\b\f\v'", '"\\n\\t\\r\\u0007\\b\\f\\u000b"'),
        (r"'\x41\u00e9\U0001F600\101\0'", '"Aé😀A\\u0000"'), (r"'\q\N{DASH}\8'", r'"\\q\\N{DASH}\\8"'),
        (r"'\xg\u12\U00110000'", r'"\\xg\\u12\\U00110000"'), ("'a\\\nb\\\r\nc'", '"abc"'),
        (r"'\ud83d\ude00'", r'"\ud83d\ude00"'), (r"'\18'", r'"\u00018"'), (r"'''\''''", '"\'"'),
        # prefixes
        (r"r'\d\n'", r'"\\d\\n"'), (r"r'\''", '"\\\\\'"'), ("b'x'", '"x"'), ("u'x'", '"x"'),
        ("f'{x}'", '"{x}"'),
        (r"Rb'\x'", r'"\\x"'), ("fr'''a'b'''", '"a\'b"'),
        # containers
        ("[]", "[]"), ("()", "[]"), ("{}", "{}"), ("[1,2,]", "[1, 2]"), ("(1,)", "[1]"), ("(1, 2)", "[1, 2]"),
        ("(1)", "1"), ("('a\n')", '"a\\n"'), ("([])", "[]"), ("{1}", "[1]"), ("{'a','b'}", '["a", "b"]'),
        ("{'a':1,'b':[{}]}", '{"a": 1, "b": [{}]}'), ("{'a':{'b':{1,(2,)}},}", '{"a": {"b": [1, [2]]}}'),
        ("[{(1)}, ((2, 3)), {((4))}]", "[[1], [2, 3], [4]]"), ("[ 'a' , 'b' ]", '["a", "b"]'),
        ("{1:2,True:3,None:4,.5:5,(1,'a'):6}", '{"1": 2, "true": 3, "null": 4, "0.5": 5, "[1, \\"a\\"]": 6}'),
        ("{'a':1,'a':2}", '{"a": 1, "a": 2}'), ("{'it's':'it's'}", '{"it\'s": "it\'s"}'),
        ("{('k'): ('v')}", '{"k": "v"}'), ("[[1,[2,(3)]]]", "[[1, [2, 3]]]"),
        # strings in a row, as a template writes them
        ('["a", "b", "c"]', '["a", "b", "c"]'), ("['a', 'b', '', 'c']", '["a", "b", "", "c"]'),
        ("['it's', 'a\\n\\x41', 'b']", '["it\'s", "a\\nA", "b"]'), ('["a", "b", 1, "c"]', '["a", "b", 1, "c"]'),
        ('{"a": "b", "c": "d", "e": 1}', '{"a": "b", "c": "d", "e": 1}'),
        ("{'a': ['b', 'c'], 'd': 'e'}", '{"a": ["b", "c"], "d": "e"}'), ("('a', 'b', 'c')", '["a", "b", "c"]'),
        ('["a", """b""", "c"]', '["a", "b", "c"]'), ("{'a', 'b', 'c'}", '["a", "b", "c"]'),
    ],
)  # fmt: skip
def test_literals(text: str, expected: str) -> None:
    for stop in (", b=1)", ")"):
        assert all_splits(text + stop) == (expected, stop, None)
    assert python_to_json(text) == expected
    json.loads(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo", '"foo"'), ("1+2", '"1+2"'), ("foo(1, 2)", '"foo(1, 2)"'),
        ("foo('a)', [b, c])", '"foo(\'a)\', [b, c])"'),
        ("don't stop", '"don\'t stop"'), ("(1+2)*3", '"(1+2)*3"'), ("(1)+(2, 3)", '"(1)+(2, 3)"'),
        ("((1+2))", '"((1+2))"'),
        ("x if (a, b) else c ", '"x if (a, b) else c"'), ("nan", '"nan"'), ("1j", '"1j"'), ("1__0", '"1__0"'),
        ("TRUE", '"TRUE"'), ("foo(')', \"\\\")\")", '"foo(\')\', \\"\\\\\\")\\")"'), ("a:b", '"a:b"'),
        ("", '""'),
        ("foo[1, (2, 3]", '"foo[1, (2, 3]"'), ("0x" + "f" * 300, '"0x' + "f" * 300 + '"'),
        # inside containers only the bad element is raw
        ("[foo, 1]", '["foo", 1]'), ("[f(1, 2), 3]", '["f(1, 2)", 3]'), ("{foo: 1}", '{"foo": 1}'),
        ("{1+2}", '["1+2"]'),
        ("{'a': x:y, 'b': 1}", '{"a": "x:y", "b": 1}'), ("{(a+b)*c: 1}", '{"(a+b)*c": 1}'),
        ("[1,,2]", "[1, 2]"), ("[,]", "[]"),
        ("[1 2, 3]", '["1 2", 3]'), ("{'a': 1, 'b'}", '{"a": 1}'),
        ("{'a': 1, 'b', 'c': 2}", '{"a": 1, "c": 2}'),
        ("{'a': , 'b': 1}", '{"b": 1}'), ("{'a':}", "{}"), ("{'a', 'b': 1}", '["a", "b"]'),
        ("['a': 1]", '["a"]'),
        ("{: 1}", '{"": 1}'), ("{'a': 1, : 2}", '{"a": 1, "": 2}'), ("{,}", "[]"), ("[}]", '["}"]'),
        ("[1]+[2, 3]", "[1]"), ("'x': 1", '"x"'), ("[[1] x, 2]", "[[1], 2]"), ("{'a': 'b': 1}", '{"a": "b"}'),
        ("[{'a': (1, 2]", '[{"a": [1, 2]}]'), ("[{'a': 1, 'b']", '[{"a": 1}]'), ("{(1}", '["(1"]'),
    ],
)  # fmt: skip
def test_no_literals(text: str, expected: str) -> None:
    assert all_splits(text + ")") == (expected, ")", None)
    assert python_to_json(text) is None
    json.loads(expected)


def test_a_stop_closes_open_brackets() -> None:
    assert all_splits("[1, {'a': [2), ping()") == ('[1, {"a": [2]}]', "), ping()", None)
    assert all_splits("[1, 'a'}, x)") == ('[1, "a", "x"]', ")", None)


def test_other_stops() -> None:
    assert read(list("[1, {'a': 2}] ; x"), stops=";") == ('[1, {"a": 2}]', "; x", None)
    assert read(list("a, (b; c); x"), stops=";") == ('"a, (b; c)"', "; x", None)
    assert read(list("'a' ; x"), stops=";") == ('"a"', "; x", None)
    assert read(list("1}"), stops=",}") == ("1", "}", None)


def test_junk_is_counted() -> None:
    reader = LiteralReader()
    assert reader.feed("[1]+[2, 3])", 0, False) == (10, "[1]", True)
    assert (reader.lost, reader.malformed) == (7, True)


# -- early


@pytest.mark.parametrize(
    ("chunks", "outs"),
    [
        (["'ab", "c'", "  ", ",x"], ['"ab', "c", "", '"']),
        (["'ab'", " d", "'", ","], ['"ab', "' d", "", '"']),
        (["[1", ", 2", "]", ","], ["[", "1", ", 2]", ""]),
        (["{'a'", ": 'b", "c", "', 'd'", ": 1", "}"], ["", '{"a": "b', "c", '"', "", ', "d": 1}']),
        (["{'abc", "', 'd", "'}"], ["", '["abc", "d', '"]']),
        (["('abc", "', 'd"], ["", '["abc", "d']),
        (["('abc", "')", ","], ["", "", '"abc"']),
        (["'\\", "x4", "1", "b"], ['"', "", "A", "b"]),
        (['"', '"', '"', "a", '""', '"'], ["", "", '"', "a", "", '"']),
    ],
)
def test_what_goes_out_when(chunks: list[str], outs: list[str]) -> None:
    reader = LiteralReader()
    rest = ""
    got = []
    for chunk in chunks:
        rest += chunk
        pos, out, _ = reader.feed(rest, 0, False)
        rest = rest[pos:]
        got.append(out)
    assert got == outs


def test_in_string() -> None:
    for text, inside, stopped in [
        ("'ab", True, "'"), ('"ab', True, '"'), ("'ab'", False, ""), ("'ab\\", False, ""),
        ("['a', \"b", True, "\n"),
        ("{'a", False, ""), ("{'a': 'b", True, "\\"), ("{'a': 'b', 'c", False, ""), ("('a", False, ""),
        ("12", False, ""),
        ("'''a''", False, ""), ("'''a", True, "'"), ("foo('a", False, ""), ("'a', ", False, ""),
    ]:  # fmt: skip
        reader = LiteralReader()
        reader.feed(text, 0, False)
        assert (reader.passing is not None) is inside, text
        assert not inside or reader.passing.stop(stopped)  # type: ignore[union-attr]
    reader = LiteralReader()
    reader.feed('"ab', 0, False)
    assert passed(reader, "it's é") == "it's é"
    assert passed(reader, r"\n\" \\") == r"\n\" \\"
    assert passed(reader, r"\q") is passed(reader, "\\") is passed(reader, 'a"') is None


# -- the end of the input


@pytest.mark.parametrize(
    ("text", "out", "cut"),
    [
        ("", "", ""), ("12", "", ""), ("Tru", "", ""), ("True", "", ""), ("foo(1", "", ""),
        ("{'a'", "", ""), ("('a', ", '["a"', "]"),
        ("'ab", '"ab', '"'), ("'ab'", '"ab"', None), ("'ab' ", '"ab"', None), ("'ab\\", '"ab', '"'),
        ("[", "[", "]"),
        ("r'ab\\", '"ab\\\\', '"'), ("'ab\\x4", '"ab', '"'), ("'ab\\xg", '"ab\\\\xg', '"'),
        ("'ab\\x4'", '"ab\\\\x4"', None), ("'ab\\1", '"ab\\u0001', '"'),
        ("f", "", ""), ("'", '"', '"'),
        ("''", '""', None), ("'''a''", '"a\'\'', '"'), ("'''a'''", '"a"', None), ("[1, 2", "[1", "]"),
        ("[1, 'b'", '[1, "b"', "]"),
        ("[1, 'b", '[1, "b', '"]'), ("{'a': 1, 'b': 2", '{"a": 1', "}"), ("{'a': 'x", '{"a": "x', '"}'),
        ("{'a': ", "{", "}"),
        ("{'a': [{'b", '{"a": [', "]}"), ("{'a': [{'b': {'c': 1, 'd", '{"a": [{"b": {"c": 1', "}}]}"),
        ("[('a'", "[", "]"), ("[('a')", "[", "]"),
        ("[1]", "[1]", None), ("[1] + [", "[1]", ""), ("(1)", "1", None), ("(1) ", "1", None),
        ("(1)+", "", ""), ("{1, 2}\n", "[1, 2]", None),
        ("[(1+2)*", "[", "]"), ("{'a': (1+2)*", "{", "}"), ("[{1, (2", "[[1", "]]"),
    ],
)  # fmt: skip
def test_cut(text: str, out: str, cut: str | None) -> None:
    assert all_splits(text) == (out, "", cut)
    if cut is None or out:
        json.loads(out + (cut or ""))


# -- against Python

PYTHON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.text(max_size=4) | st.integers() | st.booleans() | st.none(), inner, max_size=4)
    | st.sets(st.integers() | st.text("ab'\"\\", max_size=3), max_size=3),
    max_leaves=12,
)  # fmt: skip


def as_json(node: ast.AST) -> str:
    """JSON text of a literal's syntax tree."""
    if isinstance(node, ast.Dict):
        keys = [as_json(key) for key in node.keys if key is not None]
        keys = [key if key.startswith('"') else json.dumps(key) for key in keys]
        pairs = zip(keys, map(as_json, node.values), strict=True)
        return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return "[" + ", ".join(map(as_json, node.elts)) + "]"
    return json.dumps(ast.literal_eval(node), ensure_ascii=False)


def pairs(text: str) -> Any:
    """JSON with its numbers as values, and all pairs of its objects."""
    return json.loads(text, object_pairs_hook=lambda found: ("object", found))


@given(PYTHON)
@example({"a": {1}, "b": set()})
def test_python_to_json_against_python(value: Any) -> None:
    text = repr(value)
    out = python_to_json(text)
    if "set()" in text:  # to Python a call
        return
    assert out is not None
    expected = as_json(ast.parse(text, mode="eval").body)
    assert repr(pairs(out)) == repr(pairs(expected))
    assert read([text + ")"]) == read([*text, ")"]) == (out, ")", None)


ESCAPES = st.lists(
    st.sampled_from([
        "\\n", "\\t", "\\\\", "\\'", '\\"', "\\x41", "\\u00e9", "\\U0001f600", "\\0", "\\12", "\\777",
        "\\q", "\\\n", "a", " ", "é",
        "b,", "[", "}", ":", "\\x4", "8", "\\u12", "g",
    ]),
    max_size=8,
).map("".join)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@given(ESCAPES, st.sampled_from(["'", '"', "'''", '"""']), st.sampled_from(["", "r", "u", "R"]))
def test_escapes_against_python(body: str, quote: str, prefix: str) -> None:
    text = prefix + quote + body + quote
    try:
        expected = ast.literal_eval(text)
    except (SyntaxError, ValueError):  # \x4 without a digit is an error to Python, and data to us
        return
    out = python_to_json(text)
    assert out is not None
    assert json.loads(out) == expected
    assert all_splits(text + ",") == (out, ",", None)


@given(PYTHON.map(lambda value: json.dumps(value if isinstance(value, (list, str)) else str(value),
default=list)))
def test_json_is_read_too(text: str) -> None:
    out = python_to_json(text)
    assert out is not None
    if "\\ud8" not in text and "\\udb" not in text:
        assert json.loads(out) == json.loads(text)


# -- any text

HOSTILE = st.one_of(
    st.text("[](){}'\",: =+1a.\\nrx\n0_", max_size=30),
    st.lists(
        st.sampled_from([
            "[", "]", "(", ")", "{", "}", "'", '"', "'''", '"""', ",", ":", " ", "\n", "\\", "1", "0x1",
            "None", "foo", "r'", "'a'",
            '"b"', "\ud800", "é", "'k': ", "+", "\\x41", "\\u",
        ]),
        max_size=20,
    ).map("".join),
    st.text(st.characters(exclude_categories=()), max_size=20),
)  # fmt: skip


@given(HOSTILE, st.data())
def test_any_text_any_split(text: str, data: st.DataObject) -> None:
    out, rest, cut = whole = read([text])
    assert text.endswith(rest)
    if cut is None or out:
        json.loads(out + (cut or ""))
    assert read(list(text)) == whole
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    bounds = [0, *cuts, len(text)]
    assert read([text[a:b] for a, b in pairwise(bounds)]) == whole


@given(HOSTILE)
def test_cut_anywhere_is_json_and_a_prefix(text: str) -> None:
    whole = read([text])[0]
    for end in range(len(text) + 1):
        early, _, cut = read([text[:end]], final=False)
        assert whole.startswith(early)
        out, _, cut = read([text[:end]])
        if cut is None or out:
            json.loads(out + (cut or ""))
    out_or_none = python_to_json(text)
    if out_or_none is not None:
        json.loads(out_or_none)


def test_depth() -> None:
    deep = "[" * (DEPTH + 5) + "'a', 1" + "]" * (DEPTH + 5)
    out, rest, cut = read(list(deep + ")"))
    assert (rest, cut) == (")", None)
    assert json.loads(out) == json.loads("[" * DEPTH + '"[[[[[\'a\', 1]]]]]"' + "]" * DEPTH)
    assert python_to_json(deep) is None
    assert python_to_json("[" * DEPTH + "]" * DEPTH) == "[" * DEPTH + "]" * DEPTH
    closers = ")" * 10_000 + "]" * 10_000 + "}" * 10_000
    for opener in "[({":
        for text in (opener * 20_000, opener * 20_000 + "1,", opener * 20_000 + closers):
            read([text])
            read(list(text))


@pytest.mark.parametrize(
    "unit",
    [
        "'" + "a" * 60, "'" + "' " * 30, "'\\n\\x41", '"a\nb', "{'a", "{'a': [(x), ", "(" * 64 + "a", "x'",
        "foo(", "(]", "0", " ",
        "[(1), ", "[(a)b, ", "'''a''", "{" * 60 + "'a", "[{(a), 1}, ", "({[", "foo(a]",
        "'a'" + " " * 60 + "b", "{1:", "1 ,", "])}",
    ],
)  # fmt: skip
def test_linear(unit: str) -> None:
    def cost(size: int, step: int) -> tuple[float, int]:
        text = "[" + unit * (size // len(unit) + 1)
        start = time.process_time()  # CPU time: other processes do not count
        reader = LiteralReader(";")
        rest = ""
        for i in range(0, len(text), step):
            rest += text[i : i + step]
            pos, _, _ = reader.feed(rest, 0, False)
            rest = rest[pos:]
        reader.feed(rest, 0, True)
        return time.process_time() - start, reader.examined

    for step in (1, 7, 1_000_000):
        assert cost(40_000, step)[1] <= 12 * 40_200
        small = min(cost(2_000, step)[0] for _ in range(3))
        large = min(cost(40_000, step)[0] for _ in range(2))
        assert large < 20 * 6 * small + 0.1


def test_long_values() -> None:
    assert python_to_json("9" * 10_000) == "9" * 10_000
    assert python_to_json("[" + "1," * 100_000 + "]") is not None
    text = "x" * 1_000_000
    reader = LiteralReader()
    reader.feed("'", 0, False)
    assert reader.feed("'" + text, 0, False)[1] == '"' + text
