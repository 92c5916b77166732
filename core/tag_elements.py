"""What a tree of elements looks like to XGrammar: an element for each key and item, down to scalars.

XGrammar's own style of this spelling refuses the lengths and patterns of strings, so the tree is put together here.
What a tree cannot say (an object or array of any members, a reference too deep) is written as JSON inside its element,
which the parser reads as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .schema import ToolSchema
from .spec import Elements
from .tag_formats import Format, Part, choice, const, optional, sequence
from .tag_schema import Arguments
from .tag_values import json_value, rare, string_text, union_members
from .values import convert

__all__ = ["members"]

_DEPTH = 8  # levels of elements; references may have no end


def members(payload: Elements, arguments: Arguments) -> Format:
    """The elements of a tool's arguments, in the schema's order; optional ones may be left out."""
    trees = _Trees(payload, arguments)
    schemas = arguments.schema.get("anyOf", (arguments.schema,))
    return choice([trees.object(schema, arguments.read, "", 0) for schema in schemas])


class _Trees:
    def __init__(self, payload: Elements, arguments: Arguments) -> None:
        self._payload = payload
        self._arguments = arguments

    def object(self, schema: Mapping[str, Any], read: ToolSchema, place: str, depth: int) -> Format:
        """The members of an object."""
        parts: list[Part] = []
        for key, value in schema.get("properties", {}).items():
            needed = key in schema["required"]
            if not _is_tag(key):
                if needed:
                    raise self._arguments.wrong(f"{place}/{key}", "this name cannot be an element's")
                self._arguments.narrow(f"{place}/{key}", "left out, its name cannot be an element's")
                continue
            element = self._element(key, value, read.below(key), f"{place}/{key}", depth)
            parts.append(element if needed else optional(element))
        return sequence(parts)

    def _element(self, name: str, schema: dict[str, Any], read: ToolSchema, place: str, depth: int) -> Format:
        space = self._payload.space
        return sequence([f"{space}<{name}>", self._value(schema, read, place, depth), f"{space}</{name}>"])

    def _value(self, schema: dict[str, Any], read: ToolSchema, place: str, depth: int) -> Format:
        found: list[Format] = []
        alternatives = union_members(self._arguments, schema)
        for member in alternatives:
            others = [each for each in alternatives if each is not member]
            found += self._member(member, others, read, place, depth)
        return choice(found) if found else const("")

    def _member(
        self, member: dict[str, Any], others: list[dict[str, Any]], read: ToolSchema, place: str, depth: int
    ) -> list[Format]:
        space, types = self._payload.space, read.own_types
        if "enum" in member:
            texts = [(value, value if isinstance(value, str) else json.dumps(value)) for value in member["enum"]]
            return [const(text) for value, text in texts if json.loads(convert(text, types)[0]) == value]
        kind = member.get("type")
        if kind == "string" or not member:
            return [string_text(self._arguments, place, member, others, [space], rare([space]))]
        if depth < _DEPTH and types == {"object"} and member.get("properties"):
            return [self.object(member, read, place, depth + 1)]
        items = member.get("items")
        if depth < _DEPTH and types == {"array"} and isinstance(items, dict) and "prefixItems" not in member:
            item = self._element(self._payload.item, items, read.below(None), place, depth + 1)
            least, most = member.get("minItems", 0), member.get("maxItems", -1)
            return [{"type": "repeat", "min": least, "max": most, "content": item}]
        return [json_value(self._arguments, member, place, [space])]


def _is_tag(key: str) -> bool:
    return bool(key) and not any(char in key for char in "<>/\"' \t\r\n")
