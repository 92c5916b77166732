"""JSON types of a tool's arguments, read from the tool's JSON schema.

Rules
- The only question asked: which JSON types may the argument KEY have, or a value inside it? The answer is a set
  out of null, integer, number, boolean, object, array, string. The empty set means "unknown", and a value of
  unknown type is read as a string. "integer" in the set does not imply "number", nor the reverse.
- $ref (local JSON pointers), allOf, anyOf/oneOf, sibling `type`, enum/const and `nullable` are combined.
  `type` wins over enum/const, which count only where no known type is written. `properties` and `items`
  without anything else say object and array (XGrammar compiles them so).
- Anything a schema author may have got wrong (garbage, cycles, dangling references, unknown type names)
  is unknown. Nothing raises: schemas come from requests, but a bad one must not cost the answer.

Theory of operation
A schema node is a `_Types(known, open)`. `open` says that types outside `known` are possible too; then
`known` is only a hint. Union and intersection are defined on that pair, so a member of unknown type needs
no special case:
- union: known sets joined, open if any member is open. So anyOf(integer, unknown) is "integer, or
  anything": an integer if the text reads as one, and otherwise what unknown alone is: a string.
- intersection: a closed side limits the open one. Two closed sides meet; integer meets number in integer.
  A contradiction is the empty set, i.e. unknown.
Answers are computed on first use and kept per declared key; keys the model made up are never kept, since
a ToolSchema outlives a response. A budget of visited nodes bounds references that fan out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["ToolSchema"]

_SPELLINGS = {
    "null": "null none nil nonetype void",
    "integer": "integer int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short bigint",
    "number": "number float float32 float64 double decimal numeric real",
    "boolean": "boolean bool",
    "object": "object dict dictionary map mapping hashmap record struct json",
    "array": "array list tuple set sequence vector",
    "string": "string str text char varchar",
}
TYPE_OF = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_SINGLE = {spelling: frozenset({name}) for spelling, name in TYPE_OF.items()}
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "nullable"})

_NONE: frozenset[str] = frozenset()
_BUDGET = 4096  # nodes visited for one answer
_MAX_DEPTH = 100  # nodes below one another, far below Python's own recursion limit


class _Types(NamedTuple):
    known: frozenset[str]
    open: bool


_UNKNOWN = _Types(_NONE, True)


class ToolSchema:
    """The `parameters` schema of one tool. Read only; may be shared by any number of responses."""

    __slots__ = ("_cache", "_declared", "_inside", "_left", "_node", "_root", "_searched")

    def __init__(self, parameters: object, root: object = None) -> None:
        self._node = parameters
        self._root: object = parameters if root is None else root  # what references point into
        self._cache: dict[str, frozenset[str]] = {}
        self._inside: dict[str | None, ToolSchema] = {}
        self._declared: frozenset[str] | None = None
        self._searched = False
        self._left = 0

    @property
    def declared(self) -> frozenset[str] | None:
        """Names of the declared arguments; None where the schema has no `properties` at all."""
        if not self._searched:
            found: set[str] = set()
            self._left = _BUDGET
            if self._collect(self._node, found, frozenset(), 0):
                self._declared = frozenset(found)
            self._searched = True
        return self._declared

    def declares(self, key: str) -> bool:
        """Whether the argument is declared."""
        declared = self.declared
        return declared is not None and key in declared

    def types(self, key: str) -> frozenset[str]:
        """JSON types allowed for the argument; empty where nothing is known about it."""
        types = self._cache.get(key)
        if types is None:
            types = self._plain(key)
            if types is not None:
                self._cache[key] = types
                return types
            if not self.declares(key):
                return _NONE
            self._left = _BUDGET
            found = self._property(self._node, key, frozenset(), 0) or _UNKNOWN
            types = self._cache[key] = _closed(found)
        return types

    def _plain(self, key: str) -> frozenset[str] | None:
        """The answer for an argument with one type and nothing beside it, as most are; None: it takes more."""
        root = self._node
        if not isinstance(root, dict) or not _COMBINING.isdisjoint(root):
            return None
        properties = root.get("properties")
        return _single(properties.get(key)) if isinstance(properties, dict) else None

    @property
    def own_types(self) -> frozenset[str]:
        """JSON types allowed for the value itself; empty where nothing is known about it."""
        single = _single(self._node)
        if single is not None:
            return single
        self._left = _BUDGET
        return _closed(self._types(self._node, frozenset(), 0))

    def below(self, key: str | None) -> ToolSchema:
        """The schema of a value inside this one: of the member ``key``, or of an array's items (None)."""
        inside = self._inside.get(key)
        if inside is None:
            self._left = _BUDGET
            nodes = list(self._alternatives(self._node, frozenset(), 0))
            if key is None:
                found = _schemas(node.get("items") for node in nodes)
                found += _schemas(item for node in nodes for item in _members(node, "prefixItems"))
            else:
                members = (node.get("properties") for node in nodes)
                found = _schemas(part.get(key) for part in members if isinstance(part, dict))
                found = found or _schemas(node.get("additionalProperties") for node in nodes)
            inside = ToolSchema({"anyOf": found} if len(found) > 1 else found[0] if found else None, self._root)
            if key is None or self.declares(key):
                self._inside[key] = inside
        return inside

    def _alternatives(self, node: object, seen: frozenset[str], depth: int) -> Iterator[dict[object, object]]:
        """The node and all that it refers to or combines."""
        if not isinstance(node, dict) or not self._spend(depth):
            return
        yield node
        reference = node.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            yield from self._alternatives(self._resolve(reference), seen | {reference}, depth + 1)
        for word in ("allOf", "anyOf", "oneOf"):
            for member in _members(node, word):
                yield from self._alternatives(member, seen, depth + 1)

    # -- arguments: `properties`, also below $ref and the combinators of the top-level schema

    def _collect(self, node: object, found: set[str], seen: frozenset[str], depth: int) -> bool:
        """Add the declared names below `node`; whether there was any `properties`."""
        if not isinstance(node, dict) or not self._spend(depth):
            return False
        properties = node.get("properties")
        any_properties = isinstance(properties, dict)
        if isinstance(properties, dict):
            found.update(key for key in properties if isinstance(key, str))
        reference = node.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            target = self._resolve(reference)
            any_properties |= self._collect(target, found, seen | {reference}, depth + 1)
        for word in ("allOf", "anyOf", "oneOf"):
            for member in _members(node, word):
                any_properties |= self._collect(member, found, seen, depth + 1)
        return any_properties

    def _property(self, node: object, key: str, seen: frozenset[str], depth: int) -> _Types | None:
        """Types of the argument as `node` declares it; None where it does not."""
        if not isinstance(node, dict) or not self._spend(depth):
            return None
        parts: list[_Types | None] = []
        properties = node.get("properties")
        if isinstance(properties, dict) and key in properties:
            parts.append(self._types(properties[key], frozenset(), depth + 1))
        reference = node.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            parts.append(self._property(self._resolve(reference), key, seen | {reference}, depth + 1))
        parts += (self._property(member, key, seen, depth + 1) for member in _members(node, "allOf"))
        for word in ("anyOf", "oneOf"):
            # A branch which does not mention the argument says nothing about its type.
            branches = [self._property(member, key, seen, depth + 1) for member in _members(node, word)]
            parts.append(_fold(_union, branches))
        return _fold(_intersection, parts)

    # -- types of one schema node

    def _types(self, node: object, seen: frozenset[str], depth: int) -> _Types:
        if node is False:
            return _Types(_NONE, False)
        if not isinstance(node, dict) or not self._spend(depth):
            return _UNKNOWN
        result = _named(node.get("type"))
        if not result.known:
            result = _intersection(result, _of_values(node))
        reference = node.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            target = self._types(self._resolve(reference), seen | {reference}, depth + 1)
            result = _intersection(result, target)
        for member in _members(node, "allOf"):
            result = _intersection(result, self._types(member, seen, depth + 1))
        for word in ("anyOf", "oneOf"):
            branches = [self._types(member, seen, depth + 1) for member in _members(node, word)]
            result = _intersection(result, _fold(_union, branches) or _UNKNOWN)
        if result == _UNKNOWN:
            if isinstance(node.get("properties"), dict):
                result = _Types(frozenset({"object"}), False)
            elif "items" in node or "prefixItems" in node:
                result = _Types(frozenset({"array"}), False)
        if node.get("nullable") is True:
            result = _Types(result.known | {"null"}, result.open)
        return result

    def _resolve(self, reference: str) -> object:
        """Target of a local JSON pointer; None (a node of unknown type) where it leads nowhere."""
        pointer = unquote(reference[1:])
        if not reference.startswith("#") or (pointer and not pointer.startswith("/")):
            return None  # another document, or an anchor
        node = self._root
        for written in pointer.split("/")[1:]:
            step = written.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict):
                node = node.get(step)
            elif isinstance(node, list) and step.isascii() and step.isdigit() and len(step) < 6:
                node = node[int(step)] if int(step) < len(node) else None
            else:
                return None
        return node

    def _spend(self, depth: int) -> bool:
        self._left -= 1
        return self._left >= 0 and depth < _MAX_DEPTH


def _single(node: object) -> frozenset[str] | None:
    """The type of a node that names one and says nothing beside it."""
    if not isinstance(node, dict) or not _COMBINING.isdisjoint(node):
        return None
    written = node.get("type")
    return _SINGLE.get(written) if isinstance(written, str) else None


def _closed(types: _Types) -> frozenset[str]:
    """The set of types to read by: what may be anything else as well may be a string."""
    return types.known | {"string"} if types.open and types.known else types.known


def _schemas(parts: Iterable[object]) -> list[object]:
    return [part for part in parts if isinstance(part, dict)]


def _members(node: dict[object, object], word: str) -> list[object]:
    members = node.get(word)
    return members if isinstance(members, list) else []


def _union(left: _Types, right: _Types) -> _Types:
    return _Types(left.known | right.known, left.open or right.open)


def _intersection(left: _Types, right: _Types) -> _Types:
    if left.open and right.open:
        return _Types(left.known | right.known, True)  # nothing excluded: hints add up
    if left.open or right.open:
        return right if left.open else left
    common = left.known & right.known
    for narrow, wide in ((left, right), (right, left)):
        if "integer" in narrow.known and "number" in wide.known:
            common |= {"integer"}
    return _Types(common, False)


def _fold(combine: Callable[[_Types, _Types], _Types], parts: Iterable[_Types | None]) -> _Types | None:
    result: _Types | None = None
    for part in parts:
        if part is not None:
            result = part if result is None else combine(result, part)
    return result


def _named(written: object) -> _Types:
    """Types from the value of the keyword `type`: one name or a list of names, in any spelling seen."""
    names = written if isinstance(written, list) else [written]
    known: set[str] = set()
    unknown = not names
    for name in names:
        # "List[str]" and "array<string>" are lists; "str | None" is a union.
        parts = _base(name).split("|") if isinstance(name, str) else [""]
        for part in parts:
            found = TYPE_OF.get(part.strip().lower())
            if found is None:
                unknown = True
            else:
                known.add(found)
    return _Types(frozenset(known), unknown)


def _base(name: str) -> str:
    return name.partition("[")[0].partition("<")[0]


def _of_values(node: dict[object, object]) -> _Types:
    """Types of the values an enum or const lists."""
    result = _UNKNOWN
    values = node.get("enum")
    if isinstance(values, list) and values:
        result = _Types(frozenset(map(_value_type, values)), False)
    if "const" in node:
        result = _intersection(result, _Types(frozenset({_value_type(node["const"])}), False))
    return result


def _value_type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):  # before int: True is an int to Python
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, (list, tuple)) else "string"
