"""The parts of a tree of elements: its tags, the trees in progress and how they become JSON (see elements.py)."""

from __future__ import annotations

import re
from functools import lru_cache

from .buffer import Buffer
from .calls import Calls
from .expected import Expected
from .head import compile_head
from .markers import Matcher
from .passing import Passing, beginnings
from .schema import ToolSchema
from .spec import Elements
from .values import NEEDS_ESCAPE, Encoder, escape_json, make_encoder

_TAG_RUN = re.compile(r"[^<>\n]{0,257}").match
_TAG_LIMIT = 256
_TREES = frozenset({"object", "array"})


class ElementsGrammar:
    """An Elements payload, compiled. ``tail`` and ``item`` are as they stand between the brackets of a tag."""

    def __init__(self, spec: Elements) -> None:
        # The newline is a seam: blanks may stand behind the marker, which may be missing.
        self.head = compile_head(f"{spec.space}\n{spec.head}", (spec.space,))
        self.tail = spec.tail.strip()[1:-1]
        self.item = spec.item
        self._around = tuple(tag.strip()[1:-1] for tag in spec.around)
        self._next = spec.head.partition("{name}")[0].strip()[1:-1]  # of the next call, without the quote
        self.marker: Matcher[bool] = Matcher([(spec.space, True)])
        self.starts: Matcher[bool] = Matcher([(spec.space, True), ("<", False)])
        self.closers: Matcher[bool] = Matcher([(spec.space, True), ("</", False)])
        opens = (f"{spec.space}<", f"{spec.space}</")
        self.tag = Expected((), (*opens, "</"))
        self.marked_tag = Expected((), opens)
        firsts = "".join(re.escape(char) for char in sorted(self.closers.firsts))
        stop = re.compile(f"[{firsts}]|{NEEDS_ESCAPE.pattern}").search
        self.passing = Passing(stop, beginnings([spec.space, "</"]), escape_json)

    def ends_call(self, tag: str) -> bool:
        """Whether the tag belongs to what encloses the call, or opens the next one."""
        return tag in self._around or tag.startswith(self._next)


@lru_cache(maxsize=64)
def compile_elements(spec: Elements) -> ElementsGrammar:
    """The grammar of an Elements payload."""
    return ElementsGrammar(spec)


class Tag:
    """Reads one tag from a buffer's ``scan`` on, which it moves behind it."""

    __slots__ = ("_begin", "text")

    def __init__(self) -> None:
        self.text = " "  # between the brackets
        self._begin = -1

    def start(self) -> None:
        """Before a tag."""
        self._begin = -1

    def feed(self, buf: Buffer, final: bool) -> bool | None:
        """True: read. False: no tag. None: needs more text."""
        if self._begin < 0:
            at = buf.blanks()
            if at == len(buf.text):
                return False if final else None
            if buf.text[at] != "<":
                return False
            buf.scan = at + 1
            self._begin = buf.base + buf.scan
        begin = self._begin - buf.base
        run = _TAG_RUN(buf.text, buf.scan)
        end = min(run.end() if run else buf.scan, begin + _TAG_LIMIT + 1)  # the run begins at the chunk
        buf.examined += end - buf.scan + 1
        buf.scan = end
        if end - begin > _TAG_LIMIT:
            return False
        if end == len(buf.text):
            return False if final else None
        if buf.text[end] != ">" or not buf.text[begin:end].strip("/ \t\r"):
            return False
        self.text = buf.text[begin:end]
        buf.scan = end + 1
        return True


class _Tree:
    """A tree in progress: an object or an array."""

    __slots__ = ("array", "count", "mixed", "name", "schema")

    def __init__(self, name: str, schema: ToolSchema, array: bool) -> None:
        self.name = name
        self.schema = schema
        self.array = array
        self.count = 0  # members given
        self.mixed: list[str] = []  # text between them


class TreeWriter:
    """Writes trees as JSON while they come."""

    __slots__ = ("_calls", "_trees")

    def __init__(self, calls: Calls, schema: ToolSchema) -> None:
        self._calls = calls
        self._trees = [_Tree("", schema, False)]

    @property
    def depth(self) -> int:
        """How many trees are open, the arguments themselves being the first."""
        return len(self._trees)

    @property
    def in_array(self) -> bool:
        """Whether the innermost tree is an array."""
        return self.inner.array

    @property
    def inner(self) -> _Tree:
        """The innermost open tree."""
        return self._trees[-1]

    def depth_of(self, name: str) -> int:
        """Depth of the innermost open tree of that name; 0: none."""
        for depth in range(len(self._trees), 1, -1):
            if self._trees[depth - 1].name == name:
                return depth
        return 0

    def schema_of(self, name: str) -> ToolSchema:
        """The schema of a member of the innermost tree."""
        return self.inner.schema.below(None if self.inner.array else name)

    def member(self, name: str, text: str) -> None:
        """A member of the innermost tree, or its beginning; the rest is ``put``."""
        tree = self.inner
        separator = ", " if tree.count else "{" if len(self._trees) == 1 else ""
        key = "" if tree.array else f'"{escape_json(name)}": '
        tree.count += 1
        self._calls.arguments(separator + key + text)

    def put(self, text: str) -> None:
        """More of a member."""
        if text:
            self._calls.arguments(text)

    def open(self, name: str, schema: ToolSchema, array: bool) -> None:
        """A member that is a tree."""
        self.member(name, "[" if array else "{")
        self._trees.append(_Tree(name, schema, array))

    def mixed(self, text: str) -> None:
        """Text between members."""
        self.inner.mixed.append(text)

    def count(self, anomaly: str) -> None:
        """Count an odd spelling."""
        self._calls.anomalies[anomaly] += 1

    def close(self) -> None:
        """End the innermost tree."""
        text = "".join(self.inner.mixed)
        if text.strip():
            self.member("$text", f'"{escape_json(text)}"')
        self._calls.arguments("]" if self._trees.pop().array else "}")

    def end(self) -> None:
        """End all trees."""
        while len(self._trees) > 1:
            self.close()
        self._calls.arguments("}" if self.inner.count else "{}")


class Leaf:
    """An element whose value is text, or not yet known to be a tree."""

    __slots__ = ("_blank", "_encoder", "_given", "_schema", "_types", "_writer", "name", "strings", "tree")

    def __init__(self, writer: TreeWriter, name: str, constrained: bool) -> None:
        self.name = name
        self._writer = writer
        self._schema = writer.schema_of(name)
        self._types = self._schema.own_types
        self.tree = not self._types or bool(self._types & _TREES)  # may be one
        self.strings = not self._types or "string" in self._types  # may be one
        self._encoder: Encoder = make_encoder(self._types, constrained=constrained)
        self._given = False
        self._blank = True  # nothing but blanks so far

    @property
    def passing(self) -> bool:
        """Text that needs no escape would go out unchanged."""
        return self._given and self._encoder.streaming

    def open_tree(self, items: bool) -> None:
        """The value is a tree; ``items``: its first element is named as items are."""
        kinds = self._types & _TREES or _TREES
        items = items and not self._schema.declares("item")
        self._writer.open(self.name, self._schema, "array" in kinds and ("object" not in kinds or items))

    def feed(self, text: str) -> None:
        """Text of the value."""
        self._blank = self._blank and text.isspace()
        self._put(self._encoder.feed(text))

    def close(self) -> None:
        """At the value's end."""
        if self._blank and self._types & _TREES and not self.strings:
            self._put("[]" if "array" in self._types else "{}")
            return
        self._put(self._encoder.close())
        if self._encoder.anomaly:
            self._writer.count(self._encoder.anomaly)

    def cut(self) -> bool:
        """The input ended inside the value: close what went out. False: nothing did."""
        closing = self._encoder.cut()
        self._put(closing or "")
        return closing is not None

    def _put(self, text: str) -> None:
        if self._given:
            self._writer.put(text)
        elif text:
            self._given = True
            self._writer.member(self.name, text)

    def beside(self, tag: str) -> bool:
        """Whether the tag opens an element that the schema declares beside this one."""
        return not self._writer.inner.array and self._writer.inner.schema.declares(tag)

    def inside(self, name: str) -> bool:
        """Whether this element is inside a tree of that name."""
        return self._writer.depth_of(name) > 0
