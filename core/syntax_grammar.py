"""A grammar (XGrammar's EBNF) for the arguments of a call in call syntax, ``a=1, b="x"``.

XGrammar has no style for Python literals, so the rules are written here: the arguments of a tool in the schema's
order, required ones always there, and one for each type. What a schema says beyond types, enums, the items and
size of arrays and string lengths is not enforced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .errors import ConfigurationError
from .spec import CallSyntax

_LITERALS = {
    "string": 'string ::= "\\"" character* "\\""',
    "character": 'character ::= [^"\\\\\\n\\r] | "\\\\" ["\\\\nrt\']',
    "integer": 'integer ::= "-"? ("0" | [1-9] [0-9]{0,15})',
    "number": 'number ::= integer ("." [0-9]{1,16})? ([eE] [+-]? [0-9]{1,2})?',
    "boolean": 'boolean ::= "True" | "False"',
    "null": 'null ::= "None"',
    "array": 'array ::= "[" (value (", " value)*)? "]"',
    "object": 'object ::= "{" (string ": " value (", " string ": " value)*)? "}"',
    "value": "value ::= string | number | boolean | null | array | object",
}


def arguments_grammar(name: str, schema: Mapping[str, Any], syntax: CallSyntax) -> str:
    """The grammar of a tool's arguments, without what is around them. Raises ConfigurationError for a tool whose
    schema cannot be written as keyword arguments."""
    writer = _Writer(syntax)
    root = writer.call(name, schema)
    return "\n".join([f"root ::= {root}", *writer.rules, *_LITERALS.values()]) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class _Writer:
    """Collects the rules of all tools."""

    def __init__(self, syntax: CallSyntax) -> None:
        self._syntax = syntax
        self.rules: list[str] = []

    def _rule(self, body: str) -> str:
        name = f"r{len(self.rules)}"
        self.rules.append(f"{name} ::= {body}")
        return name

    def call(self, name: str, schema: Mapping[str, Any]) -> str:
        """What stands between the brackets of a call."""
        properties = schema.get("properties")
        pairs: list[tuple[str, bool]] = []
        required = set(schema.get("required") or ())
        for key, value in (properties if isinstance(properties, Mapping) else {}).items():
            if not str(key).isidentifier():
                if key in required:
                    raise ConfigurationError(
                        f"tool {name!r}: required argument {key!r} cannot be written as a keyword argument"
                    )
                continue
            rule = self._value(value, schema, 0)
            pairs.append((f"{_quote(key + self._syntax.assign)} {rule}", key in required))
        return self._arguments(pairs)

    def _arguments(self, pairs: list[tuple[str, bool]]) -> str:
        """Arguments in order: rules for what may follow before (``first``) and after (``rest``) any was written."""
        first = rest = '""'
        separator = _quote(self._syntax.between)
        for pair, required in reversed(pairs):
            more = f"{separator} {pair} {rest}"
            begin = f"{pair} {rest}"
            rest, first = (
                self._rule(more if required else f"{more} | {rest}"),
                self._rule(begin if required else f"{begin} | {first}"),
            )
        return first

    def _value(self, schema: Any, root: Mapping[str, Any], depth: int) -> str:
        """The rule of a value of this schema; ``value`` where the schema says nothing that can be used."""
        if not isinstance(schema, Mapping) or depth > 8:
            return "value"
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            return self._rule(" | ".join(_quote(_literal(value)) for value in values)) if values else "value"
        for union in ("anyOf", "oneOf"):
            if isinstance(schema.get(union), list) and schema[union]:
                return self._rule(" | ".join(self._value(member, root, depth + 1) for member in schema[union]))
        kinds = schema.get("type")
        if isinstance(kinds, list) and kinds:
            return self._rule(" | ".join(self._value({**schema, "type": kind}, root, depth + 1) for kind in kinds))
        if kinds == "array" and "items" in schema:
            item = self._value(schema["items"], root, depth + 1)
            return self._rule(f'"[" {_repeated(item, schema.get("minItems"), schema.get("maxItems"))} "]"')
        if kinds == "object" and isinstance(schema.get("properties"), Mapping) and schema["properties"]:
            required = set(schema.get("required") or ())
            pairs = [
                (f"{_quote(json.dumps(str(key), ensure_ascii=False) + ': ')} {self._value(value, root, depth + 1)}",
                 key in required)
                for key, value in schema["properties"].items()
            ]
            return self._rule(f'"{{" {self._arguments(pairs)} "}}"')
        if kinds == "string" and isinstance(schema.get("maxLength"), int):
            return self._rule(f'"\\"" character{{{int(schema.get("minLength") or 0)},{schema["maxLength"]}}} "\\""')
        return kinds if isinstance(kinds, str) and kinds in _LITERALS else "value"


def _repeated(item: str, least: object, most: object) -> str:
    """Items of an array, as many as the schema wants."""
    low = least if isinstance(least, int) else 0
    if isinstance(most, int) and most <= 0:
        return '""'
    high = most - 1 if isinstance(most, int) else ""
    items = f'{item} (", " {item}){{{max(low - 1, 0)},{high}}}'
    return f"({items})?" if low <= 0 else items


def _literal(value: Any) -> str:
    """A JSON value as a Python literal whose strings are double-quoted."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(str(key))}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
