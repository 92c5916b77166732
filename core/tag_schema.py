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

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from .schema import TYPE_OF, ToolSchema
from .schema_parts import BRANCHES, DEPTH, NEVER, UNSAID, WORDS, Schema, disjoint, is_of, kind_of, merge, references
from .tag_nodes import TypedNodes

__all__ = ["Arguments"]


class Arguments(TypedNodes):
    """What is known about the arguments of one tool.

    ``schema`` is the root in the form above, always an object; ``read`` tells how the parser will read raw text;
    ``loosened`` says what the grammar does not enforce, ``narrowed`` what it does not let through; "PLACE: what".
    """

    def __init__(self, name: str, parameters: object) -> None:
        super().__init__(name)
        self.read = ToolSchema(parameters)
        self._root = parameters
        self._definitions: dict[str, Schema] = {}  # name of a rewritten definition -> schema
        self._names: dict[str, str] = {}  # reference -> name of its definition
        self.schema = self._arguments(parameters)

    def standalone(self, schema: Schema) -> Schema:
        """A part of the schema with the definitions that it needs."""
        needed: dict[str, Schema] = {}
        waiting = [schema]
        while waiting:
            for reference in references(waiting.pop()):
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
        schema = self.node(parameters, "", 0)
        seen = 0
        while "$ref" in schema and seen < DEPTH:
            schema, seen = self.definition(schema["$ref"]), seen + 1
        if schema is NEVER:
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

    def node(self, node: object, place: str, depth: int) -> Schema:
        """The node rewritten; NEVER where nothing meets it."""
        if node is True:
            return {}
        if node is False:
            return NEVER
        if not isinstance(node, Mapping):
            raise self.wrong(place, f"a schema is an object or a boolean, not {kind_of(node)}")
        if depth > DEPTH:
            self.loosen(place, f"nested deeper than {DEPTH}")
            return {}
        said = {key: value for key, value in node.items() if key in WORDS}
        for word in UNSAID:
            if node.get(word, False) not in (False, {}, []):
                self.loosen(place, word)
        if "$ref" in node:
            return self._reference(node, said, place, depth)
        if "allOf" in said:
            members = self.members(said["allOf"], "allOf", place)
            rest = {key: value for key, value in said.items() if key != "allOf"}
            return self._all_of([rest, *members] if rest else members, place, depth)
        if said.get("nullable") is True:
            rest = {key: value for key, value in said.items() if key != "nullable"}
            return self.any_of([rest, {"type": "null"}], place, depth) if rest else {}
        if "enum" in said or "const" in said:
            return self._enum(said, place)
        for word in ("anyOf", "oneOf"):
            if word in said:
                return self._union(word, said, place, depth)
        types = self._types(said, place)
        if len(types) > 1:
            return self.any_of([{**said, "type": each} for each in types], place, depth)
        return self.typed(types[0], said, place, depth) if types else self.untyped(said, place, depth)

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
            self._definitions[name] = self.node(target, reference[1:], depth + 1)
        found = self._definitions[name]
        if found is NEVER:
            return NEVER
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
                return NEVER
            if member is not True:
                merged = merge(merged, member, self, place)
            if merged is NEVER:
                return NEVER
        return self.node(merged, place, depth + 1)

    def _flat(self, members: Sequence[Any], place: str, depth: int) -> Iterator[Any]:
        """The members of ``allOf`` with those of references and of inner ``allOf`` in their place."""
        for member in members:
            if isinstance(member, bool):
                yield member
            elif not isinstance(member, Mapping):
                raise self.wrong(place, f"a schema is an object or a boolean, not {kind_of(member)}")
            elif depth > DEPTH:
                self.loosen(place, "allOf that refers to itself")
            else:
                rest = {word: value for word, value in member.items() if word not in ("$ref", "allOf")}
                reference = member.get("$ref")
                if isinstance(reference, str) and reference.startswith("#"):
                    yield from self._flat([self._target(reference, place)], place, depth + 1)
                elif reference is not None:
                    self.loosen(place, f"$ref to another document, {reference!r}")
                if "allOf" in member:
                    yield from self._flat(self.members(member["allOf"], "allOf", place), place, depth + 1)
                yield rest

    def _union(self, word: str, said: Schema, place: str, depth: int) -> Schema:
        members = self.members(said[word], word, place)
        rest = {key: value for key, value in said.items() if key != word}
        if len(members) > BRANCHES and rest:
            self.loosen(place, f"keywords beside {word}")
            rest = {}
        if rest:
            members = [{"allOf": [member, rest]} for member in members]
        found = self.any_of(members, f"{place}/{word}", depth)
        if word == "oneOf" and not disjoint(found.get("anyOf", ()), self._definitions):
            self.loosen(place, "oneOf whose members overlap")
        return found

    def any_of(self, members: Sequence[Any], place: str, depth: int) -> Schema:
        found: list[Schema] = []
        for at, member in enumerate(members):
            schema = self.node(member, f"{place}/{at}" if place.endswith(("anyOf", "oneOf")) else place, depth + 1)
            for each in schema.get("anyOf", (schema,)):
                if each is not NEVER and each not in found:
                    found.append(each)
        if {} in found:
            return {}
        return NEVER if not found else found[0] if len(found) == 1 else {"anyOf": found}

    def _enum(self, said: Schema, place: str) -> Schema:
        values = said.get("enum", [said.get("const")])
        if not isinstance(values, list) or not values:
            raise self.wrong(place, "enum is a list of values, and not empty")
        if "const" in said:
            values = [value for value in values if value == said["const"]]
        types = self._types(said, place)
        fitting = [value for value in values if not types or any(is_of(value, each) for each in types)]
        if not fitting:
            return NEVER
        return {"enum": [value for at, value in enumerate(fitting) if value not in fitting[:at]]}
