"""What a value looks like to XGrammar, by its schema: JSON, or raw text between a template's delimiters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .schema import ToolSchema
from .spec import Tagged
from .tag_formats import Format, any_text, choice, const

__all__ = ["MAX_BLANKS", "json_value", "object_schema", "raw_value"]

MAX_BLANKS = 2  # between two tokens of JSON, so that a small model cannot spin in them


def json_value(schema: Mapping[str, Any]) -> Format:
    """A JSON value of the schema."""
    return {"type": "json_schema", "json_schema": _printable(schema), "max_whitespace_cnt": MAX_BLANKS}


def object_schema(parameters: object) -> dict[str, Any]:
    """The schema of a tool's arguments; they are always an object."""
    if not isinstance(parameters, Mapping) or not parameters:
        return {"type": "object"}
    schema = dict(parameters)
    schema.setdefault("type", "object")
    return schema


def raw_value(payload: Tagged, key: str, schema: dict[str, Any]) -> Format:
    """The value of one argument: raw text for what may be a string, JSON for the rest."""
    declared = schema["properties"][key]
    types = ToolSchema(schema).types(key)
    choices = _choices(declared)
    if choices:
        return choice([const(each if isinstance(each, str) else json.dumps(each)) for each in choices])
    if types and "string" not in types:
        return json_value({**_definitions(schema), **declared})
    content = any_text(_markup(payload))
    if isinstance(declared, Mapping) and isinstance(declared.get("maxLength"), int):
        content["max_chars"] = declared["maxLength"]
    return content


def _markup(payload: Tagged) -> list[str]:
    """The literals that could end a value; it holds none of them."""
    opener, closer = payload.argument.partition("{key}")[0], payload.argument.partition("{value}")[2]
    head = payload.head.partition("{name}")[0]
    return [text.strip() for text in (opener, closer, head, *payload.around)]


def _choices(declared: object) -> list[Any]:
    if not isinstance(declared, Mapping):
        return []
    if "const" in declared:
        return [declared["const"]]
    values = declared.get("enum")
    return list(values) if isinstance(values, list) else []


def _definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a ``$ref`` inside an argument's schema may point to."""
    return {key: schema[key] for key in ("$defs", "definitions") if key in schema}


def _printable(schema: Any) -> Any:
    """Lengths of strings as patterns: where one is set, XGrammar lets raw control characters into a JSON string."""
    if isinstance(schema, list):
        return [_printable(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    copy = {key: _printable(value) for key, value in schema.items()}
    least, most = copy.get("minLength", 0), copy.get("maxLength", "")
    sized = type(least) is int and (type(most) is int or (most == "" and least > 0))
    if copy.get("type") == "string" and sized and not copy.keys() & {"enum", "const", "pattern", "format"}:
        copy["pattern"] = f'^[^"\\\\\\x00-\\x1f]{{{least},{most}}}$'
        copy.pop("minLength", None)
        copy.pop("maxLength", None)
    return copy
