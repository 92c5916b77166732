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
from .tag_formats import Format, Part, any_text, choice, const, optional, sequence, tag
from .tag_values import json_value

__all__ = ["members"]

_DEPTH = 8  # levels of elements; references may have no end


def members(payload: Elements, schema: Mapping[str, Any]) -> Format:
    """The elements of a tool's arguments, in the schema's order; optional ones may be left out."""
    return _Trees(payload, schema).object(schema, ToolSchema(schema), 0)


class _Trees:
    def __init__(self, payload: Elements, root: Mapping[str, Any]) -> None:
        self._payload = payload
        self._definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}

    def object(self, schema: Mapping[str, Any], read: ToolSchema, depth: int) -> Format:
        """The members of an object."""
        required = schema.get("required") or ()
        parts: list[Part] = []
        for key, value in (schema.get("properties") or {}).items():
            element = self._element(str(key), value, read.below(str(key)), depth)
            parts.append(element if key in required else optional(element))
        return sequence(parts)

    def _element(self, name: str, schema: Any, read: ToolSchema, depth: int) -> Format:
        space = self._payload.space
        return tag([f"{space}<{name}>", self._value(schema, read, depth), f"{space}</{name}>"])

    def _value(self, schema: Any, read: ToolSchema, depth: int) -> Format:
        types = read.own_types
        known = schema if isinstance(schema, Mapping) else {}
        choices = known["enum"] if isinstance(known.get("enum"), list) else [known["const"]] if "const" in known else []
        if choices:
            return choice([const(each if isinstance(each, str) else json.dumps(each)) for each in choices])
        if not types or "string" in types:
            content = any_text([self._payload.space])
            if isinstance(known.get("maxLength"), int):
                content["max_chars"] = known["maxLength"]
            return content
        if depth < _DEPTH and types == {"object"} and known.get("properties"):
            return self.object(known, read, depth + 1)
        least, most = known.get("minItems", 0), known.get("maxItems", -1)
        if depth < _DEPTH and types == {"array"} and isinstance(known.get("items"), Mapping) and type(least) is int:
            item = self._element(self._payload.item, known["items"], read.below(None), depth + 1)
            return {"type": "repeat", "min": least, "max": most if type(most) is int else -1, "content": item}
        return json_value({**self._definitions, **known})
