"""What one call looks like to XGrammar: the payload's own template, filled with a tool's name and its schema.

One function a payload grammar, `FORMATS` says which. A block is one call, or a list of calls where its payload is
a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from .errors import ConfigurationError
from .head import is_name
from .schema import ToolSchema
from .spec import CallBlock, CallSyntax, Elements, Envelope, FirstChar, Grammar, Named, Tagged
from .syntax_grammar import arguments_grammar
from .tag_elements import members
from .tag_formats import Format, Part, const, fill, optional, regex, separated, sequence, tag
from .tag_values import json_value, raw_value

__all__ = ["block_calls"]

_DIGITS = regex("[0-9]{1,4}")

Functions = Mapping[str, dict[str, Any]]  # name -> schema of the arguments


def block_calls(block: CallBlock, functions: Functions, opener: str, closer: str, *, single: bool) -> list[Format]:
    """The tags of one block between ``opener`` and ``closer``: one a function, or one for the list of them all."""
    payload = block.payload.other if isinstance(block.payload, FirstChar) else block.payload
    begin, end = opener + block.pad[0], block.pad[1] + (block.close[0] if block.close else "") + closer
    calls = [_call(payload, block, name, schema) for name, schema in functions.items()]
    wrap, between = _list_of(payload)
    if not between:
        return [tag([begin, *call, end]) for call in calls]
    return [tag([begin, wrap[0], separated([tag(call) for call in calls], between, single), wrap[1], end])]


def _list_of(payload: Grammar) -> tuple[tuple[str, str], str]:
    """The brackets around the calls of a block and what stands between them; nothing where a block is one call."""
    if isinstance(payload, CallSyntax):
        return payload.wrap, payload.between
    if isinstance(payload, Envelope) and payload.shape == "array":
        return ("[", "]"), ", "
    return ("", ""), ""


def _call(payload: Grammar, block: CallBlock, name: str, schema: dict[str, Any]) -> list[Part]:
    if not is_name(name):
        raise ConfigurationError(
            f"tool {name!r}: no dialect can write this name; a name is up to 256 letters, digits and . - : / @ $ + _"
        )
    return FORMATS[type(payload)](payload, block, name, schema)


def _envelope(payload: Envelope, block: CallBlock, name: str, schema: dict[str, Any]) -> list[Part]:
    slots: dict[str, Part] = {"name": json.dumps(name, ensure_ascii=False)[1:-1], "arguments": json_value(schema)}
    return fill(payload.canonical, slots)


def _named(payload: Named, block: CallBlock, name: str, schema: dict[str, Any]) -> list[Part]:
    head = payload.head
    for literal in payload.optional[:-1]:  # the last one always stands, others are left out with what they announce
        head = re.sub(re.escape(literal) + r"\{id\}", "", head).replace(literal, "")
    head = head.replace("{id}", block.ids)
    return [*fill(head, {"name": name, "index": _DIGITS}), json_value(schema)]


def _tagged(payload: Tagged, block: CallBlock, name: str, schema: dict[str, Any]) -> list[Part]:
    """Arguments between the template's own delimiters, in the schema's order; optional ones may be left out.

    XGrammar's style of the same spelling is used only where the schema declares no arguments: it allows any blanks
    around a value, and blanks inside the delimiters are part of a string.
    """
    parts: list[Part] = fill(payload.head, {"name": name, "index": _DIGITS})
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        required = schema.get("required") or ()
        for key in properties:
            slots: dict[str, Part] = {"key": _written_key(payload, key), "value": raw_value(payload, key, schema)}
            if payload.words:
                slots["type"] = _type_word(payload, ToolSchema(schema).types(key))
            argument = fill(payload.argument, slots)
            if key in required:
                parts += argument
            else:
                parts.append(optional(tag(argument)))
    elif payload.style:
        style: Format = {"type": "json_schema", "json_schema": schema, "style": payload.style}
        parts.append({"type": "or", "elements": [const(""), sequence([style, "\n"])]})
    return [*parts, payload.tail]


def _written_key(payload: Tagged, key: str) -> str:
    return key.replace("&", "&amp;").replace('"', "&quot;") if payload.entities else key


def _type_word(payload: Tagged, types: frozenset[str]) -> str:
    """What {type} says of a value of these types: text where it may be a string."""
    words = dict(payload.words)
    if not types or "string" in types:
        return words["string"]
    return next((word for kind, word in payload.words if kind in types), words.get("", words["string"]))


def _elements(payload: Elements, block: CallBlock, name: str, schema: dict[str, Any]) -> list[Part]:
    head = fill(payload.space + payload.head, {"name": name})
    return [*head, members(payload, schema), payload.space + payload.tail]


def _call_syntax(payload: CallSyntax, block: CallBlock, name: str, schema: dict[str, Any]) -> list[Part]:
    grammar: Format = {"type": "grammar", "grammar": arguments_grammar(name, schema, payload)}
    return [*fill(payload.head, {"name": name}), grammar, payload.tail]


FORMATS: dict[type[Any], Callable[..., list[Part]]] = {
    Envelope: _envelope,
    Named: _named,
    Tagged: _tagged,
    Elements: _elements,
    CallSyntax: _call_syntax,
}
