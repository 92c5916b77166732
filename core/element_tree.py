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
from .plain_strings import ROW, beginning
from .schema import ToolSchema
from .spec import Elements
from .values import NEEDS_ESCAPE, Encoder, escape_json, make_encoder

_TAG_RUN = re.compile(r"[^<>\n]{0,257}").match
_TAG_LIMIT = 256
_KEY = r"[\w.\-]{1,32}"
_TREES = frozenset({"object", "array"})
_STRING = frozenset({"string"})
_HALF = re.compile("()").match("")  # see Passing
_NOTHING = re.compile("").match("")


class ElementsGrammar:
    """An Elements payload, compiled. ``tail`` and ``item`` are as they stand between the brackets of a tag."""

    def __init__(self, spec: Elements) -> None:
        # The newline is a seam: blanks may stand behind the marker, which may be missing.
        self.head = compile_head(f"{spec.space}\n{spec.head}", (spec.space,))
        self.tail = spec.tail.strip()[1:-1]
        self.item = spec.item
        self.space = spec.space
        self._around = tuple(tag.strip()[1:-1] for tag in spec.around)
        self._next = spec.head.partition("{name}")[0].strip()[1:-1]  # of the next call, without the quote
        self.marker: Matcher[bool] = Matcher([(spec.space, True)])
        self.starts: Matcher[bool] = Matcher([(spec.space, True), ("<", False)])
        self.closers: Matcher[bool] = Matcher([(spec.space, True), ("</", False)])
        opens = (f"{spec.space}<", f"{spec.space}</")
        self.tag = Expected((), (*opens, "</"))
        self.marked_tag = Expected((), opens)
        firsts = "".join(re.escape(char) for char in sorted(self.closers.firsts))
        self.stop = re.compile(f"[{firsts}]|{NEEDS_ESCAPE.pattern}").search
        begins = beginnings([spec.space, "</"])
        assert begins is not None
        self.begins = begins
        self.passing = Passing(self.stop, self.begins, escape_json)
        # From one element to the next, and text with such places in it, which has a group where half of one ends it.
        between = [*map(re.escape, f"{spec.space}</"), _KEY, ">", *map(re.escape, f"{spec.space}<"), _KEY, ">"]
        self.between = re.compile("".join(f"({piece})" if piece == _KEY else piece for piece in between))
        first, *rest = map(re.escape, spec.space)
        data = rf"(?:{first}(?!{''.join(rest)}|(?:{beginning(rest)})?\Z)|<(?!/|\Z))"
        text = f"[^{firsts}]*(?:{data}[^{firsts}]*)*"
        row = f"{text}(?:{''.join(between)}(?=[^{firsts}]){text}){{0,{ROW}}}"
        self.row = re.compile(rf"(?!{row}\Z)(?:{row}(<|{beginning(between)})\Z)?").match

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

    __slots__ = ("_calls", "_trees", "owed")

    def __init__(self, calls: Calls, schema: ToolSchema) -> None:
        self._calls = calls
        self._trees = [_Tree("", schema, False)]
        self.owed = ""  # goes out with what follows

    def _give(self, text: str) -> None:
        self._calls.arguments(self.owed + text)
        self.owed = ""

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
        self._give(separator + key + text)

    def put(self, text: str) -> None:
        """More of a member."""
        if text:
            self._give(text)

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
        self._give("]" if self._trees.pop().array else "}")

    def end(self) -> None:
        """End all trees."""
        while len(self._trees) > 1:
            self.close()
        self._give("}" if self.inner.count else "{}")


class Leaf:
    """An element whose value is text, or not yet known to be a tree."""

    __slots__ = (
        "_ahead", "_blank", "_encoder", "_given", "_grammar", "_schema", "_types", "_writer", "name", "strings", "tree",
    )  # fmt: skip

    def __init__(self, grammar: ElementsGrammar, writer: TreeWriter, name: str, constrained: bool) -> None:
        self._grammar = grammar
        self._writer = writer
        self._rename(name)
        self._schema = writer.schema_of(name)
        self._types = self._schema.own_types
        self.tree = not self._types or bool(self._types & _TREES)  # may be one
        self.strings = not self._types or "string" in self._types  # may be one
        self._encoder: Encoder = make_encoder(self._types, constrained=constrained)
        self._given = False
        self._blank = True  # nothing but blanks so far

    def _rename(self, name: str) -> None:
        self.name = name
        self._ahead = self._behind(name)

    def _behind(self, name: str) -> str:
        """What stands behind the value if another element follows."""
        return f"{self._grammar.space}</{name}>{self._grammar.space}<"

    @property
    def passing(self) -> Passing | None:
        """See Reader; a string may be followed by others, each of which is this leaf then."""
        if not self._given or not self._encoder.streaming:
            return None
        if not self._in_row:
            return self._grammar.passing
        return Passing(self._grammar.stop, self._possible, self._pass, half=1)

    @property
    def _in_row(self) -> bool:
        """Other strings may follow this one."""
        return self._types == _STRING

    def _possible(self, text: str) -> re.Match[str] | None:
        """See Passing."""
        if self._ahead.startswith(text):
            return _HALF
        grammar = self._grammar
        if grammar.begins(text) is None:
            return None
        found = grammar.row(text)
        if found is not None and found.lastindex is None:
            return found
        name, end = self.name, 0
        for joint in grammar.between.finditer(text):
            if joint[1] != name or not self._may_follow(joint[2]):
                return _NOTHING
            name, end = joint[2], joint.end()
        if found is None:
            return None
        tail, behind = text[max(end, found.start(1)) :], self._behind(name)
        return found if behind.startswith(tail) or tail.startswith(behind) or tail == "<" else _NOTHING

    def _may_follow(self, tag: str) -> bool:
        """Whether the tag opens another string beside this one."""
        if self._writer.in_array:
            return tag == self._grammar.item
        return not self._grammar.ends_call(tag) and self._writer.schema_of(tag).own_types == _STRING

    def _pass(self, text: str) -> str:
        """What the text, of which all was possible, becomes."""
        if self._grammar.space not in text:
            return escape_json(text)
        body, *rest = self._grammar.between.split(text)
        out = escape_json(body)
        for name, body in zip(rest[1::3], rest[2::3], strict=True):
            self._rename(name)
            out += '", "' if self._writer.in_array else f'", "{name}": "'
            out += escape_json(body)
        return out

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
        if self._in_row and self._given:
            self._writer.owed = '"'  # another string may follow, and the fast path waits for that as well
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
