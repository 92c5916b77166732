"""Payload grammar: a head with the name, then arguments as a tree of elements named after their keys.

    @<invoke name="NAME">@<tags>@<item>a@</item>@<item>b@</item>@</tags>@<seats>2@</seats>@</invoke>

``@`` is the marker that stands before every tag. What an element holds:

* a tree, if a tag comes before any text but blanks, and the schema takes an object or an array (or says nothing); it
  is an array if the schema says so, and without a schema if its first element is named as items are;
* else text, typed by the schema. No text at all is ``[]`` or ``{}`` where the schema takes nothing else.

Text is raw, so a tag may also be data. It counts if it is the element's own closer, or closes something around it, and
another tag follows (blanks between), the input ends or the element cannot be a string; or if it opens an element that
the schema declares beside this one. The own closer may lack its marker if a marked tag other than that closer follows.
All else is data.

Between the tags of a tree blanks mean nothing, a marker may be missing, and a closer of nothing is skipped. Other text
there becomes the member ``$text`` (an item of an array); right inside the call it ends the call, and is text again.
Elements go out as they come, so a repeated one is repeated in the JSON. Values below MAX_DEPTH levels are text.
"""

from __future__ import annotations

from .buffer import Buffer
from .calls import Calls, Gate
from .element_tree import Leaf, Tag, TreeWriter, compile_elements
from .expected import Expected
from .head import HeadReader
from .markers import Verdict
from .passing import Passing
from .schema import ToolSchema
from .spec import Elements

MAX_DEPTH = 64
_HEAD, _CONFIRM, _TREE, _MIXED, _OPENED, _TEXT = range(6)
_OWN, _IMPLIED, _CUT = range(3)  # what ends a text


class ElementsReader:
    """Reads one call."""

    __slots__ = (
        "_alone", "_calls", "_confirm", "_constrained", "_end_of_tag", "_ending", "_grammar", "_head", "_leaf",
        "_marked", "_pair", "_peek", "_seen", "_state", "_tag", "_writer",
    )  # fmt: skip

    def __init__(self, spec: Elements, calls: Calls, confirm: bool, constrained: bool) -> None:
        self._grammar = compile_elements(spec)
        self._calls = calls
        self._confirm = confirm
        self._constrained = constrained
        self._head = HeadReader(self._grammar.head)
        self._writer = TreeWriter(calls, ToolSchema(None))
        self._leaf: Leaf | None = None  # the element whose value is text, or not yet known
        self._tag = Tag()
        self._marked = False  # the marker before a tag has been passed
        self._alone = -1  # where it ended, when no tag follows
        self._pair = 0  # where the element in progress begins
        self._peek: Buffer | None = None
        self._seen = False  # the tag behind a marker in text may count, what follows decides
        self._ending = _OWN
        self._end_of_tag = 0
        self._state = _HEAD
        calls.head()

    scanner = None  # see Reader

    @property
    def passing(self) -> Passing | None:
        """See Reader."""
        return self._grammar.passing if self._state == _TEXT and self._leaf is not None and self._leaf.passing else None

    def expected(self, buf: Buffer) -> Expected | None:
        """See Reader."""
        if self._state == _OPENED:
            return self._grammar.marked_tag
        if self._state == _HEAD:
            return self._head.expected
        return self._grammar.tag if self._state in (_CONFIRM, _TREE) else None

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be; see Verdict."""
        while True:
            state = self._state
            verdict: Verdict | None
            if state == _TEXT:
                verdict = self._text(buf, final)
            elif state == _TREE:
                verdict = self._tree(buf, final)
            elif state == _OPENED:
                verdict = self._opened(buf, final)
            elif state == _MIXED:
                verdict = self._mixed(buf, final)
            elif state == _HEAD:
                verdict = self._head.feed(buf, final)
                if verdict is Verdict.DONE:
                    self._state = _CONFIRM
                    verdict = None if self._confirm else self._begin()
            else:
                verdict = self._confirmed(buf, final)
            if verdict is not None:
                return verdict

    # -- identity -------------------------------------------------------------------------------------------

    def _begin(self) -> Verdict | None:
        name = self._head.slots["name"]
        self._writer = TreeWriter(self._calls, self._calls.schema(name))
        self._state = _TREE
        return Verdict.REFUTED if self._calls.begin(name) is Gate.TEXT else None

    def _confirmed(self, buf: Buffer, final: bool) -> Verdict | None:
        """A bare call counts only if an element or its end follows."""
        found = self._next_tag(buf, final, must_be_marked=False)
        if found is None:
            return Verdict.MORE
        tag = self._tag.text
        if found and (tag[0] != "/" or tag == self._grammar.tail):
            buf.restart()
            return self._begin()
        at_end = final and buf.scan >= len(buf.text)
        buf.advance(buf.scan)
        return Verdict.CUT if at_end else Verdict.REFUTED

    # -- tags -----------------------------------------------------------------------------------------------

    def _next_tag(self, buf: Buffer, final: bool, must_be_marked: bool) -> bool | None:
        """The tag behind blanks, its marker optional or not: True once it was read, up to ``scan``; False: none."""
        if not self._marked:
            starts = self._grammar.marker if must_be_marked else self._grammar.starts
            found = starts.after_blanks(buf, final)
            if found is Verdict.MORE:
                return None
            if found is None:
                self._alone = -1
                if final and starts.begins(buf.text, buf.scan):
                    buf.scan = len(buf.text)
                return False
            buf.scan = buf.end if found is True else buf.start
            self._alone = buf.base + buf.end if found is True else -1
            self._marked = True
            self._tag.start()
        read = self._tag.feed(buf, final)
        if read is not None:
            self._marked = False
        return read

    def _tree(self, buf: Buffer, final: bool) -> Verdict | None:
        """Inside the call or a tree, outside its elements."""
        found = self._next_tag(buf, final, must_be_marked=False)
        if found is None:
            return Verdict.MORE
        if found:
            return self._take(buf, self._tag.text)
        if final and buf.scan >= len(buf.text):
            self._calls.lost("cut_value", len(buf.text[buf.pos:].strip()))
            buf.advance(len(buf.text))
            return self._end(False)
        if self._alone >= 0:
            buf.advance(self._alone - buf.base)
            self._calls.anomalies["stray_marker"] += 1
            return None
        if self._writer.depth == 1:
            buf.restart()
            return self._end(False)
        self._writer.mixed(buf.text[buf.pos:buf.scan])
        buf.advance(buf.scan)
        self._state = _MIXED
        return None

    def _mixed(self, buf: Buffer, final: bool) -> Verdict | None:
        """In text between the elements of a tree."""
        marker = self._grammar.marker.search(buf, final)
        end = buf.start if marker is not None else len(buf.text) if final else buf.hold
        self._writer.mixed(buf.text[buf.pos:end])
        if marker is None and not final:
            buf.pos = end  # the search goes on where it is
            return Verdict.MORE
        buf.advance(end)
        self._state = _TREE
        return None

    def _take(self, buf: Buffer, tag: str) -> Verdict | None:
        """A tag of a tree, which ends at ``scan``."""
        grammar = self._grammar
        if tag == grammar.tail:
            self._close_trees(1)
            buf.advance(buf.scan)
            return self._end(True)
        if grammar.ends_call(tag):
            self._calls.anomalies["missing_closer"] += 1
            self._close_trees(1)
            buf.restart()
            return self._end(True)
        self._pair = self._calls.position()
        buf.advance(buf.scan)
        if tag[0] != "/":
            if self._writer.in_array and tag != grammar.item:
                self._calls.lost("renamed_item", len(tag))
            self._leaf = Leaf(self._writer, tag, self._constrained)
            self._state = _OPENED
            return None
        depth = self._writer.depth_of(tag[1:])
        if depth:
            self._close_trees(depth)
            self._writer.close()
        else:
            self._calls.lost("stray_marker", len(tag))
        return None

    def _close_trees(self, depth: int) -> None:
        """Close what is deeper than ``depth`` and lacks its closer."""
        while self._writer.depth > depth:
            self._calls.anomalies["missing_closer"] += 1
            self._writer.close()

    def _end(self, complete: bool) -> Verdict:
        self._writer.end()
        self._calls.end(complete)
        return Verdict.DONE

    # -- an element's value ---------------------------------------------------------------------------------

    def _opened(self, buf: Buffer, final: bool) -> Verdict | None:
        """Behind an opening tag: is the value a tree?"""
        leaf = self._leaf
        assert leaf is not None
        if leaf.tree and self._writer.depth < MAX_DEPTH:
            found = self._next_tag(buf, final, must_be_marked=True)
            if found is None:
                return Verdict.MORE
            tag = self._tag.text
            if found and tag[0] != "/" and not self._grammar.ends_call(tag):
                leaf.open_tree(tag == self._grammar.item)
                self._leaf = None
                self._state = _TREE
                buf.restart()
                return None
            buf.restart()
        self._state = _TEXT
        return None

    def _text(self, buf: Buffer, final: bool) -> Verdict | None:
        leaf = self._leaf
        assert leaf is not None
        marker = self._grammar.closers.search(buf, final, self._accept)
        end = buf.start if marker is not None else len(buf.text) if final else buf.hold
        if end > buf.pos:
            leaf.feed(buf.text[buf.pos:end])
        if marker is None and not final:
            buf.pos = end
            return Verdict.MORE
        if marker is None or self._ending == _CUT:
            lost = len(buf.text) - end
            buf.advance(len(buf.text))
            if not leaf.cut():
                lost = self._calls.position() - self._pair
            if lost:
                self._calls.lost("cut_value", lost)
            return self._end(False)
        leaf.close()
        self._leaf = None
        if self._ending == _OWN:
            buf.advance(self._end_of_tag - buf.base)
        else:
            self._calls.anomalies["missing_closer"] += 1
            buf.advance(end)
        self._state = _TREE
        return None

    def _accept(self, buf: Buffer, marked: bool, final: bool) -> bool | None:
        """The guard of a tag in text, behind a marker or not: what it is and what follows decide."""
        peek = self._peek
        if peek is None:
            peek = Buffer()
            peek.base = buf.base
            peek.pos = peek.scan = buf.end if marked else buf.start
            self._seen = False
            self._tag.start()
        elif peek.base != buf.base:
            peek.shift(buf.base - peek.base)
        peek.text = buf.text
        peek.examined = 0
        verdict = self._judge(peek, marked, final)
        buf.examined += peek.examined
        peek.text = ""  # see Buffer.append
        self._peek = peek if verdict is None else None
        return verdict

    def _judge(self, peek: Buffer, marked: bool, final: bool) -> bool | None:
        leaf = self._leaf
        assert leaf is not None
        if not self._seen:
            found = self._tag.feed(peek, final)
            if found is None:
                return None
            if not found:
                self._ending = _CUT
                return marked and final and peek.scan >= len(peek.text)
            tag = self._tag.text
            self._ending = _OWN if tag == "/" + leaf.name else _IMPLIED
            if self._ending == _IMPLIED:
                if not marked:
                    return False
                if tag[0] != "/" and leaf.beside(tag):
                    return True
                if tag != self._grammar.tail and not self._grammar.ends_call(tag) and not leaf.inside(tag[1:]):
                    return False
            self._seen = True
            self._end_of_tag = peek.base + peek.scan
            peek.advance(peek.scan)
        if marked and not leaf.strings:
            return True
        if marked:
            follow = self._grammar.starts.after_blanks(peek, final)
            if follow is Verdict.MORE:
                return None
            return follow is not None or (final and self._grammar.starts.begins(peek.text, peek.scan))
        found = self._next_tag(peek, final, must_be_marked=True)
        return found and self._tag.text != "/" + leaf.name


__all__ = ["ElementsReader"]
