"""Strings of the literal transcoder: in Python's quotes, and between two quote tokens of a family's own.

Rules
- A single quote mark ends its string only if blanks and then a character of the guard, a closer of the block, or
  the end of the input, follow; else it is data. A triple ends at the triple. Raw newlines are data.
- Escapes are decoded; an unknown one stays as written (\\N{..} too), one cut by the end of the input is
  dropped; a backslash before a newline removes both. Under the prefix r nothing is decoded.
- A family's own quote token, on both sides of a string, follows the rule of the single quote mark; one that is
  data stands for `"`. Nothing is escaped between two of them.

Theory of operation
A reader looks at each character once. What it cannot decide yet it keeps as pieces (blanks behind a quote mark),
or leaves to the caller where a few characters need more text (an escape, a closing triple, half a token).
"""

from __future__ import annotations

import re
from functools import lru_cache

from .passing import Passing, beginnings
from .values import NEEDS_ESCAPE, escape_json

__all__ = ["NO_ENDS", "QUOTED", "Ends", "StringReader", "compile_ends", "open_string", "open_token_string",
           "skip_blanks"]  # fmt: skip

_BLANK_RUN = re.compile(r"[ \t\r\n]*")
_OPENING = re.compile(r"""([rRbBuUfF]{0,2})('{1,3}|"{1,3})?""")
_PREFIXES = frozenset(["", "r", "b", "u", "f", "br", "rb", "fr", "rf"])
QUOTED = {"'": re.compile(r"[\\']"), '"': re.compile(r'[\\"]')}
_STOPS = {"'": re.compile(r"""["'\\\x00-\x1f\ud800-\udfff]"""), '"': NEEDS_ESCAPE}
# Found where a text holds more than plain characters and escapes that JSON writes alike; a backslash at its end is
# half an escape.
_ALIKE = r"""(?:[^"'\\\x00-\x1f\ud800-\udfff]|\\["\\bfnrt])*"""
_OTHER = re.compile(rf"(?!{_ALIKE}\Z)(?:{_ALIKE}(\\)\Z)?")
_DECODED = {quote: Passing(stop.search, _OTHER.match, half=1) for quote, stop in _STOPS.items()}
_VERBATIM = {quote: Passing(stop.search) for quote, stop in _STOPS.items()}
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


class Ends:
    """The closers of the block around a value. Outside strings they end it, whatever is open."""

    __slots__ = ("_literals", "firsts")

    def __init__(self, literals: tuple[str, ...]) -> None:
        self._literals = literals
        self.firsts = "".join(dict.fromkeys(literal[0] for literal in literals))

    def stand(self, text: str, at: int, final: bool) -> bool | None:
        """Whether a closer stands at ``at``; None if more text must tell."""
        if at == len(text) or text[at] not in self.firsts:
            return False
        left = len(text) - at
        for literal in self._literals:
            if text.startswith(literal, at):
                return True
            if left < len(literal) and not final and literal.startswith(text[at:]):
                return None
        return False


NO_ENDS = Ends(())


@lru_cache(maxsize=1024)
def compile_ends(literals: tuple[str, ...]) -> Ends:
    """The closers of a block, compiled."""
    return Ends(literals)


def open_string(
    text: str, pos: int, final: bool, guard: str, ends: Ends = NO_ENDS
) -> tuple[StringReader | None, int]:
    """A reader for the string that begins at `pos`, and where its body does; -1 if more text must tell."""
    found = _OPENING.match(text, pos)
    prefix, quotes = found.groups("") if found else ("", "")
    end = pos + len(prefix) + len(quotes)
    if pos < end == len(text) and len(quotes) < 3 and not final:
        return None, -1
    if not quotes or prefix.lower() not in _PREFIXES:
        return None, pos
    quotes = quotes if len(quotes) == 3 else quotes[0]  # two are an empty string, or one and a quote as data
    return StringReader(quotes, "r" in prefix.lower(), guard, ends), pos + len(prefix) + len(quotes)


class StringReader:
    """The body of one string, from behind its opening quote on."""

    __slots__ = ("_blanks", "_ends", "_guard", "_quote", "_special", "_triple", "_verbatim", "guarding", "passing")

    def __init__(self, quote: str, verbatim: bool, guard: str, ends: Ends) -> None:
        self.passing = (_VERBATIM if verbatim else _DECODED)[quote[0]]
        self._special = QUOTED[quote[0]]
        self._quote = quote[0]
        self._triple = len(quote) == 3
        self._verbatim = verbatim
        self._guard = guard
        self._ends = ends
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
                if self.guarding:
                    break
                continue
            found = self._special.search(text, pos)
            end = found.start() if found else size
            out.append(escape_json(text[pos:end]))
            pos = end
            if pos == size:
                break
            if text[pos] == "\\":
                pos = self._escape(text, pos, final, out)
            else:
                pos, done = self._mark(text, pos, final, out)
            if pos == end:  # more text is needed
                break
        return pos, "".join(out), done

    def _mark(self, text: str, pos: int, final: bool, out: list[str]) -> tuple[int, bool]:
        """At what may be a quote: the position behind it, or `pos` if more text is needed."""
        if self._triple:
            return self._close_triple(text, pos, final, out)
        self.guarding = True
        return pos + 1, False

    def _close(self, text: str, pos: int, final: bool, out: list[str]) -> tuple[int, bool]:
        """Behind a quote mark."""
        end = skip_blanks(text, pos)
        if end > pos:
            self._blanks.append(text[pos:end])
        at_end = end == len(text)
        closed = at_end or text[end] in self._guard or self._ends.stand(text, end, final)
        if closed is None or (at_end and not final):
            return end, False
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
def _of_token(token: str) -> tuple[re.Pattern[str], Passing]:
    first = re.escape(token[0])
    stop = re.compile(f"{NEEDS_ESCAPE.pattern[:-1]}{first}]").search
    return re.compile(first), Passing(stop, beginnings([token]), escape_json)


class TokenStringReader(StringReader):
    """The body of a string between two of a family's own quote tokens."""

    __slots__ = ("_token",)

    def __init__(self, token: str, guard: str, ends: Ends) -> None:
        super().__init__('"', False, guard, ends)
        self._special, self.passing = _of_token(token)
        self._token = token

    def _mark(self, text: str, pos: int, final: bool, out: list[str]) -> tuple[int, bool]:
        if text.startswith(self._token, pos):
            self.guarding = True
            return pos + len(self._token), False
        if not final and len(text) - pos < len(self._token) and self._token.startswith(text[pos:]):
            return pos, False
        out.append(escape_json(text[pos]))
        return pos + 1, False


def open_token_string(
    text: str, pos: int, final: bool, token: str, guard: str, ends: Ends
) -> tuple[StringReader | None, int]:
    """The same as `open_string` for a string between two quote tokens."""
    if text.startswith(token, pos):
        return TokenStringReader(token, guard, ends), pos + len(token)
    if not final and len(text) - pos < len(token) and token.startswith(text[pos:]):
        return None, -1
    return None, pos
