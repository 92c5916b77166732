"""What a tag is for a request: limits, bad input, strict tools, blanks, and the number ranges of call syntax."""

from __future__ import annotations

import json
import logging
import random
import re
from typing import Any

import pytest
import xgrammar
from walks import Grammar

from toolglot.core import ConfigurationError, get_dialect, list_dialects, parse, structural_tag
from toolglot.core.number_ranges import integers, numbers
from toolglot.core.serving.constrain import checked_tag
from toolglot.core.serving.prompt import Thinking
from toolglot.core.tag_patterns import rewrite_pattern
from toolglot.core.tag_schema import Arguments

N = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def tool(name: str, parameters: Any = None, **more: Any) -> dict[str, Any]:
    function = {"name": name, **more}
    if parameters is not None:
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def one(schema: Any, key: str = "x") -> dict[str, Any]:
    return {"type": "object", "properties": {key: schema}, "required": [key]}


# -- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", list_dialects())
@pytest.mark.parametrize(
    "name", ["two words", "a<tool_call>b", 'quo"te', "new\nline", "<function=x>", "x" * 300, "brace{"]
)
def test_a_name_that_cannot_be_written(dialect: str, name: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(repr(name)[:40])):
        structural_tag(dialect, [tool("ok"), tool(name)], "required")


@pytest.mark.parametrize("choice", ["required", "auto"])
def test_duplicate_names(choice: str) -> None:
    with pytest.raises(ConfigurationError, match=r"'ping'.*2 times"):
        structural_tag("hermes", [tool("ping"), tool("pong"), tool("ping")], choice)


def test_no_tools() -> None:
    assert structural_tag("hermes", [], "auto") is None
    assert structural_tag("hermes", [tool("ping")], "none") is None
    with pytest.raises(ConfigurationError, match="at least one"):
        structural_tag("hermes", [], "required")


WRONG: list[tuple[Any, str]] = [
    (False, "no value meets"),
    (one(False), "no value meets"),
    ({"type": "array"}, "arguments are an object"),
    ({"type": "string"}, "arguments are an object"),
    (one({"type": "whatever"}), "no JSON type"),
    (one({"type": 7}), "no JSON type"),
    (one({"enum": []}), "enum"),
    (one({"$ref": "#/$defs/none"}), "leads nowhere"),
    (one({"type": "integer", "minimum": 5, "maximum": 3}), "greater"),
    (one({"type": "integer", "minimum": "5"}), "minimum is a number"),
    (one({"type": "string", "minLength": -1}), "minLength"),
    (one({"anyOf": []}), "anyOf"),
    (one("string"), "not str"),
    ({"type": "object", "properties": ["x"]}, "properties is an object"),
    ({"type": "object", "properties": {"x": {}}, "required": "x"}, "required is a list"),
    (one({"type": "array", "items": 3}), "not int"),
    (one({"allOf": [{"type": "string"}, {"type": "integer"}]}), "no value meets"),
]


@pytest.mark.parametrize(("schema", "says"), WRONG)
@pytest.mark.parametrize("dialect", list_dialects())
def test_a_wrong_schema_names_the_tool(dialect: str, schema: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=f"tool 'bad'.*{says}"):
        structural_tag(dialect, [tool("ok", N), tool("bad", schema)], "required")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        one({"allOf": [{"$ref": "#/properties/x"}]}),
        {"type": "object", "properties": {"again": {"$ref": "#"}}},
        one({"anyOf": [{"$ref": "#/properties/x"}, {"type": "integer"}]}),
    ],
)
@pytest.mark.parametrize("dialect", list_dialects())
def test_recursion_ends(dialect: str, schema: Any) -> None:
    """A schema that refers to itself gives a tag that compiles, or an error that names the tool."""
    try:
        tag = structural_tag(dialect, [tool("self", schema)], "required")
    except ConfigurationError as error:
        assert "'self'" in str(error)
        return
    xgrammar.Grammar.from_structural_tag(json.dumps(tag))


MARKED_KEYS = ["<tool_call>", 'quo"te', "new\nline", "</parameter>", "a>b", "两 字", ""]


@pytest.mark.parametrize("key", MARKED_KEYS)
@pytest.mark.parametrize("dialect", list_dialects())
def test_keys_with_markers(dialect: str, key: str) -> None:
    """JSON carries any key. Where a key cannot be written, a required one is refused, another left out."""
    try:
        tag = structural_tag(dialect, [tool("keyed", one({"type": "integer"}, key))], "required")
    except ConfigurationError as error:
        assert "'keyed'" in str(error)
        schema = {"type": "object", "properties": {key: {"type": "integer"}}}
        tag = structural_tag(dialect, [tool("keyed", schema)], "required")
    assert tag is not None
    grammar = Grammar(get_dialect(dialect), tag)
    assert any(grammar.walk(random.Random(n)) for n in range(5))


# -- strict, looser, narrower -----------------------------------------------------------------------------------

UNIQUE = one({"type": "array", "uniqueItems": True})


def test_what_no_grammar_says_is_loosened_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "toolglot"):
        for _ in range(3):
            assert structural_tag("hermes", [tool("unique-once", UNIQUE)], "required") is not None
    warning, detail = caplog.records
    assert warning.levelno == logging.WARNING and "unique" not in warning.message
    assert detail.levelno == logging.DEBUG
    assert "unique-once" in detail.message and "/properties/x: uniqueItems" in detail.message


def test_what_no_grammar_says_is_refused_where_strict() -> None:
    with pytest.raises(ConfigurationError, match=r"'unique'.*strict.*uniqueItems"):
        structural_tag("hermes", [tool("unique", UNIQUE, strict=True)], "required")
    assert structural_tag("hermes", [tool("fine", N, strict=True)], "required") is not None


def problem_with_kanji(tag: str) -> str | None:
    """Stands for a version of XGrammar with a limit of its own."""
    return "no kanji" if "\u4e2d" in tag else None


def checked(tool_: dict[str, Any]) -> Any:
    return checked_tag(
        "hermes", [tool("ok", N), tool_], "required",
        thinking=Thinking.CLOSED, parallel_tool_calls=True, problem_of=problem_with_kanji,
    )  # fmt: skip


def test_what_xgrammar_refuses_is_left_free(caplog: pytest.LogCaptureFixture) -> None:
    """Only the argument at fault loses its schema."""
    schema = {
        "type": "object",
        "properties": {"fine": {"type": "integer"}, "bad": {"const": "\u4e2d"}},
        "required": ["fine", "bad"],
    }
    with caplog.at_level(logging.DEBUG, "toolglot"):
        found = checked(tool("partly", schema))
    tags = found.tag["format"]["tags"]
    [properties] = [each["content"]["json_schema"]["properties"] for each in tags if "partly" in each["begin"]]
    assert properties == {"fine": {"type": "integer"}, "bad": {}}
    assert "'partly'" in caplog.text and "bad" in caplog.text
    with pytest.raises(ValueError, match=r"'partly'.*no kanji"):
        checked(tool("partly", schema, strict=True))


def test_a_tag_is_kept_by_what_the_request_says() -> None:
    """Equal tools give the kept tag; true and 1 are equal for Python only."""
    one_, two = (checked(tool("kept", one({"const": value}))) for value in (1, True))
    assert checked(tool("kept", one({"const": 1}))) is one_
    assert one_.text != two.text


# -- blanks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", list_dialects())
def test_blanks_are_bounded(dialect: str) -> None:
    """No arguments have three blanks in a row outside strings, so generation cannot spin in them."""
    tag = structural_tag(dialect, [tool("numbers", one({"type": "array", "items": {"type": "integer"}}))], "required")
    assert tag is not None
    grammar = Grammar(get_dialect(dialect), tag)
    for seed in range(10):
        tokens = grammar.walk(random.Random(seed))
        for call in parse("".join(tokens or ()), dialect, reasoning=False).tool_calls:
            assert not re.search(r"[ \t\r\n]{3}", call.arguments), call.arguments


# -- pieces -----------------------------------------------------------------------------------------------------


def _matches(alternatives: list[str], text: str) -> bool:
    """Whether EBNF alternatives of literals, classes and counts match; they read the same as a regex."""
    pattern = "|".join(
        "".join(re.escape(json.loads(part)) if part.startswith('"') else part for part in each.split(" "))
        for each in alternatives
    )
    return re.fullmatch(pattern, text) is not None


RANGES = [(0, 0), (3, 117), (-12, 5), (None, 7), (1000, None), (None, -3), (-105, -99), (99, 1001), (-1, 1), (7, 7)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_integer_ranges(low: int | None, high: int | None) -> None:
    found = integers(low, high)
    for value in range(-1200, 1200):
        inside = (low is None or value >= low) and (high is None or value <= high)
        assert _matches(found, str(value)) is inside, value


@pytest.mark.parametrize(
    ("low", "high", "exclusive"), [(0, 1, False), (-3.5, 20, True), (0, None, True), (None, 2.25, False), (1, 3, True)]
)
def test_number_ranges(low: float | None, high: float | None, exclusive: bool) -> None:
    found = numbers(low, high, open_low=exclusive, open_high=exclusive)
    for tenth in range(-300, 300):
        text = f"{tenth / 10:g}"
        value = float(text)
        inside = (low is None or value > low or (value == low and not exclusive)) and (
            high is None or value < high or (value == high and not exclusive)
        )
        assert inside or not _matches(found, text), text
    assert any(_matches(found, f"{tenth / 10:g}") for tenth in range(-300, 300))


@pytest.mark.parametrize(
    ("pattern", "texts", "others"),
    [
        ("^[a-z]{2}$", ["ab"], ["abc", "a", '"a']),
        ("b+", ["b", "abba"], ["a", 'b"']),
        ("^a|b$", ["ax", "xb"], ["xa"]),
        ("^[^@]+@x", ["u@xy"], ["@x", 'u"@x']),
        (r"^\d+(\.\d+)?$", ["1", "1.5"], ["1.", "x"]),
        (r"^[\w-]*$", ["", "a-b_1"], ["a b"]),
    ],
)
def test_patterns(pattern: str, texts: list[str], others: list[str]) -> None:
    whole = rewrite_pattern(pattern, '"\\')
    assert whole is not None
    for text in texts:
        assert re.search(pattern, text) and re.search(whole, text), text
    for text in others:
        assert not re.search(whole, text), text


@pytest.mark.parametrize("pattern", ["(?!x)a", r"\bword", r"(a)\1", r"\p{L}", "(", "[z-a", 'say "x"'])
def test_patterns_that_no_grammar_has(pattern: str) -> None:
    assert rewrite_pattern(pattern, '"\\') is None


def test_the_form_of_a_schema() -> None:
    """References are inlined by name, one type a node, all of `allOf` in one."""
    arguments = Arguments(
        "f",
        {
            "type": "object",
            "properties": {
                "a": {"type": ["integer", "null"], "minimum": 3},
                "b": {"allOf": [{"$ref": "#/$defs/p"}, {"properties": {"y": {"const": 1}}, "required": ["y"]}]},
                "c": {"$ref": "#/$defs/p"},
            },
            "$defs": {"p": {"type": "object", "properties": {"x": {"type": "str"}}}},
        },
    )
    assert not arguments.loosened
    properties = arguments.schema["properties"]
    assert properties["a"] == {"anyOf": [{"type": "integer", "minimum": 3, "maximum": 10**15}, {"type": "null"}]}
    assert properties["b"] == {
        "type": "object",
        "properties": {"x": {"type": "string"}, "y": {"enum": [1]}},
        "required": ["y"],
    }
    assert properties["c"] == {"$ref": "#/$defs/d0"}
    assert arguments.standalone(properties["c"])["$defs"]["d0"]["properties"] == {"x": {"type": "string"}}
