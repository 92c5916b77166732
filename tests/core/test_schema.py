"""Argument types as ToolSchema reads them from JSON schemas, sound and broken ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.schema import ToolSchema

ALL = {"null", "integer", "number", "boolean", "object", "array", "string"}


def types(node: Any, **root: Any) -> set[str]:
    return set(ToolSchema({"type": "object", "properties": {"a": node}, **root}).types("a"))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "integer"}, {"integer"}),
        ({"type": ["integer", "null"]}, {"integer", "null"}),
        ({"type": "string", "nullable": True}, {"string", "null"}),
        ({"type": "STRING"}, {"string"}),
        ({"type": "str"}, {"string"}),
        ({"type": "int"}, {"integer"}),
        ({"type": "float"}, {"number"}),
        ({"type": "double"}, {"number"}),
        ({"type": "bool"}, {"boolean"}),
        ({"type": "dict"}, {"object"}),
        ({"type": "map"}, {"object"}),
        ({"type": "list"}, {"array"}),
        ({"type": "tuple"}, {"array"}),
        ({"type": "None"}, {"null"}),
        ({"type": "List[str]"}, {"array"}),
        ({"type": "array<string>"}, {"array"}),
        ({"type": "int | None"}, {"integer", "null"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"oneOf": [{"type": "integer"}, {"anyOf": [{"type": "array"}]}]}, {"integer", "array"}),
        ({"allOf": [{"type": ["integer", "null"]}, {"type": ["integer", "string"]}]}, {"integer"}),
        ({"allOf": [{"description": "x"}, {"type": "boolean"}]}, {"boolean"}),
        ({"type": ["string", "null"], "anyOf": [{"type": "string"}, {"type": "integer"}]}, {"string"}),
        ({"type": "number", "anyOf": [{"type": "integer"}]}, {"integer"}),
        ({"type": "string", "nullable": True, "allOf": [{"type": "string"}]}, {"string", "null"}),
        ({"enum": [1, 2]}, {"integer"}),
        ({"enum": [1, True, None, "x", 1.0, {}, []]}, ALL),
        ({"const": True}, {"boolean"}),
        ({"const": 1.0}, {"number"}),
        ({"const": None}, {"null"}),
        ({"type": "string", "enum": [1, 2]}, {"string"}),
        ({"type": "enum", "enum": ["a"]}, {"string"}),
        ({"properties": {"x": {}}}, {"object"}),
        ({"items": {"type": "string"}}, {"array"}),
        ({"type": "object", "anyOf": [{"required": ["x"]}, {"required": ["y"]}]}, {"object"}),
        # a member of unknown type: known readings first, else a string
        ({"anyOf": [{"type": "integer"}, {}]}, {"integer", "string"}),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/gone"}]}, {"null", "string"}),
        ({"anyOf": [{"type": "integer"}, {}], "type": "integer"}, {"integer"}),
        ({"type": ["integer", "weird"]}, {"integer", "string"}),
        ({"anyOf": [{"type": "string"}, False]}, {"string"}),
    ],
)
def test_types(node: Any, expected: set[str]) -> None:
    assert types(node) == expected


@pytest.mark.parametrize(
    "node",
    [
        {},
        True,
        False,
        None,
        3,
        "string",
        [],
        ["string"],
        {"description": "x"},
        {"type": None},
        {"type": "weird"},
        {"type": 5},
        {"type": {}},
        {"type": []},
        {"anyOf": []},
        {"anyOf": {}},
        {"anyOf": [{}, True]},
        {"enum": []},
        {"enum": {"a": 1}},
        {"$ref": 7},
        {"$ref": ""},
        {"$ref": "other.json#/x"},
        {"$ref": "#name"},
        {"$ref": "#/$defs/gone"},
        {"type": "string", "allOf": [{"type": "integer"}]},
        {"$ref": "#/properties/a"},
        {"$ref": "#/properties/\ud800/%ff~"},
        {"allOf": [{"$ref": "#/properties/a"}]},
    ],
)
def test_unknown(node: Any) -> None:
    assert types(node) == set()


def test_references() -> None:
    defs = {
        "X": {"type": "integer"},
        "a/b": {"type": "boolean"},
        "a~b": {"type": "array"},
        "with space": {"type": "null"},
        "via": {"$ref": "#/$defs/X"},
        "list": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    }
    for pointer, expected in {
        "X": {"integer"},
        "a~1b": {"boolean"},
        "a~0b": {"array"},
        "with%20space": {"null"},
        "via": {"integer"},
        "list/anyOf/0": {"object"},
        "list/anyOf/2": set(),
        "list/anyOf/x": set(),
        "X/type": set(),
    }.items():
        assert types({"$ref": f"#/$defs/{pointer}"}, **{"$defs": defs}) == expected
        assert types({"$ref": f"#/definitions/{pointer}"}, definitions=defs) == (
            set() if pointer == "via" else expected
        )
    assert types({"$ref": "#/$defs/X", "nullable": True}, **{"$defs": defs}) == {"integer", "null"}


def test_reference_cycles() -> None:
    defs = {
        "A": {"$ref": "#/$defs/B"},
        "B": {"$ref": "#/$defs/A"},
        "C": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "integer"}]},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
    }
    assert types({"$ref": "#/$defs/A"}, **{"$defs": defs}) == set()
    assert types({"$ref": "#/$defs/C"}, **{"$defs": defs}) == {"integer", "string"}
    assert types({"$ref": "#/$defs/Node"}, **{"$defs": defs}) == {"object"}
    assert types({"$ref": "#"}) == {"object"}


def test_references_that_fan_out_are_bounded() -> None:
    defs: dict[str, Any] = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(60)}
    defs["d60"] = {"type": "integer"}
    types({"$ref": "#/$defs/d0"}, **{"$defs": defs})
    ToolSchema({"$defs": defs, "$ref": "#/$defs/d0"}).types("a")


def test_deep_schemas() -> None:
    node: dict[str, Any] = {"type": "integer"}
    for _ in range(50_000):
        node = {"anyOf": [node]}
    assert types(node) == set()
    assert ToolSchema(node).types("a") == frozenset()
    while "anyOf" in node:  # the interpreter frees it recursively otherwise
        node = node["anyOf"].pop()


def test_properties_of_combinators() -> None:
    schema = ToolSchema(
        {
            "$ref": "#/$defs/base",
            "allOf": [{"properties": {"b": {"type": "string"}}}, {"properties": {"a": {"type": "integer"}}}],
            "anyOf": [
                {"properties": {"c": {"type": "integer"}}},
                {"properties": {"c": {"type": "null"}, "d": {"type": "null"}}},
                {"required": ["c"]},
            ],
            "$defs": {"base": {"properties": {"a": {"type": ["integer", "string"]}, "e": {}}}},
        }
    )
    assert schema.declared == frozenset("abcde")
    assert schema.types("a") == {"integer"}
    assert schema.types("b") == {"string"}
    assert schema.types("c") == {"integer", "null"}
    assert schema.types("d") == {"null"}
    assert schema.types("e") == frozenset()
    assert schema.declares("e")
    assert not schema.declares("f")


def test_declared() -> None:
    assert ToolSchema({"type": "object"}).declared is None
    assert ToolSchema({"type": "object", "properties": {}}).declared == frozenset()
    assert ToolSchema(None).declared is None
    assert ToolSchema({"properties": {"a": {}, 3: {}}}).declared == frozenset("a")
    assert not ToolSchema(None).declares("a")
    assert ToolSchema({"properties": {"a": {"type": "null"}}}).types("b") == frozenset()


def test_made_up_keys_are_not_kept() -> None:
    schema = ToolSchema({"properties": {"a": {"type": "integer"}}})
    for i in range(100):
        schema.types(f"x{i}")
    assert schema.types("a") is schema.types("a")
    assert len(schema._cache) == 1


WORDS = st.sampled_from(
    [
        "type",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "properties",
        "enum",
        "const",
        "nullable",
        "items",
        "a",
        "#/$defs/a",
        "$defs",
        "integer",
        "string",
        "null",
        "#",
        "#/properties/a",
        "",
    ]
)
GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)


@given(GARBAGE)
def test_garbage_never_raises(parameters: Any) -> None:
    schema = ToolSchema(parameters)
    for key in ["a", "type", "", "$ref", *(schema.declared or ())]:
        assert schema.types(key) <= ALL


@given(GARBAGE)
def test_garbage_as_argument(node: Any) -> None:
    assert types(node) <= ALL


NESTED = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "maps": {"type": "object", "additionalProperties": {"type": "number"}},
        "either": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "both": {"oneOf": [{"properties": {"x": {"type": "string"}}}, {"properties": {"x": {"type": "integer"}}}]},
    },
    "$defs": {"line": {"type": "object", "properties": {"qty": {"type": "integer"}, "next": {"$ref": "#/$defs/line"}}}},
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["items"], {"array"}),
        (["items", None], {"object"}),
        (["items", None, "qty"], {"integer"}),
        (["items", None, "next", "next", "qty"], {"integer"}),
        (["items", None, "zzz"], set()),
        (["items", "qty"], set()),
        (["maps", "any"], {"number"}),
        (["either", None], {"integer"}),
        (["both", "x"], {"string", "integer"}),
        (["zzz", None, "zzz"], set()),
    ],
)
def test_below(path: list[str | None], expected: set[str]) -> None:
    schema = ToolSchema(NESTED)
    for _ in range(2):  # the second time from its memory
        node = schema
        for step in path:
            node = node.below(step)
        assert node.own_types == expected
