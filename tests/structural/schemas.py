"""The schemas that closure is shown for, and the tools that carry them.

`EXACT` are enforced to the letter in every dialect, but for what `LOOSER` names; calls must validate against them.
`LOOSENED` hold something that no grammar says: the tag is the closest one that compiles, and calls are objects.
"""

from __future__ import annotations

from typing import Any


def _object(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


_STRING = {"type": "string", "maxLength": 12}
_INTEGER = {"type": "integer"}

EXACT: dict[str, dict[str, Any]] = {
    "nothing": {"type": "object", "properties": {}},
    "no schema": {},
    "free object": {"type": "object"},
    "closed": {"type": "object", "properties": {}, "additionalProperties": False},
    "string": _object({"s": {"type": "string"}}, "s"),
    "optional string": _object({"s": {"type": "string"}}),
    "two optional": _object({"a": _INTEGER, "b": {"type": "boolean"}}),
    "optional before required": _object({"a": _INTEGER, "b": _INTEGER, "c": {"type": "null"}}, "b"),
    "scalars": _object({"s": _STRING, "i": _INTEGER, "n": {"type": "number"}, "b": {"type": "boolean"}}, "s", "i", "n"),
    "lengths": _object({"a": {"type": "string", "minLength": 2}, "b": {"type": "string", "minLength": 1,
                                                                       "maxLength": 3}}, "a", "b"),
    "empty string only": _object({"s": {"type": "string", "maxLength": 0}}, "s"),
    "pattern": _object({"s": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,3}$"}}, "s"),
    "open pattern": _object({"s": {"type": "string", "pattern": "[0-9A-Z]|^y"}}, "s"),
    "any but": _object({"s": {"type": "string", "pattern": "^[^@ ]{1,5}@.{1,5}$"}}, "s"),
    "formats": _object({name: {"type": "string", "format": name} for name in
                        ("date", "time", "date-time", "email", "uuid", "ipv4", "hostname")}, "date", "uuid"),
    "integer limits": _object({"a": {"type": "integer", "minimum": 3, "maximum": 117},
                               "b": {"type": "integer", "exclusiveMinimum": -12, "maximum": 5},
                               "c": {"type": "integer", "minimum": 1000}}, "a", "b", "c"),
    "number limits": _object({"a": {"type": "number", "minimum": 0, "maximum": 1},
                              "b": {"type": "number", "exclusiveMinimum": -3.5, "exclusiveMaximum": 20}}, "a", "b"),
    "enum": _object({"e": {"enum": ["a", "b c", "<d>", 'q"e', "né"]}, "n": {"enum": [1, 2.5, None, True]}}, "e", "n"),
    "mixed enum": _object({"e": {"enum": ["a", 1, None, False, ["x"], {"k": 1}]}}, "e"),
    "const": _object({"c": {"const": "fix ed"}, "d": {"const": 7}}, "c", "d"),
    "typed enum": _object({"e": {"type": "string", "enum": ["on", "off", "7"]}}, "e"),
    "array": _object({"a": {"type": "array", "items": _INTEGER}}, "a"),
    "array without items": _object({"a": {"type": "array"}}, "a"),
    "sized array": _object({"a": {"type": "array", "items": _STRING, "minItems": 2, "maxItems": 3}}, "a"),
    "empty array only": _object({"a": {"type": "array", "items": _INTEGER, "maxItems": 0}}, "a"),
    "tuple": _object({"a": {"type": "array", "prefixItems": [_INTEGER, {"type": "boolean"}], "items": False}}, "a"),
    "open tuple": _object({"a": {"type": "array", "prefixItems": [_INTEGER], "items": {"type": "null"}}}, "a"),
    "deep array": _object({"a": {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {
        "type": "array", "items": {"type": "boolean"}}}}}}, "a"),
    "array of objects": _object({"a": {"type": "array", "maxItems": 2, "items": _object(
        {"sku": _STRING, "qty": _INTEGER}, "sku")}}, "a"),
    "nested": _object({"o": _object({"p": _object({"q": _STRING, "r": _INTEGER}, "q")}, "p"), "z": _INTEGER}, "o"),
    "empty object inside": _object({"o": {"type": "object", "properties": {}}}, "o"),
    "free object inside": _object({"o": {"type": "object"}}, "o"),
    "map": _object({"m": {"type": "object", "additionalProperties": _INTEGER}}, "m"),
    "map of objects": _object({"m": {"type": "object", "additionalProperties": _object({"k": _INTEGER}, "k")}}),
    "more keys": {**_object({"a": _INTEGER}, "a"), "additionalProperties": True},
    "nullable": _object({"s": {"type": ["string", "null"]}, "i": {"type": ["integer", "null"]}}, "s", "i"),
    "union": _object({"u": {"anyOf": [_INTEGER, {"type": "string"}]}, "v": {"anyOf": [{"type": "boolean"},
                     {"type": "array", "items": _INTEGER}]}}, "u", "v"),
    "union with limits": _object({"u": {"anyOf": [{"type": "integer", "minimum": 5}, _STRING]}}, "u"),
    "union of string and array": _object({"u": {"anyOf": [{"type": "string"}, {"type": "array", "items": _STRING}]}},
                                         "u"),
    "one of": _object({"u": {"oneOf": [_INTEGER, {"type": "null"}, {"type": "array", "items": {}}]}}, "u"),
    "tagged union": _object({"u": {"oneOf": [
        _object({"kind": {"const": "a"}, "x": _INTEGER}, "kind", "x"),
        _object({"kind": {"const": "b"}, "y": _STRING}, "kind"),
    ]}}, "u"),
    "all of": _object({"o": {"allOf": [_object({"x": _INTEGER}, "x"), _object({"y": {"type": "boolean"}}, "y")]}}, "o"),
    "contradicting member": _object({"u": {"type": "object", "properties": {"k": _INTEGER}, "required": ["k"],
                                           "anyOf": [{"type": "array"}, {"properties": {"m": _INTEGER}}]}}, "u"),
    "keywords beside anyOf": {**_object({"a": _INTEGER, "b": _INTEGER}),
                              "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "reference": {**_object({"p": {"$ref": "#/$defs/point"}, "q": {"$ref": "#/$defs/point"}}, "p"),
                  "$defs": {"point": _object({"x": _INTEGER, "y": _INTEGER}, "x", "y")}},
    "reference to a property": _object({"a": _INTEGER, "b": {"$ref": "#/properties/a"}}, "b"),
    "root reference": {"$ref": "#/$defs/root", "$defs": {"root": _object({"n": _INTEGER}, "n")}},
    "recursive": {**_object({"t": {"$ref": "#/$defs/tree"}}, "t"),
                  "$defs": {"tree": _object({"v": _INTEGER, "kids": {
                      "type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/tree"}}}, "v")}},
    "untyped": _object({"x": {}, "y": {"description": "anything"}}, "x"),
    "untyped object": {"properties": {"a": {"properties": {"b": _INTEGER}}}, "required": ["a"]},
    "spelled types": _object({"s": {"type": "string"}, "i": {"type": "integer"}, "o": {"type": "object"}}, "i", "o"),
    "unicode keys": _object({"größe": _INTEGER, "名前": _STRING, "ключ": {"type": "boolean"}}, "größe", "名前"),
    "required but not declared": {"type": "object", "properties": {"a": _INTEGER}, "required": ["b"]},
    "false property": _object({"a": _INTEGER, "b": False}, "a"),
    "large": _object({f"field_{n}": ({"type": "string", "maxLength": 8}, _INTEGER, {"type": "boolean"},
                                     {"type": "array", "items": _INTEGER, "maxItems": 2})[n % 4] for n in range(40)},
                     "field_0", "field_7", "field_39"),
}  # fmt: skip

LOOSENED: dict[str, dict[str, Any]] = {
    "not": _object({"a": {"not": {"type": "string"}}}, "a"),
    "unique items": _object({"a": {"type": "array", "items": _INTEGER, "uniqueItems": True}}, "a"),
    "if then": {**_object({"a": _INTEGER, "b": _INTEGER}), "if": {"required": ["a"]}, "then": {"required": ["b"]}},
    "dependent": {**_object({"a": _INTEGER, "b": _INTEGER}), "dependentRequired": {"a": ["b"]}},
    "look-ahead": _object({"s": {"type": "string", "pattern": "^(?!x).*$"}}, "s"),
    "overlapping one of": _object({"n": {"oneOf": [_INTEGER, {"type": "number"}]}}, "n"),
    "multiple of": _object({"n": {"type": "number", "multipleOf": 0.5}}, "n"),
    "pattern properties": {"type": "object", "patternProperties": {"^x": _INTEGER}, "additionalProperties": False},
    "another document": _object({"r": {"$ref": "https://example.org/schema.json"}}, "r"),
}

ALL = {**EXACT, **LOOSENED}


def tools_for(schema: str) -> list[dict[str, Any]]:
    """Three tools: the one with the schema, one without arguments, one with two plain strings."""
    parameters = {
        "book": ALL[schema],
        "ping": {"type": "object", "properties": {}},
        "note.add-2": _object({"text": {"type": "string"}, "tag": _STRING}, "text"),
    }
    return [{"type": "function", "function": {"name": name, "parameters": p}} for name, p in parameters.items()]


def choices() -> dict[str, Any]:
    """The five tool choices."""
    allowed = [{"type": "function", "function": {"name": name}} for name in ("book", "ping")]
    return {
        "required": "required",
        "named": {"type": "function", "function": {"name": "book"}},
        "allowed-required": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": allowed}},
        "allowed-auto": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": allowed}},
        "auto": "auto",
    }
