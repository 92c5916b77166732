"""Parts of the literal transcoder: containers, raw text, scalars, and output that may be held.

Rules
- Raw text is everything that is no string (literal_strings.py): a number, a word, or no literal at all. It ends
  where its container says, but not inside its own brackets and quotes, and at a closer of the block. A quote mark
  after a letter or digit is an apostrophe.

Theory of operation
Raw text is kept as pieces; half a closer is left to the caller. Output is held as pieces from a mark on; what the
mark stands for is put there once it is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache

from .literal_strings import NO_ENDS, QUOTED, Ends
from .schema import ToolSchema
from .values import fix_number

__all__ = ["CLOSERS", "Frame", "Output", "RawReader", "scalar_json"]

CLOSERS = {"[": "]", "(": ")", "{": "}"}


class Frame:
    """An open container."""

    __slots__ = ("bad", "close", "count", "key", "kind", "mark", "schema", "start")

    def __init__(self, opener: str, start: int, mark: int, bad: int, schema: ToolSchema | None = None) -> None:
        self.kind = opener  # "[" array, ":" object; undecided: "{" and "("
        self.close = CLOSERS[opener]
        self.count = 0  # elements begun
        self.key: str | None = None  # of an object: the key whose value comes next
        self.mark = mark  # where its pieces, or those of its key, begin among the held
        self.start = start  # offset of its opener in all text
        self.bad = bad  # malformed things before it
        self.schema = schema  # where bare words are typed by it

    @property
    def inner(self) -> ToolSchema | None:
        """The schema of the value that comes next."""
        if self.schema is None:
            return None
        return self.schema.below(json.loads(self.key) if self.key is not None else None)


class Output:
    """JSON pieces on their way out, held while something is undecided."""

    __slots__ = ("_held", "_out", "_source", "depths", "owed")

    def __init__(self) -> None:
        self._out: list[str] = []
        self._held: list[str] = []
        self._source: list[str] = []  # what was read while something is held
        self.depths: list[int] = []  # for each undecided thing, the number of containers around it
        self.owed = ""  # goes out with the next piece

    def put(self, piece: str) -> None:
        """Add a piece."""
        if self.owed:
            self._out.append(self.owed)
            self.owed = ""
        (self._held if self.depths else self._out).append(piece)

    def mark(self) -> int:
        """Where the next held piece will be."""
        return len(self._held)

    @property
    def held(self) -> int:
        """Characters that are held."""
        return sum(map(len, self._held))

    def decide(self, mark: int, piece: str) -> None:
        """What stands at the mark is known, and one thing less is undecided."""
        self._held[mark] = piece
        self.release()

    def release(self) -> None:
        """One thing less is undecided."""
        self.depths.pop()
        if not self.depths:
            self._out += self._held
            self._held.clear()

    def take_back(self, mark: int) -> str:
        """The held text from the mark on, which is held no longer."""
        text = "".join(self._held[mark:])
        del self._held[mark:]
        return text

    def source(self, count: int) -> list[str]:
        """The last `count` characters that were read before this chunk."""
        last: list[str] = []
        for piece in reversed(self._source):
            if count <= 0:
                break
            last.append(piece[-count:])
            count -= len(piece)
        return last[::-1]

    def flush(self, read: str) -> str:
        """What is final, at the end of a chunk of which `read` was settled."""
        if self.depths:
            self._source.append(read)
        else:
            self._source.clear()
        out, self._out = self._out, []
        return "".join(out)


@lru_cache(maxsize=64)
def _raw_stops(stops: str) -> re.Pattern[str]:
    return re.compile(f"[,:()\\[\\]{{}}'\"{re.escape(stops)}]")


class RawReader:
    """Text whose kind is known at its end."""

    __slots__ = ("_ends", "_nest", "_nested", "_quote", "_stops", "pieces")

    def __init__(self, stops: str, ends: Ends = NO_ENDS) -> None:
        self.pieces: list[str] = []
        self._stops = _raw_stops(stops + ends.firsts)
        self._ends = ends
        self._nest: list[str] = []  # closers of the brackets open in it
        self._nested = {")": 0, "]": 0, "}": 0}  # how many of each: no search through a deep nest
        self._quote = ""

    def feed(self, text: str, pos: int, final: bool, ends: Callable[[str], bool]) -> tuple[int, bool]:
        """Take text[pos:]: the position reached, and whether an ending character is there."""
        at, done = self._scan(text, pos, final, ends)
        if at > pos:
            self.pieces.append(text[pos:at])
        return at, done

    def _scan(self, text: str, pos: int, final: bool, ends: Callable[[str], bool]) -> tuple[int, bool]:
        at = pos
        while True:
            found = (QUOTED[self._quote] if self._quote else self._stops).search(text, at)
            if found is None:
                return len(text), False
            char = found[0]
            at = found.end()
            if self._quote:
                if char == self._quote:
                    self._quote = ""
                elif at < len(text):
                    at += 1
                elif not final:
                    return at - 1, False
            elif char in self._ends.firsts and (stands := self._ends.stand(text, at - 1, final)) is not False:
                return at - 1, bool(stands)
            elif char in "'\"":
                before = text[at - 2] if at - 2 >= pos else self.pieces[-1][-1] if self.pieces else ""
                if not (before.isalnum() or before == "_"):
                    self._quote = char
            elif char in CLOSERS:
                self._nest.append(CLOSERS[char])
                self._nested[CLOSERS[char]] += 1
            elif self._nested.get(char):
                closed = ""
                while closed != char:  # a missing bracket is supplied
                    closed = self._nest.pop()
                    self._nested[closed] -= 1
            elif (not self._nest or char in ")]}") and ends(char):
                return at - 1, True


_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_UNDERSCORE = re.compile(r"(?<=[0-9a-fA-FxXoObB])_(?=[0-9a-fA-F])")
_BASED = re.compile(r"[+-]?0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")


def scalar_json(text: str) -> str | None:
    """JSON for a number or word of Python or JSON; None for other text."""
    word = _WORDS.get(text)
    if word is not None:
        return word
    plain = _UNDERSCORE.sub("", text) if "_" in text else text
    number = fix_number(plain)
    if number is None and len(plain) <= 256 and _BASED.fullmatch(plain):  # int to decimal is not linear
        number = str(int(plain, 0))
    return number
