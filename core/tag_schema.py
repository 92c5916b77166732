"""A tool's JSON schema, brought into the form that a grammar is made of.

What a grammar can hold a model to is less than what JSON Schema can say, so the schema is rewritten first: spelled
out where XGrammar would misread it (``allOf``, keywords beside ``anyOf``, lists of types, a string of one type beside
its enum, draft 4 tuples), and loosened where no grammar can say it (``not``, ``uniqueItems``, ...). What was loosened
is listed, so that it can be logged, or refused where the tool is strict. A schema that is wrong, or that nothing
meets, raises ConfigurationError with the tool's name and the place in its schema.

The result is a schema of few keywords: a node has one type, or is an ``anyOf``, an ``enum``, a ``$ref`` to
``#/$defs/…`` of the root, or empty. It never accepts what the original refuses, but for what is listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from .errors import ConfigurationError
from .schema import TYPE_OF, ToolSchema
from .tag_patterns import rewrite_pattern

__all__ = ["Arguments"]

Schema = dict[str, Any]

_NEVER: Schema = {"": "nothing is accepted"}  # compared by identity
_UNSAID = ("not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "uniqueItems",
           "contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems",
           "$dynamicRef", "$recursiveRef")  # fmt: skip
_OF_TYPE: dict[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "additionalItems", "minItems", "maxItems"),
    "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames",
               "minProperties", "maxProperties"),
}  # fmt: skip
_OF_TYPE["integer"] = _OF_TYPE["number"]
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_RANGES = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"),
           ("minProperties", "maxProperties"))  # fmt: skip
_FORMATS = frozenset({"email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri",
                      "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"})  # fmt: skip
_WORDS = ("type", "enum", "const", "anyOf", "oneOf", "allOf", "nullable", *sum(_OF_TYPE.values(), ()))
_DEPTH = 64
_FAR = 10**15  # the other limit of an integer that has one
_BRANCHES = 64  # members that are multiplied out


class Arguments:
    """What is known about the arguments of one tool.

    ``schema`` is the root in the form above, always an object; ``read`` tells how the parser will read raw text;
    ``loosened`` says what the grammar does not enforce, ``narrowed`` what it does not let through; "PLACE: what".
    """

    def __init__(self, name: str, parameters: object) -> None:
        self.name = name
        self.read = ToolSchema(parameters)
        self.loosened: list[str] = []
        self.narrowed: list[str] = []
        self._root = parameters
        self._definitions: dict[str, Schema] = {}  # name of a rewritten definition -> schema
        self._names: dict[str, str] = {}  # reference -> name of its definition
        self.schema = self._arguments(parameters)

    def loosen(self, place: str, what: str) -> None:
        """Note what is not enforced."""
        note = f"{place or '/'}: {what}"
        if note not in self.loosened:
            self.loosened.append(note)

    def narrow(self, place: str, what: str) -> None:
        """Note what the schema allows and the grammar does not."""
        note = f"{place or '/'}: {what}"
        if note not in self.narrowed:
            self.narrowed.append(note)

    def wrong(self, place: str, what: str) -> ConfigurationError:
        """The error for a schema that no grammar can be made of."""
        return ConfigurationError(f"tool {self.name!r}: its parameters at {place or '/'}: {what}")

    def standalone(self, schema: Schema) -> Schema:
        """A part of the schema with the definitions that it needs."""
        needed: dict[str, Schema] = {}
        waiting = [schema]
        while waiting:
            for reference in _references(waiting.pop()):
                if reference not in needed:
                    needed[reference] = self._definitions[reference]
                    waiting.append(needed[reference])
        return {**schema, "$defs": needed} if needed else schema

    def definition(self, reference: str) -> Schema:
        """What a ``$ref`` of the rewritten schema means."""
        return self._definitions[reference.rpartition("/")[2]]

    # -- the root -------------------------------------------------------------------------------------------

    def _arguments(self, parameters: object) -> Schema:
        if parameters is None or parameters is True or parameters == {}:
            return {"type": "object"}
        schema = self._node(parameters, "", 0)
        seen = 0
        while "$ref" in schema and seen < _DEPTH:
            schema, seen = self.definition(schema["$ref"]), seen + 1
        if schema is _NEVER:
            raise self.wrong("", "no value meets this schema")
        if not schema:
            return {"type": "object"}
        members = [member for member in schema.get("anyOf", ()) if member.get("type") == "object"]
        if len(members) == 1:
            return dict(members[0])
        if members:
            return {"anyOf": members}
        if schema.get("type") != "object":
            raise self.wrong("", f"arguments are an object, this schema says {schema.get('type', 'otherwise')!r}")
        return schema

    # -- one node -------------------------------------------------------------------------------------------

    def _node(self, node: object, place: str, depth: int) -> Schema:
        """The node rewritten; _NEVER where nothing meets it."""
        if node is True:
            return {}
        if node is False:
            return _NEVER
        if not isinstance(node, Mapping):
            raise self.wrong(place, f"a schema is an object or a boolean, not {_kind(node)}")
        if depth > _DEPTH:
            self.loosen(place, f"nested deeper than {_DEPTH}")
            return {}
        said = {key: value for key, value in node.items() if key in _WORDS}
        for word in _UNSAID:
            if node.get(word, False) not in (False, {}, []):
                self.loosen(place, word)
        if "$ref" in node:
            return self._reference(node, said, place, depth)
        if "allOf" in said:
            members = self._members(said, "allOf", place)
            rest = {key: value for key, value in said.items() if key != "allOf"}
            return self._all_of([rest, *members] if rest else members, place, depth)
        if said.get("nullable") is True:
            rest = {key: value for key, value in said.items() if key != "nullable"}
            return self._any_of([rest, {"type": "null"}], place, depth) if rest else {}
        if "enum" in said or "const" in said:
            return self._enum(said, place)
        for word in ("anyOf", "oneOf"):
            if word in said:
                return self._union(word, said, place, depth)
        types = self._types(said, place)
        if len(types) > 1:
            return self._any_of([{**said, "type": each} for each in types], place, depth)
        return self._typed(types[0], said, place, depth) if types else self._untyped(said, place, depth)

    def _types(self, said: Mapping[str, Any], place: str) -> list[str]:
        written = said.get("type")
        if written is None:
            return []
        names = written if isinstance(written, list) else [written]
        types = []
        for name in names:
            found = TYPE_OF.get(name.strip().lower()) if isinstance(name, str) else None
            if found is None:
                if name == "any":
                    return []
                raise self.wrong(place, f"{name!r} is no JSON type")
            types.append(found)
        return list(dict.fromkeys(types))

    def _members(self, said: Mapping[str, Any], word: str, place: str) -> list[Any]:
        members = said[word]
        if not isinstance(members, list) or not members:
            raise self.wrong(place, f"{word} is a list of schemas, and not empty")
        return members

    def _reference(self, node: Mapping[str, Any], said: Schema, place: str, depth: int) -> Schema:
        reference = node["$ref"]
        if not isinstance(reference, str):
            raise self.wrong(place, "$ref is a string")
        if not reference.startswith("#"):
            self.loosen(place, f"$ref to another document, {reference!r}")
            return {}
        if said:  # keywords beside it count as well
            return self._all_of([self._target(reference, place), said], place, depth)
        name = self._names.get(reference)
        if name is None:
            target = self._target(reference, place)
            name = self._names[reference] = f"d{len(self._names)}"
            self._definitions[name] = {}
            self._definitions[name] = self._node(target, reference[1:], depth + 1)
        found = self._definitions[name]
        if found is _NEVER:
            return _NEVER
        return {"$ref": f"#/$defs/{name}"}

    def _target(self, reference: str, place: str) -> Any:
        node: Any = self._root
        pointer = unquote(reference[1:])
        for written in pointer.split("/")[1:]:
            step = written.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and step in node:
                node = node[step]
            elif isinstance(node, list) and step.isascii() and step.isdigit() and int(step) < len(node):
                node = node[int(step)]
            else:
                raise self.wrong(place, f"$ref {reference!r} leads nowhere")
        if pointer and not pointer.startswith("/"):
            raise self.wrong(place, f"$ref {reference!r} is no JSON pointer")
        return node

    # -- combinations ---------------------------------------------------------------------------------------

    def _all_of(self, members: Sequence[Any], place: str, depth: int) -> Schema:
        """One schema that says what all of them say."""
        merged: Schema = {}
        for member in self._flat(members, place, 0):
            if member is False:
                return _NEVER
            if member is not True:
                merged = self._merge(merged, member, place)
        return self._node(merged, place, depth + 1)

    def _flat(self, members: Sequence[Any], place: str, depth: int) -> Iterator[Any]:
        """The members of ``allOf`` with those of references and of inner ``allOf`` in their place."""
        for member in members:
            if isinstance(member, bool):
                yield member
            elif not isinstance(member, Mapping):
                raise self.wrong(place, f"a schema is an object or a boolean, not {_kind(member)}")
            elif depth > _DEPTH:
                self.loosen(place, "allOf that refers to itself")
            else:
                rest = {word: value for word, value in member.items() if word not in ("$ref", "allOf")}
                reference = member.get("$ref")
                if isinstance(reference, str) and reference.startswith("#"):
                    yield from self._flat([self._target(reference, place)], place, depth + 1)
                elif reference is not None:
                    self.loosen(place, f"$ref to another document, {reference!r}")
                if "allOf" in member:
                    yield from self._flat(self._members(member, "allOf", place), place, depth + 1)
                yield rest

    def _merge(self, left: Mapping[str, Any], right: Mapping[str, Any], place: str) -> Schema:
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
            elif word == "type":
                one, other = (each if isinstance(each, list) else [each] for each in (mine, value))
                both = [each for each in one if each in other or (each == "integer" and "number" in other)]
                merged[word] = both or ["integer"] * ("integer" in other and "number" in one)
                if not merged[word]:
                    raise self.wrong(place, "allOf asks for two types at once")
            elif word in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"):
                merged[word] = max(mine, value)
            elif word in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"):
                merged[word] = min(mine, value)
            elif word in ("items", "additionalProperties") and not isinstance(mine, list):
                merged[word] = False if mine is False or value is False else {"allOf": [mine, value]}
            elif word in ("anyOf", "oneOf"):
                ours, theirs = self._members({word: mine}, word, place), self._members({word: value}, word, place)
                merged[word] = [{"allOf": [one, other]} for one in ours for other in theirs][:_BRANCHES]
            elif word in _WORDS:
                self.loosen(place, f"allOf with two of {word}")
        return merged

    def _union(self, word: str, said: Schema, place: str, depth: int) -> Schema:
        members = self._members(said, word, place)
        rest = {key: value for key, value in said.items() if key != word}
        if len(members) > _BRANCHES and rest:
            self.loosen(place, f"keywords beside {word}")
            rest = {}
        if rest:
            members = [{"allOf": [member, rest]} for member in members]
        found = self._any_of(members, f"{place}/{word}", depth)
        if word == "oneOf" and not _disjoint(found.get("anyOf", ()), self._definitions):
            self.loosen(place, "oneOf whose members overlap")
        return found

    def _any_of(self, members: Sequence[Any], place: str, depth: int) -> Schema:
        found: list[Schema] = []
        for at, member in enumerate(members):
            schema = self._node(member, f"{place}/{at}" if place.endswith(("anyOf", "oneOf")) else place, depth + 1)
            for each in schema.get("anyOf", (schema,)):
                if each is not _NEVER and each not in found:
                    found.append(each)
        if {} in found:
            return {}
        return _NEVER if not found else found[0] if len(found) == 1 else {"anyOf": found}

    def _enum(self, said: Schema, place: str) -> Schema:
        values = said.get("enum", [said.get("const")])
        if not isinstance(values, list) or not values:
            raise self.wrong(place, "enum is a list of values, and not empty")
        if "const" in said:
            values = [value for value in values if value == said["const"]]
        types = self._types(said, place)
        fitting = [value for value in values if not types or any(_is(value, each) for each in types)]
        if not fitting:
            return _NEVER
        return {"enum": [value for at, value in enumerate(fitting) if value not in fitting[:at]]}

    # -- nodes of one type ----------------------------------------------------------------------------------

    def _untyped(self, said: Schema, place: str, depth: int) -> Schema:
        for kind in ("object", "array", "string"):
            if any(word in said for word in _OF_TYPE[kind]):
                return self._typed(kind, said, place, depth)
        for word in _NUMBERS:
            if word in said:
                self.loosen(place, f"{word} without a type")
        return {}

    def _typed(self, kind: str, said: Schema, place: str, depth: int) -> Schema:
        self._check(kind, said, place)
        schema: Schema = {"type": kind, **{word: said[word] for word in _OF_TYPE.get(kind, ()) if word in said}}
        if kind == "object":
            return self._object(schema, place, depth)
        if kind == "array":
            return self._array(schema, place, depth)
        if kind == "string":
            self._string(schema, place)
        elif kind == "integer":
            self._integer(schema)
        elif kind == "number" and "multipleOf" in schema:
            self.loosen(place, "multipleOf of a number")
            del schema["multipleOf"]
        return schema

    def _check(self, kind: str, said: Schema, place: str) -> None:
        """Whether the keywords of a type hold what they may. Draft 4's boolean limits become numbers."""
        for end in ("Minimum", "Maximum"):
            word, limit = f"exclusive{end}", end.lower()
            if isinstance(said.get(word), bool):
                exclusive = said.pop(word)
                if exclusive and limit in said:
                    said[word] = said.pop(limit)
        for word in _OF_TYPE.get(kind, ()):
            value = said.get(word, 0)
            if word in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                if isinstance(value, float) and value.is_integer() and value >= 0:
                    said[word] = int(value)
                else:
                    raise self.wrong(place, f"{word} is a number of 0 or more, not {value!r}")
            elif word in _NUMBERS and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise self.wrong(place, f"{word} is a number, not {value!r}")
        for low, high in _RANGES:
            if low in said and high in said and low in _OF_TYPE.get(kind, ()) and said[low] > said[high]:
                raise self.wrong(place, f"{low} is greater than {high}")

    def _string(self, schema: Schema, place: str) -> None:
        if schema.get("format") not in _FORMATS:
            schema.pop("format", None)
        if "pattern" not in schema:
            for word in ("minLength", "maxLength"):
                if "format" in schema and schema.pop(word, None) is not None:
                    self.loosen(place, f"{word} beside format")
            return
        if not isinstance(schema["pattern"], str):
            raise self.wrong(place, "pattern is a string")
        if rewrite_pattern(schema["pattern"], "") is None:
            self.loosen(place, f"pattern {schema.pop('pattern')!r}")
            return
        for word in ("minLength", "maxLength", "format"):
            if schema.pop(word, None) is not None:
                self.loosen(place, f"{word} beside pattern")

    def _integer(self, schema: Schema) -> None:
        """Both limits where there is one: before 0.2.3 XGrammar overlooks a single one."""
        low, high = schema.keys() & {"minimum", "exclusiveMinimum"}, schema.keys() & {"maximum", "exclusiveMaximum"}
        if low and not high:
            schema["maximum"] = max(_FAR, 10 * max(abs(int(schema[word])) for word in low))
        elif high and not low:
            schema["minimum"] = min(-_FAR, -10 * max(abs(int(schema[word])) for word in high))

    def _array(self, schema: Schema, place: str, depth: int) -> Schema:
        items, rest = schema.get("items", True), schema.pop("additionalItems", True)
        if isinstance(items, list):  # draft 4
            schema["prefixItems"], items = items, rest
        prefix = schema.get("prefixItems", [])
        if not isinstance(prefix, list):
            raise self.wrong(place, "prefixItems is a list of schemas")
        fitted = [self._node(item, f"{place}/prefixItems/{at}", depth + 1) for at, item in enumerate(prefix)]
        if _NEVER in fitted:
            fitted = fitted[: fitted.index(_NEVER)]
            items = False
        found = self._node(items, f"{place}/items", depth + 1)
        schema.pop("prefixItems", None)
        if found is _NEVER:
            schema["maxItems"] = min(schema.get("maxItems", len(fitted)), len(fitted))
            if schema.get("minItems", 0) > schema["maxItems"]:
                return _NEVER
            found = {}
        if fitted:
            # As many as are written are always there: whether fewer may be, XGrammar's versions do not agree.
            closed = schema.get("maxItems") == len(fitted)
            if schema.get("minItems", 0) < len(fitted) and schema.get("maxItems", len(fitted)) >= len(fitted):
                schema["minItems"] = len(fitted)
            schema["prefixItems"] = fitted[: schema.get("maxItems", len(fitted))]
            schema["items"] = False if closed else found
            if closed:
                schema.pop("maxItems"), schema.pop("minItems", None)
        elif schema.get("maxItems") == 0:
            return {"enum": [[]]}
        else:
            schema["items"] = found
        return schema

    def _object(self, schema: Schema, place: str, depth: int) -> Schema:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, Mapping):
            raise self.wrong(place, "properties is an object")
        if isinstance(required, bool):  # draft 3
            required = []
        if not isinstance(required, list) or not all(isinstance(key, str) for key in required):
            raise self.wrong(place, "required is a list of names")
        more = schema.get("additionalProperties")
        found: Schema = {}
        for key, value in properties.items():
            fitted = self._node(value, f"{place}/properties/{key}", depth + 1)
            if fitted is not _NEVER:
                found[key] = fitted
            elif key in required:
                return _NEVER
        open_ = self._node(True if more is None else more, f"{place}/additionalProperties", depth + 1)
        for key in required:
            if key not in found:
                if open_ is _NEVER:
                    return _NEVER
                found[key] = open_
        patterns = schema.pop("patternProperties", None)
        if patterns:
            self.loosen(place, "patternProperties")
            if open_ is _NEVER and isinstance(patterns, Mapping):
                more = True
                open_ = self._any_of(list(patterns.values()), f"{place}/patternProperties", depth)
        if schema.pop("propertyNames", None) not in (None, {}, True):
            self.loosen(place, "propertyNames")
        if found or "properties" in schema:
            schema["properties"] = found
        schema["required"] = list(dict.fromkeys(required))
        if more is not None or not found:
            schema["additionalProperties"] = False if open_ is _NEVER else open_ or True
        if "properties" in schema and not found and more is None:
            schema["additionalProperties"] = False
        if schema.get("minProperties", 0) > len(found):
            if open_ is _NEVER:
                return _NEVER
            schema["additionalProperties"] = open_ or True
        if schema.get("maxProperties", len(schema["required"])) < len(schema["required"]):
            return _NEVER
        return schema


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__


def _is(value: object, kind: str) -> bool:
    """Whether a value is of a JSON type."""
    if kind in ("integer", "number"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (kind == "number" or float(value).is_integer())  # type: ignore[arg-type]
    types = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}
    return isinstance(value, types[kind])


def _references(schema: object) -> list[str]:
    """Names of the definitions that a rewritten schema refers to."""
    if isinstance(schema, list):
        return [name for item in schema for name in _references(item)]
    if not isinstance(schema, dict):
        return []
    if isinstance(schema.get("$ref"), str):
        return [schema["$ref"].rpartition("/")[2]]
    parts = [value for word, value in schema.items() if word not in ("enum", "properties")]
    parts += schema.get("properties", {}).values() if isinstance(schema.get("properties"), dict) else []
    return [name for part in parts for name in _references(part)]


def _disjoint(members: Sequence[Schema], definitions: Mapping[str, Schema]) -> bool:
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
                if _is(value, kind))  # fmt: skip
