"""Parts of the literal transcoder: string bodies, raw text, scalars, and output that may be held.

Rules
- A single quote mark ends its string only if blanks and then a character of the guard, or the end of the
  input, follow; else it is data. A triple ends at the triple. Raw newlines are data.
- Escapes are decoded; an unknown one stays as written (\\N{..} too), one cut by the end of the input is
  dropped; a backslash before a newline removes both. Under the prefix r nothing is decoded.
- Raw text is everything else: a number, a word, or no literal at all. It ends where its container says,
  but not inside its own brackets and quotes. A quote mark after a letter or digit is an apostrophe.

Theory of operation
A reader looks at each character once. What it cannot decide yet it keeps as pieces (blanks behind a quote
mark, raw text), or leaves to the caller where at most ten characters need more text (an escape, a closing
triple). Output is held as pieces from a mark on; what the mark stands for is put there once it is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from .values import NEEDS_ESCAPE, escape_json, fix_number

__all__ = ["CLOSERS", "Frame", "Output", "RawReader", "StringReader", "open_string", "scalar_json",
           "skip_blanks"]  # fmt: skip

CLOSERS = {"[": "]", "(": ")", "{": "}"}

_BLANK_RUN = re.compile(r"[ \t\r\n]*")
_OPENING = re.compile(r"""([rRbBuUfF]{0,2})('{1,3}|"{1,3})?""")
_PREFIXES = frozenset(["", "r", "b", "u", "f", "br", "rb", "fr", "rf"])
_QUOTED = {"'": re.compile(r"[\\']"), '"': re.compile(r'[\\"]')}
_STOPS = {"'": re.compile(r"""["'\\\x00-\x1f\ud800-\udfff]"""), '"': NEEDS_ESCAPE}
_ESCAPE_LENGTH = {"x": 4, "u": 6, "U": 10, "\r": 3, **dict.fromkeys("01234567", 4)}
_ESCAPE = re.compile(
    r"""\\(?:([\\'"abfnrtv])|(\r\n|[\r\n])|([0-7]{1,3})|"""
    r"""(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(0010[0-9a-fA-F]{4}|000[0-9a-fA-F]{5})))"""
)
_UNFINISHED = re.compile(r"\\(?:[xuU][0-9a-fA-F]*)?")
# Escapes that JSON writes alike, each with the plain text behind it: copied in one go.
_COPIED = re.compile(r"""(?:\\["\\bfnrt][^"'\\\x00-\x1f\ud800-\udfff]*){1,500}""")
_SIMPLE = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))


def skip_blanks(text: str, pos: int) -> int:
    """Position of the first character from `pos` on that is no blank, or the end."""
    found = _BLANK_RUN.match(text, pos)
    return found.end() if found else pos


class Frame:
    """An open container."""

    __slots__ = ("bad", "close", "count", "key", "kind", "mark", "start")

    def __init__(self, opener: str, start: int, mark: int, bad: int) -> None:
        self.kind = opener  # "[" array, ":" object; undecided: "{" and "("
        self.close = CLOSERS[opener]
        self.count = 0  # elements begun
        self.key: str | None = None  # of an object: the key whose value comes next
        self.mark = mark  # where its pieces, or those of its key, begin among the held
        self.start = start  # offset of its opener in all text
        self.bad = bad  # malformed things before it


class Output:
    """JSON pieces on their way out, held while something is undecided."""

    __slots__ = ("_held", "_out", "_source", "depths")

    def __init__(self) -> None:
        self._out: list[str] = []
        self._held: list[str] = []
        self._source: list[str] = []  # what was read while something is held
        self.depths: list[int] = []  # for each undecided thing, the number of containers around it

    def put(self, piece: str) -> None:
        """Add a piece."""
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


def open_string(text: str, pos: int, final: bool, guard: str) -> tuple[StringReader | None, int]:
    """A reader for the string that begins at `pos`, and where its body does; -1 if more text must tell."""
    found = _OPENING.match(text, pos)
    prefix, quotes = found.groups("") if found else ("", "")
    end = pos + len(prefix) + len(quotes)
    if pos < end == len(text) and len(quotes) < 3 and not final:
        return None, -1
    if not quotes or prefix.lower() not in _PREFIXES:
        return None, pos
    quotes = quotes if len(quotes) == 3 else quotes[0]  # two are an empty string, or one and a quote as data
    return StringReader(quotes, "r" in prefix.lower(), guard), pos + len(prefix) + len(quotes)


class StringReader:
    """The body of one string, from behind its opening quote on."""

    __slots__ = ("_blanks", "_guard", "_quote", "_triple", "_verbatim", "guarding", "stop")

    def __init__(self, quote: str, verbatim: bool, guard: str) -> None:
        self.stop = _STOPS[quote[0]]  # text without such a character passes unchanged
        self._quote = quote[0]
        self._triple = len(quote) == 3
        self._verbatim = verbatim
        self._guard = guard
        self.guarding = False  # a quote mark and _blanks were read
        self._blanks: list[str] = []

    def feed(self, text: str, pos: int, final: bool) -> tuple[int, str, bool]:
        """Settle text[pos:]: the position reached, the body's JSON text final now, and whether it ended."""
        out: list[str] = []
        size = len(text)
        done = False
        while not done and (pos < size or (self.guarding and final)):
            if self.guarding:
                pos, done = self._close(text, pos, final, out)
                continue
            found = _QUOTED[self._quote].search(text, pos)
            end = found.start() if found else size
            out.append(escape_json(text[pos:end]))
            pos = end
            if pos == size:
                break
            if text[pos] == "\\":
                pos = self._escape(text, pos, final, out)
            elif not self._triple:
                self.guarding = True
                pos += 1
            else:
                pos, done = self._close_triple(text, pos, final, out)
            if pos == end:  # more text is needed
                break
        return pos, "".join(out), done

    def _close(self, text: str, pos: int, final: bool, out: list[str]) -> tuple[int, bool]:
        """Behind a quote mark."""
        end = skip_blanks(text, pos)
        if end > pos:
            self._blanks.append(text[pos:end])
        at_end = end == len(text)
        if at_end and not final:
            return end, False
        closed = at_end or text[end] in self._guard
        if not closed:
            out += escape_json(self._quote), *map(escape_json, self._blanks)
        self._blanks.clear()
        self.guarding = False
        return end, closed

    def _close_triple(self, text: str, pos: int, final: bool, out: list[str]) -> tuple[int, bool]:
        marks = text[pos : pos + 3]
        if marks == self._quote * 3:
            return pos + 3, True
        if marks == self._quote * len(marks) and pos + len(marks) == len(text) and not final:
            return pos, False
        out.append(escape_json(self._quote))
        return pos + 1, False

    def _escape(self, text: str, pos: int, final: bool, out: list[str]) -> int:
        """At a backslash: the position behind what was decoded, or `pos` if more text is needed."""
        copied = None if self._verbatim else _COPIED.match(text, pos)
        if copied is not None:
            out.append(copied[0])
            return copied.end()
        length = 2 if self._verbatim else _ESCAPE_LENGTH.get(text[pos + 1 : pos + 2], 2)
        if len(text) - pos < length and not final:
            return pos
        if self._verbatim:  # the backslash stays, and keeps a quote mark from ending the string
            out.append(escape_json(text[pos : pos + 2]))
            return min(pos + 2, len(text))
        found = _ESCAPE.match(text, pos)
        if found is None:
            unfinished = _UNFINISHED.match(text, pos)
            if unfinished is not None and unfinished.end() == len(text) < pos + length:
                return len(text)  # cut by the end of the input
            out.append("\\\\")
            return pos + 1
        simple, newline, octal, *codes = found.groups("")
        if simple:
            out.append(escape_json(_SIMPLE[simple]))
        elif not newline:
            out.append(escape_json(chr(int(octal, 8) if octal else int("".join(codes), 16))))
        return found.end()


@lru_cache(maxsize=64)
def _raw_stops(stops: str) -> re.Pattern[str]:
    return re.compile(f"[,:()\\[\\]{{}}'\"{re.escape(stops)}]")


class RawReader:
    """Text whose kind is known at its end."""

    __slots__ = ("_nest", "_nested", "_quote", "_stops", "pieces")

    def __init__(self, stops: str) -> None:
        self.pieces: list[str] = []
        self._stops = _raw_stops(stops)
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
            found = (_QUOTED[self._quote] if self._quote else self._stops).search(text, at)
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
