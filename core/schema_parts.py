"""Pieces of schema handling that know no tool: the words, what two schemas say together, what cannot both be met."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ConfigurationError

__all__ = ["BRANCHES", "DEPTH", "NEVER", "OF_TYPE", "UNSAID", "WORDS", "Notes", "Schema", "disjoint", "is_of",
           "kind_of", "merge", "references"]  # fmt: skip

Schema = dict[str, Any]

NEVER: Schema = {"": "nothing is accepted"}  # compared by identity
UNSAID = ("not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "uniqueItems",
           "contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems",
           "$dynamicRef", "$recursiveRef")  # fmt: skip
OF_TYPE: dict[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "additionalItems", "minItems", "maxItems"),
    "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames",
               "minProperties", "maxProperties"),
}  # fmt: skip
OF_TYPE["integer"] = OF_TYPE["number"]
WORDS = ("type", "enum", "const", "anyOf", "oneOf", "allOf", "nullable", *sum(OF_TYPE.values(), ()))
DEPTH = 64
BRANCHES = 64  # members that are multiplied out


class Notes:
    """What is said about the schema of one tool: what is wrong, what was loosened, what was narrowed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.loosened: list[str] = []
        self.narrowed: list[str] = []

    def loosen(self, place: str, what: str) -> None:
        """Note what the grammar does not enforce."""
        _add(self.loosened, place, what)

    def narrow(self, place: str, what: str) -> None:
        """Note what the schema allows and the grammar does not."""
        _add(self.narrowed, place, what)

    def wrong(self, place: str, what: str) -> ConfigurationError:
        """The error for a schema that no grammar can be made of."""
        return ConfigurationError(f"tool {self.name!r}: its parameters at {place or '/'}: {what}")

    def members(self, written: object, word: str, place: str) -> list[Any]:
        """The members of a combination."""
        if not isinstance(written, list) or not written:
            raise self.wrong(place, f"{word} is a list of schemas, and not empty")
        return written


def _add(notes: list[str], place: str, what: str) -> None:
    note = f"{place or '/'}: {what}"
    if note not in notes:
        notes.append(note)


def merge(left: Mapping[str, Any], right: Mapping[str, Any], notes: Notes, place: str) -> Schema:
    """A schema that says what two say, as far as one can; members that both must meet stay in an ``allOf``.

    NEVER where they ask for two types, or for two sets of values that have none in common.
    """
    merged = dict(left)
    for word, value in right.items():
        if word not in merged or merged[word] == value:
            merged[word] = value
            continue
        mine = merged[word]
        if word == "properties" and isinstance(mine, Mapping) and isinstance(value, Mapping):
            merged[word] = {**mine, **value}
            for key in mine.keys() & value.keys():
                merged[word][key] = mine[key] if mine[key] == value[key] else {"allOf": [mine[key], value[key]]}
        elif word == "required" and isinstance(mine, list) and isinstance(value, list):
            merged[word] = [*mine, *(key for key in value if key not in mine)]
        elif word == "enum" and isinstance(mine, list) and isinstance(value, list):
            merged[word] = [each for each in mine if each in value]
            if not merged[word]:
                return NEVER
        elif word == "type":
            one, other = (each if isinstance(each, list) else [each] for each in (mine, value))
            both = [each for each in one if each in other or (each == "integer" and "number" in other)]
            merged[word] = both or ["integer"] * ("integer" in other and "number" in one)
            if not merged[word]:
                return NEVER
        elif word in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"):
            merged[word] = max(mine, value)
        elif word in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"):
            merged[word] = min(mine, value)
        elif word in ("items", "additionalProperties") and not isinstance(mine, list):
            merged[word] = False if mine is False or value is False else {"allOf": [mine, value]}
        elif word in ("anyOf", "oneOf"):
            ours, theirs = notes.members(mine, word, place), notes.members(value, word, place)
            merged[word] = [{"allOf": [one, other]} for one in ours for other in theirs][:BRANCHES]
        elif word in WORDS:
            notes.loosen(place, f"allOf with two of {word}")
    return merged


def kind_of(value: object) -> str:
    return "null" if value is None else type(value).__name__


def is_of(value: object, kind: str) -> bool:
    """Whether a value is of a JSON type."""
    if kind in ("integer", "number"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (kind == "number" or float(value).is_integer())  # type: ignore[arg-type]
    types = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}
    return isinstance(value, types[kind])


def references(schema: object) -> list[str]:
    """Names of the definitions that a rewritten schema refers to."""
    if isinstance(schema, list):
        return [name for item in schema for name in references(item)]
    if not isinstance(schema, dict):
        return []
    if isinstance(schema.get("$ref"), str):
        return [schema["$ref"].rpartition("/")[2]]
    parts = [value for word, value in schema.items() if word not in ("enum", "properties")]
    parts += schema.get("properties", {}).values() if isinstance(schema.get("properties"), dict) else []
    return [name for part in parts for name in references(part)]


def disjoint(members: Sequence[Schema], definitions: Mapping[str, Schema]) -> bool:
    """Whether no value can meet two of them, as far as types, enums and a distinguishing property tell."""
    seen: set[str] = set()
    for each in members:
        member = definitions[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        if "enum" in member:
            keys = {json.dumps(value, sort_keys=True) for value in member["enum"]}
            keys |= {_type_of(value) for value in member["enum"]} & seen
        elif member.get("type") == "object":
            tags = [
                f"{key}={json.dumps(schema['enum'], sort_keys=True)}"
                for key, schema in member.get("properties", {}).items()
                if "enum" in schema and key in member.get("required", ())
            ]
            keys = set(tags[:1]) or {"object"}
        elif "type" in member:
            keys = {member["type"], *(["integer"] if member["type"] == "number" else [])}
        else:
            return False
        if keys & seen:
            return False
        seen |= keys
    return True


def _type_of(value: object) -> str:
    return next(kind for kind in ("null", "boolean", "integer", "number", "string", "array", "object")
                if is_of(value, kind))  # fmt: skip
