"""Nodes of one type in a tool's schema: their words checked, and brought into the form that a grammar is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from .schema_parts import NEVER, OF_TYPE, Notes, Schema
from .tag_patterns import rewrite_pattern

__all__ = ["TypedNodes"]

_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_RANGES = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"),
           ("minProperties", "maxProperties"))  # fmt: skip
_FORMATS = frozenset({"email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri",
                      "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"})  # fmt: skip
_FAR = 10**15  # the other limit of an integer that has one


class TypedNodes(Notes, ABC):
    """Handles them; what combines nodes is the business of the class built on it."""

    @abstractmethod
    def node(self, node: object, place: str, depth: int) -> Schema:
        """Any node rewritten; NEVER where nothing meets it."""

    @abstractmethod
    def any_of(self, members: Sequence[Any], place: str, depth: int) -> Schema:
        """One of the members."""

    def untyped(self, said: Schema, place: str, depth: int) -> Schema:
        """A node that names no type."""
        for kind in ("object", "array", "string"):
            if any(word in said for word in OF_TYPE[kind]):
                return self.typed(kind, said, place, depth)
        for word in _NUMBERS:
            if word in said:
                self.loosen(place, f"{word} without a type")
        return {}

    def typed(self, kind: str, said: Schema, place: str, depth: int) -> Schema:
        """A node of one type."""
        self._check(kind, said, place)
        schema: Schema = {"type": kind, **{word: said[word] for word in OF_TYPE.get(kind, ()) if word in said}}
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
        for word in OF_TYPE.get(kind, ()):
            value = said.get(word, 0)
            if word in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                if isinstance(value, float) and value.is_integer() and value >= 0:
                    said[word] = int(value)
                else:
                    raise self.wrong(place, f"{word} is a number of 0 or more, not {value!r}")
            elif word in _NUMBERS and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise self.wrong(place, f"{word} is a number, not {value!r}")
        for low, high in _RANGES:
            if low in said and high in said and low in OF_TYPE.get(kind, ()) and said[low] > said[high]:
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
        fitted = [self.node(item, f"{place}/prefixItems/{at}", depth + 1) for at, item in enumerate(prefix)]
        if NEVER in fitted:
            fitted = fitted[: fitted.index(NEVER)]
            items = False
        found = self.node(items, f"{place}/items", depth + 1)
        schema.pop("prefixItems", None)
        if found is NEVER:
            schema["maxItems"] = min(schema.get("maxItems", len(fitted)), len(fitted))
            if schema.get("minItems", 0) > schema["maxItems"]:
                return NEVER
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
            fitted = self.node(value, f"{place}/properties/{key}", depth + 1)
            if fitted is not NEVER:
                found[key] = fitted
            elif key in required:
                return NEVER
        open_ = self.node(True if more is None else more, f"{place}/additionalProperties", depth + 1)
        for key in required:
            if key not in found:
                if open_ is NEVER:
                    return NEVER
                found[key] = open_
        patterns = schema.pop("patternProperties", None)
        if patterns:
            self.loosen(place, "patternProperties")
            if open_ is NEVER and isinstance(patterns, Mapping):
                more = True
                open_ = self.any_of(list(patterns.values()), f"{place}/patternProperties", depth)
        if schema.pop("propertyNames", None) not in (None, {}, True):
            self.loosen(place, "propertyNames")
        if found or "properties" in schema:
            schema["properties"] = found
        schema["required"] = list(dict.fromkeys(required))
        if more is not None or not found:
            schema["additionalProperties"] = False if open_ is NEVER else open_ or True
        if "properties" in schema and not found and more is None:
            schema["additionalProperties"] = False
        if schema.get("minProperties", 0) > len(found):
            if open_ is NEVER:
                return NEVER
            schema["additionalProperties"] = open_ or True
        if schema.get("maxProperties", len(schema["required"])) < len(schema["required"]):
            return NEVER
        return schema
