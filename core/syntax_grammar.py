"""A grammar (XGrammar's EBNF) for the arguments of a call in call syntax: ``a=1, b="x"``, or ``a:1,b:<|"|>x<|"|>``.

XGrammar has no style for these literals, so the rules are written here: the arguments of a tool in the schema's
order, or sorted where the template sorts them, required ones always there, and one rule for each value. A definition
is a rule of its own, so a schema may refer to itself. Not enforced: ``multipleOf``, and how many members an object of
free keys has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from math import ceil, floor
from typing import Any

from .number_ranges import integers, numbers
from .spec import CallSyntax
from .tag_patterns import FORMATS, as_rule
from .tag_schema import Arguments

_KEYWORD = re.compile(r"[\w.\-]{1,256}")  # what the reader takes for a keyword
_BARE_KEY = re.compile(r"[^\s:=,{}\[\]()<>|\"']([^:=,{}\[\]()<>|\"'\n\r\t]*[^\s:=,{}\[\]()<>|\"'])?")


def arguments_grammar(arguments: Arguments, syntax: CallSyntax) -> str:
    """The grammar of a tool's arguments, without what is around them. Raises ConfigurationError for a tool whose
    schema cannot be written as keyword arguments."""
    writer = _Writer(arguments, syntax)
    root = " | ".join(writer.call(member) for member in arguments.schema.get("anyOf", (arguments.schema,)))
    return "\n".join([f"root ::= {root}", *writer.rules, *_literal_rules(syntax)]) + "\n"


def _quote(text: str) -> str:
    """A literal of the grammar."""
    return json.dumps(text, ensure_ascii=False)


def _literal_rules(syntax: CallSyntax) -> list[str]:
    """One rule for each type, and what they are made of."""
    true, false, null = map(_quote, syntax.words)
    comma = _quote(syntax.comma)
    if syntax.quote:
        quote, colon = _quote(syntax.quote), _quote(syntax.assign)
        strings = [f"string ::= {quote} text {quote}", "character ::= [^<]", *_text_without(syntax.quote)]
        key = "[A-Za-z_] [A-Za-z0-9_]{0,30}"
    else:
        colon = '": "'
        strings = [
            'string ::= "\\"" character* "\\""',
            'character ::= [^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\nrt\']',
        ]
        key = "string"
    return [
        *strings,
        'integer ::= "-"? ("0" | [1-9] [0-9]{0,15})',
        'number ::= integer ("." [0-9]{1,16})? ([eE] [+-]? [0-9]{1,2})?',
        f"boolean ::= {true} | {false}",
        f"null ::= {null}",
        f'array ::= "[" (value ({comma} value)*)? "]"',
        f"key ::= {key}",
        f"pair ::= key {colon} value",
        f'object ::= "{{" (pair ({comma} pair)*)? "}}"',
        "value ::= string | number | boolean | null | array | object",
    ]


def _text_without(token: str) -> list[str]:
    """Text that does not hold the token, nor ends in a part of it. The token's first character stands in it once."""
    first, inner = token[0], token[1:]
    rules = [f"text ::= ([^{first}] | {_quote(first)} text1)*"]
    for at, char in enumerate(inner, 1):
        more = f" | {_quote(char)} text{at + 1}" if at < len(inner) else ""
        rules.append(f"text{at} ::= [^{first}{char}] | {_quote(first)} text1{more}")
    return rules


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
        for key, value in self._members(schema.get("properties", {})):
            needed = key in schema["required"]
            if self._syntax.quote or _KEYWORD.fullmatch(key):
                written = self._key(key) if self._syntax.quote else key + self._syntax.assign
                pairs.append((f"{_quote(written)} {self._value(value, '/' + key)}", needed))
            elif needed:
                raise self._arguments.wrong(f"/properties/{key}", "this name cannot be a keyword argument's")
            else:
                self._arguments.narrow(f"/properties/{key}", "left out, its name cannot be a keyword argument's")
        return self._pairs(pairs)

    def _members(self, properties: Mapping[Any, Any]) -> list[tuple[str, Any]]:
        """The members of an object in the template's order."""
        members = [(str(key), value) for key, value in properties.items()]
        return sorted(members, key=lambda member: member[0].lower()) if self._syntax.quote else members

    def _key(self, key: str) -> str:
        """A key of an object, with what stands between it and its value."""
        if not self._syntax.quote:
            return json.dumps(key, ensure_ascii=False) + ": "
        bare = _BARE_KEY.fullmatch(key) is not None
        return (key if bare else self._syntax.quote + key + self._syntax.quote) + self._syntax.assign

    def _pairs(self, pairs: list[tuple[str, bool]]) -> str:
        """Pairs in order: rules for what may follow before (``first``) and after (``rest``) any was written."""
        first = rest = '""'
        separator = _quote(self._syntax.comma)
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
            return self._any(_quote(self._literal(value)) for value in schema["enum"])
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
        quote = _quote(self._syntax.quote or '"')
        pattern = schema.get("pattern") or FORMATS.get(schema.get("format", ""))
        if pattern is not None:
            body = as_rule(pattern, self._syntax.quote[:1] or '"\\')
            if body is not None:
                return self._rule(f"{quote} {body} {quote}")
            self._arguments.loosen(place, f"pattern {pattern!r} inside a string")
        elif "format" in schema:
            self._arguments.loosen(place, f"format {schema['format']!r}")
        if not schema.keys() & {"minLength", "maxLength"}:
            return "string"
        return self._rule(f'{quote} character{{{schema.get("minLength", 0)},{schema.get("maxLength", "")}}} {quote}')

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
            more = "" if items is False else f" ({_quote(self._syntax.comma)} {self._value(items, place)})*"
            separated = f" {_quote(self._syntax.comma)} ".join(prefix)
            return self._rule(f'"[" {separated}{more} "]"')
        item = self._value(items, place)
        return self._rule(f'"[" {self._repeated(item, schema.get("minItems", 0), schema.get("maxItems"))} "]"')

    def _object(self, schema: Mapping[str, Any], place: str) -> str:
        if schema.get("properties"):
            pairs = [
                (f"{_quote(self._key(key))} {self._value(value, place)}", key in schema["required"])
                for key, value in self._members(schema["properties"])
            ]
            return self._rule(f'"{{" {self._pairs(pairs)} "}}"')
        more = schema.get("additionalProperties", True)
        if more is False:
            return self._rule('"{}"')
        colon = _quote(self._syntax.assign if self._syntax.quote else ": ")
        pair = self._rule(f"key {colon} {self._value(more if isinstance(more, dict) else {}, place)}")
        least, most = schema.get("minProperties", 0), schema.get("maxProperties")
        if least > 1 or most is not None:
            self._arguments.loosen(place, "the number of free keys, some of which may be equal")
        return self._rule(f'"{{" {self._repeated(pair, least, most)} "}}"')

    def _repeated(self, item: str, least: int, most: int | None) -> str:
        """Items with a separator, as many as the schema wants."""
        if most == 0:
            return '""'
        more = f"({_quote(self._syntax.comma)} {item})"
        items = f'{item} {more}{{{max(least - 1, 0)},{"" if most is None else most - 1}}}'
        return f"({items})?" if least <= 0 else items

    def _literal(self, value: Any) -> str:
        """A JSON value as the template writes it; strings of Python in double quotes."""
        true, false, null = self._syntax.words
        comma = self._syntax.comma
        if isinstance(value, Mapping):
            members = self._members(value)
            return "{" + comma.join(self._key(key) + self._literal(item) for key, item in members) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + comma.join(map(self._literal, value)) + "]"
        if isinstance(value, str):
            quote = self._syntax.quote
            return quote + value + quote if quote else json.dumps(value, ensure_ascii=False)
        if value is None or isinstance(value, bool):
            return null if value is None else true if value else false
        return repr(value)


def _limit(
    schema: Mapping[str, Any], word: str, exclusive: str, tighter: Callable[[Any, Any], Any]
) -> tuple[float | None, bool]:
    """A limit of a number, and whether it is excluded itself."""
    closed, open_ = schema.get(word), schema.get(exclusive)
    if open_ is None or closed is None:
        return (closed, False) if open_ is None else (open_, True)
    found = tighter(closed, open_)
    return found, found == open_
