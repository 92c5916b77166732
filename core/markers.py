"""Markers and the matcher that finds them.

A matcher is a set of literals compiled to a trie. It searches forward, or matches at one place after optional
blanks. Both keep their state in the buffer, so a literal that arrives one character at a time costs each of its
characters once. The longest literal wins, the leftmost first. Between candidates the text is skipped by one
compiled character class, at C speed; no pattern can backtrack.

Framing newlines are part of the literal: a marker whose template writes a newline in front of it is entered as
``marker`` and as ``\\nmarker``, so a newline is held back exactly as long as a marker may follow.

A guard decides what a literal alone cannot (an anchor, what must follow a closer): ``accept`` returns True,
False, or None while it needs more text. A refused literal is text, and the search goes on behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Literal, TypeVar

from .buffer import Buffer
from .expected import Expected

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Marker:
    """A literal of the protocol.

    ``control``: a control token; where the engine says which spans are control tokens, only those count.
    ``at``: where it counts. "line" is the start of a line, of the response or right after a call; "start" is
    the start of its region, blanks aside; "after_call" is right after a call, blanks aside.
    ``consume``: False when the literal is already the first literal of the payload (``<function=``, ``[``).
    ``plain``: ordinary text, as an unconsumed opener always is: a block that is cut before its identity is text.
    """

    text: str
    control: bool = False
    at: Literal["anywhere", "line", "start", "after_call"] = "anywhere"
    consume: bool = True
    plain: bool = False


class Verdict(Enum):
    """What a reader says about its block after a feed."""

    MORE = 0  # all text is settled or held; needs the next chunk
    DONE = 1  # the payload ended at ``pos``
    REFUTED = 2  # no call: failed at ``pos``, before any identity
    CUT = 3  # the input ended before an identity


class Node:
    """A trie node: the text that leads to it, compared at C speed, then the end of a literal or branches, or both."""

    __slots__ = ("branches", "hit", "prefix")

    def __init__(self, prefix: str, hit: int, branches: dict[str, Node]) -> None:
        self.prefix = prefix
        self.hit = hit  # literal that ends here, or -1
        self.branches = branches

    def behind(self, count: int) -> Node:
        """The node without the characters of its text that have come."""
        return Node(self.prefix[count:], self.hit, self.branches)


def _trie(literals: list[tuple[str, int]]) -> Node:
    first, last = min(literals)[0], max(literals)[0]  # what these two share, all do
    prefix = first[:_common(first, last, 0)]
    hit = -1
    groups: dict[str, list[tuple[str, int]]] = {}
    for text, number in literals:
        rest = text[len(prefix):]
        if rest:
            groups.setdefault(rest[0], []).append((rest[1:], number))
        else:
            hit = number
    return Node(prefix, hit, {first: _trie(group) for first, group in groups.items()})


def _common(literal: str, text: str, at: int) -> int:
    """How many characters of the literal stand at ``at``."""
    count = 0
    for wanted, char in zip(literal, text[at : at + len(literal)], strict=False):
        if wanted != char:
            break
        count += 1
    return count


def char_class(chars: Iterable[str]) -> re.Pattern[str]:
    """A compiled class of single characters."""
    return re.compile("[" + "".join(re.escape(char) for char in sorted(set(chars))) + "]")


class Matcher(Generic[T]):
    """A set of literals, each with a payload."""

    def __init__(self, literals: Iterable[tuple[str, T]]) -> None:
        self.literals = dict(literals)
        self._payloads = list(self.literals.values())
        groups: dict[str, list[tuple[str, int]]] = {}
        for number, text in enumerate(self.literals):
            groups.setdefault(text[0], []).append((text[1:], number))
        self._branches = {first: _trie(group) for first, group in groups.items()}  # by their first character
        self.firsts = frozenset(groups)
        self._stop = char_class(self.firsts).search if self.firsts else None
        self.longest = max(map(len, self.literals), default=0)
        # A literal that stands there as a whole, and is not the beginning of another, needs no trie.
        whole = [text for text in self.literals if not any(o.startswith(text) for o in self.literals if o != text)]
        self._whole = re.compile("|".join(map(re.escape, whole)) or "(?!)").match
        self.expected = Expected((), self.literals)  # of ``after_blanks``

    def search(
        self,
        buf: Buffer,
        final: bool,
        accept: Callable[[Buffer, T, bool], bool | None] | None = None,
        limit: int | None = None,
    ) -> T | None:
        """Find the next literal from ``scan`` on; it lies at ``buf.start:buf.end``.

        None: there is none yet; the text from ``buf.hold`` on may still become one. ``limit``: no literal that
        begins there or later matters.
        """
        text = buf.text
        size = len(text) if limit is None else min(len(text), limit)
        if self._stop is None:
            buf.scan = buf.hold = size
            return None
        while True:
            if buf.found is not None:
                payload: T = buf.found
                verdict = True if accept is None else accept(buf, payload, final)
                if verdict is None:
                    buf.hold = buf.start
                    return None
                buf.found = None
                if verdict:
                    buf.scan = buf.end
                    return payload
                buf.scan = buf.start + 1  # a shorter spelling may start inside
                continue
            node = buf.node
            if node is None:
                first = self._stop(text, buf.scan, size)
                if first is None:
                    buf.examined += size - buf.scan
                    buf.scan = buf.hold = size
                    return None
                buf.start = first.start()
                buf.examined += buf.start - buf.scan + 1
                buf.scan = buf.start + 1
                buf.end = -1
                whole = self._whole(text, buf.start)
                if whole is not None:
                    buf.examined += whole.end() - buf.scan
                    buf.end = whole.end()
                    buf.found = self.literals[whole[0]]
                    continue
                node = self._branches[text[buf.start]]
            if not self._walk(buf, node, final):
                buf.hold = buf.start
                return None
            if buf.found is None:
                buf.scan = buf.start + 1

    def after_blanks(self, buf: Buffer, final: bool) -> T | Literal[Verdict.MORE] | None:
        """Match one literal at ``scan`` after optional blanks; it lies at ``buf.start:buf.end``.

        MORE while blanks or a partial literal reach the end of the text. None when something else follows; the
        search is then over and ``scan`` stands on that character.
        """
        if buf.found is None:
            node = buf.node
            if node is None:
                start = buf.blanks()
                if start == len(buf.text):
                    return None if final else Verdict.MORE
                buf.start = start
                buf.end = -1
                whole = self._whole(buf.text, start)
                if whole is not None:
                    buf.examined += whole.end() - start
                    buf.end = buf.scan = whole.end()
                    return self.literals[whole[0]]
                child = self._branches.get(buf.text[start])
                if child is None:
                    return None
                node = child
                buf.scan = start + 1
            if not self._walk(buf, node, final):
                return Verdict.MORE
        payload: T | None = buf.found
        buf.found = None
        buf.scan = buf.start if payload is None else buf.end
        return payload

    def stands(self, text: str, at: int) -> bool:
        """Whether a literal stands at ``at``."""
        return any(text.startswith(item, at) for item in self.literals)

    def begins(self, text: str, at: int) -> bool:
        """Whether the text from ``at`` to its end is the beginning of a literal, or nothing."""
        return len(text) - at < max(self.longest, 1) and any(item.startswith(text[at:]) for item in self.literals)

    def _walk(self, buf: Buffer, node: Node, final: bool) -> bool:
        """Follow the trie from ``scan``. False: the text ended within a literal. True: ``found`` says which."""
        text = buf.text
        size = len(text)
        at = buf.scan
        hit = -1
        end = -1
        if buf.end >= 0:  # a shorter literal matched in an earlier chunk
            end = buf.end
            hit = self._hit_at(text[buf.start:end])
        while True:
            prefix = node.prefix
            if prefix:
                if not text.startswith(prefix, at):
                    room = size - at
                    if room >= len(prefix) or final or not prefix.startswith(text[at:]):
                        buf.examined += _common(prefix, text, at) + 1
                        break
                    buf.examined += room
                    buf.node = node.behind(room)
                    buf.scan = size
                    buf.end = end
                    return False
                buf.examined += len(prefix)
                at += len(prefix)
            if node.hit >= 0:
                hit, end = node.hit, at
            if not node.branches:
                break
            if at == size:
                if final:
                    break
                buf.node = node.behind(len(prefix))
                buf.scan = at
                buf.end = end
                return False
            buf.examined += 1
            child = node.branches.get(text[at])
            if child is None:
                break
            node = child
            at += 1
        buf.node = None
        if hit >= 0:
            buf.found = self._payloads[hit]
            buf.end = end
            buf.scan = end
        return True

    def _hit_at(self, literal: str) -> int:
        return list(self.literals).index(literal)
