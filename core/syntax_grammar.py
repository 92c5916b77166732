"""A grammar (XGrammar's EBNF) for the arguments of a call in call syntax: ``a=1, b="x"``, or ``a:1,b:<|"|>x<|"|>``.

XGrammar has no style for these literals, so the rules are written here: the arguments of a tool in the schema's
order, or sorted where the template sorts them, required ones always there; and one rule for each type. What a schema
says beyond types, enums, references, the items and size of arrays, the members of objects and string lengths is not
enforced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from .errors import ConfigurationError
from .spec import CallSyntax

_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
_KEYWORD = re.compile(r"[\w.\-]{1,256}")  # what the reader takes for a keyword
_BARE_KEY = re.compile(r"[^\s:=,{}\[\]()<>|\"']([^:=,{}\[\]()<>|\"'\n\r\t]*[^\s:=,{}\[\]()<>|\"'])?")


def arguments_grammar(name: str, schema: Mapping[str, Any], syntax: CallSyntax) -> str:
    """The grammar of a tool's arguments, without what is around them. Raises ConfigurationError for a tool whose
    schema cannot be written as keyword arguments."""
    writer = _Writer(syntax, schema)
    root = writer.arguments(name)
    return "\n".join([f"root ::= {root}", *writer.rules, *_literal_rules(syntax)]) + "\n"


def _quote(text: str) -> str:
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
            'character ::= [^"\\\\\\n\\r] | "\\\\" ["\\\\nrt\']',
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

    def __init__(self, syntax: CallSyntax, root: Mapping[str, Any]) -> None:
        self._syntax = syntax
        self._root = root
        self._references: dict[str, str] = {}
        self.rules: list[str] = []

    def _rule(self, body: str) -> str:
        name = f"r{len(self.rules)}"
        self.rules.append(f"{name} ::= {body}")
        return name

    def arguments(self, name: str) -> str:
        """What stands between the brackets of a call."""
        schema = self._resolved(self._root)
        properties = schema.get("properties")
        required = set(schema.get("required") or ())
        pairs: list[tuple[str, bool]] = []
        for key, value in self._members(properties if isinstance(properties, Mapping) else {}):
            if not self._syntax.quote and not _KEYWORD.fullmatch(key):
                if key in required:
                    raise ConfigurationError(
                        f"tool {name!r}: required argument {key!r} cannot be written as a keyword argument"
                    )
                continue
            written = self._key(key) if self._syntax.quote else key + self._syntax.assign
            pairs.append((f"{_quote(written)} {self._value(value, 0)}", key in required))
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
        for pair, required in reversed(pairs):
            more = f"{separator} {pair} {rest}"
            begin = f"{pair} {rest}"
            rest, first = (
                self._rule(more if required else f"{more} | {rest}"),
                self._rule(begin if required else f"{begin} | {first}"),
            )
        return first

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        """The schema behind its references; {} where they lead nowhere."""
        for _ in range(20):
            if not isinstance(schema, Mapping):
                return {}
            if not isinstance(schema.get("$ref"), str):
                return schema
            schema = self._target(schema["$ref"])
        return {}

    def _target(self, reference: str) -> Any:
        node: Any = self._root if reference.startswith("#") else None
        for written in unquote(reference[1:]).split("/")[1:]:
            step = written.replace("~1", "/").replace("~0", "~")
            node = node.get(step) if isinstance(node, Mapping) else None
        return node

    def _value(self, schema: Any, depth: int) -> str:
        """The rule of a value of this schema; ``value`` where the schema says nothing that can be used."""
        if not isinstance(schema, Mapping) or depth > 8:
            return "value"
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference not in self._references:
                self._references[reference] = name = f"ref{len(self._references)}"
                self.rules.append(f"{name} ::= {self._value(self._resolved(schema), depth)}")
            return self._references[reference]
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            return self._rule(" | ".join(_quote(self._literal(value)) for value in values)) if values else "value"
        for union in ("anyOf", "oneOf"):
            if isinstance(schema.get(union), list) and schema[union]:
                return self._rule(" | ".join(self._value(member, depth + 1) for member in schema[union]))
        kinds = schema.get("type")
        if isinstance(kinds, list) and kinds:
            return self._rule(" | ".join(self._value({**schema, "type": kind}, depth + 1) for kind in kinds))
        if kinds == "array" and "items" in schema:
            item = self._value(schema["items"], depth + 1)
            return self._rule(f'"[" {self._repeated(item, schema.get("minItems"), schema.get("maxItems"))} "]"')
        if kinds == "object":
            return self._object(schema, depth)
        least, most = schema.get("minLength"), schema.get("maxLength")
        if kinds == "string" and (isinstance(least, int) or isinstance(most, int)):
            quote = _quote(self._syntax.quote or '"')
            size = f"{least if isinstance(least, int) else 0},{most if isinstance(most, int) else ''}"
            return self._rule(f"{quote} character{{{size}}} {quote}")
        return kinds if isinstance(kinds, str) and kinds in _TYPES else "value"

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        properties, others = schema.get("properties"), schema.get("additionalProperties")
        if isinstance(properties, Mapping) and properties:
            required = set(schema.get("required") or ())
            pairs = [
                (f"{_quote(self._key(key))} {self._value(value, depth + 1)}", key in required)
                for key, value in self._members(properties)
            ]
            return self._rule(f'"{{" {self._pairs(pairs)} "}}"')
        if isinstance(others, Mapping) and others:
            colon = _quote(self._syntax.assign if self._syntax.quote else ": ")
            pair = f"key {colon} {self._value(others, depth + 1)}"
            return self._rule(f'"{{" ({pair} ({_quote(self._syntax.comma)} {pair})*)? "}}"')
        return '"{}"' if others is False else "object"

    def _repeated(self, item: str, least: object, most: object) -> str:
        """Items of an array, as many as the schema wants."""
        low = least if isinstance(least, int) else 0
        if isinstance(most, int) and most <= 0:
            return '""'
        high = most - 1 if isinstance(most, int) else ""
        items = f"{item} ({_quote(self._syntax.comma)} {item}){{{max(low - 1, 0)},{high}}}"
        return f"({items})?" if low <= 0 else items

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
