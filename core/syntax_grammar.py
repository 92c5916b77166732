"""A grammar (XGrammar's EBNF) for the arguments of a call in call syntax, ``a=1, b="x"``.

XGrammar has no style for Python literals, so the rules are written here: the arguments of a tool in the schema's
order, required ones always there, and one rule for each value. A definition is a rule of its own, so a schema may
refer to itself. Not enforced: ``multipleOf``, and how many members an object of free keys has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import ceil, floor
from typing import Any

from .number_ranges import integers, numbers
from .spec import CallSyntax
from .tag_patterns import FORMATS, as_rule
from .tag_schema import Arguments

_IN_STRING = '"\\'
_LITERALS = {
    "string": 'string ::= "\\"" character* "\\""',
    "character": 'character ::= [^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\nrt\']',
    "integer": 'integer ::= "-"? ("0" | [1-9] [0-9]{0,15})',
    "number": 'number ::= integer ("." [0-9]{1,16})? ([eE] [+-]? [0-9]{1,2})?',
    "boolean": 'boolean ::= "True" | "False"',
    "null": 'null ::= "None"',
    "array": 'array ::= "[" (value (", " value)*)? "]"',
    "object": 'object ::= "{" (string ": " value (", " string ": " value)*)? "}"',
    "value": "value ::= string | number | boolean | null | array | object",
}


def arguments_grammar(arguments: Arguments, syntax: CallSyntax) -> str:
    """The grammar of a tool's arguments, without what is around them. Raises ConfigurationError for a tool whose
    schema cannot be written as keyword arguments."""
    writer = _Writer(arguments, syntax)
    root = " | ".join(writer.call(member) for member in arguments.schema.get("anyOf", (arguments.schema,)))
    return "\n".join([f"root ::= {root}", *writer.rules, *_LITERALS.values()]) + "\n"


def _quote(text: str) -> str:
    """A literal of the grammar."""
    return json.dumps(text, ensure_ascii=False)


class _Writer:
    """Collects the rules of one tool."""

    def __init__(self, arguments: Arguments, syntax: CallSyntax) -> None:
        self._arguments = arguments
        self._syntax = syntax
        self.rules: list[str] = []
        self._defined: dict[str, str] = {}  # reference -> name of its rule

    def _rule(self, body: str) -> str:
        name = f"r{len(self.rules)}"
        self.rules.append(f"{name} ::= {body}")
        return name

    def call(self, schema: Mapping[str, Any]) -> str:
        """What stands between the brackets of a call."""
        pairs: list[tuple[str, bool]] = []
        for key, value in schema.get("properties", {}).items():
            needed = key in schema["required"]
            if key.isidentifier():
                pairs.append((f"{_quote(key + self._syntax.assign)} {self._value(value, '/' + key)}", needed))
            elif needed:
                raise self._arguments.wrong(f"/properties/{key}", "this name cannot be a keyword argument's")
            else:
                self._arguments.narrow(f"/properties/{key}", "left out, its name cannot be a keyword argument's")
        return self._pairs(pairs)

    def _pairs(self, pairs: list[tuple[str, bool]]) -> str:
        """Pairs in order: rules for what may follow before (``first``) and after (``rest``) any was written."""
        first = rest = '""'
        separator = _quote(self._syntax.between)
        for pair, needed in reversed(pairs):
            more = f"{separator} {pair} {rest}"
            begin = f"{pair} {rest}"
            rest, first = (
                self._rule(more if needed else f"{more} | {rest}"),
                self._rule(begin if needed else f"{begin} | {first}"),
            )
        return first

    # -- values ---------------------------------------------------------------------------------------------

    def _value(self, schema: Mapping[str, Any], place: str) -> str:
        """The name of the rule of a value."""
        if "$ref" in schema:
            return self._reference(schema["$ref"])
        if "enum" in schema:
            return self._any(_quote(_literal(value)) for value in schema["enum"])
        if "anyOf" in schema:
            return self._any(self._value(member, place) for member in schema["anyOf"])
        kind = schema.get("type", "value")
        write: Callable[[Mapping[str, Any], str], str] | None = {
            "string": self._string,
            "integer": self._number,
            "number": self._number,
            "array": self._array,
            "object": self._object,
        }.get(kind)
        return str(kind) if write is None else write(schema, place)

    def _any(self, bodies: Iterable[str]) -> str:
        return self._rule(" | ".join(dict.fromkeys(bodies)))

    def _reference(self, reference: str) -> str:
        name = self._defined.get(reference)
        if name is None:
            name = self._defined[reference] = f"d{len(self._defined)}"
            body = self._value(self._arguments.definition(reference), reference)
            self.rules.append(f"{name} ::= {body}")
        return name

    def _string(self, schema: Mapping[str, Any], place: str) -> str:
        pattern = schema.get("pattern") or FORMATS.get(schema.get("format", ""))
        if pattern is not None:
            body = as_rule(pattern, _IN_STRING)
            if body is not None:
                return self._rule(f'"\\"" {body} "\\""')
            self._arguments.loosen(place, f"pattern {pattern!r} inside a string")
        elif "format" in schema:
            self._arguments.loosen(place, f"format {schema['format']!r}")
        if not schema.keys() & {"minLength", "maxLength"}:
            return "string"
        return self._rule(f'"\\"" character{{{schema.get("minLength", 0)},{schema.get("maxLength", "")}}} "\\""')

    def _number(self, schema: Mapping[str, Any], place: str) -> str:
        if "multipleOf" in schema:
            self._arguments.loosen(place, "multipleOf")
        low, open_low = _limit(schema, "minimum", "exclusiveMinimum", max)
        high, open_high = _limit(schema, "maximum", "exclusiveMaximum", min)
        if low is None and high is None:
            return str(schema["type"])
        if schema["type"] == "integer":
            least = None if low is None else floor(low) + 1 if open_low else ceil(low)
            most = None if high is None else ceil(high) - 1 if open_high else floor(high)
            found = integers(least, most)
        else:
            found = numbers(low, high, open_low=open_low, open_high=open_high)
        if not found:
            self._arguments.loosen(place, "limits between which there is no simple number")
            return str(schema["type"])
        return self._any(found)

    def _array(self, schema: Mapping[str, Any], place: str) -> str:
        items = schema.get("items", {})
        prefix = [self._value(item, place) for item in schema.get("prefixItems", ())]
        if prefix:
            more = "" if items is False else f' (", " {self._value(items, place)})*'
            separated = ' ", " '.join(prefix)
            return self._rule(f'"[" {separated}{more} "]"')
        item = self._value(items, place)
        return self._rule(f'"[" {_repeated(item, schema.get("minItems", 0), schema.get("maxItems"))} "]"')

    def _object(self, schema: Mapping[str, Any], place: str) -> str:
        if schema.get("properties"):
            pairs = [
                (f"{_quote(_literal(key) + ': ')} {self._value(value, place)}", key in schema["required"])
                for key, value in schema["properties"].items()
            ]
            return self._rule(f'"{{" {self._pairs(pairs)} "}}"')
        more = schema.get("additionalProperties", True)
        if more is False:
            return self._rule('"{}"')
        pair = self._rule(f'string ": " {self._value(more if isinstance(more, dict) else {}, place)}')
        least, most = schema.get("minProperties", 0), schema.get("maxProperties")
        if least > 1 or most is not None:
            self._arguments.loosen(place, "the number of free keys, some of which may be equal")
        return self._rule(f'"{{" {_repeated(pair, least, most)} "}}"')


def _limit(
    schema: Mapping[str, Any], word: str, exclusive: str, tighter: Callable[[Any, Any], Any]
) -> tuple[float | None, bool]:
    """A limit of a number, and whether it is excluded itself."""
    closed, open_ = schema.get(word), schema.get(exclusive)
    if open_ is None or closed is None:
        return (closed, False) if open_ is None else (open_, True)
    found = tighter(closed, open_)
    return found, found == open_


def _repeated(item: str, least: int, most: int | None) -> str:
    """Items with a separator, as many as the schema wants."""
    if most == 0:
        return '""'
    items = f'{item} (", " {item}){{{max(least - 1, 0)},{"" if most is None else most - 1}}}'
    return f"({items})?" if least <= 0 else items


def _literal(value: Any) -> str:
    """A JSON value as a Python literal whose strings are double-quoted."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(str(key))}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
