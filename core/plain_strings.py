"""Strings that need no second look, one or a row of them: patterns that take in one go what literals.py and
literal_strings.py take step by step.

A string is plain as long as nothing in it is decoded but what JSON writes alike. Its end is what the template writes:
the quote and, right behind it, a character of the guard. Between two strings of a row stands what the template writes
there, another string's key included: then the next one follows. All else, a single quote mark within the text for
instance, takes the steps of the rules, which decide the same.

The fast path (passing.py) goes by the same patterns. So in a list of strings, and from one string argument to the
next, a chunk never meets a reader: what has begun behind a string's text waits there until the next string is open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from .literal_strings import Ends, StringReader, TokenStringReader
from .passing import Passing
from .values import NEEDS_ESCAPE, escape_json

__all__ = ["ROW", "Plain", "beginning", "plain_opening", "plain_strings"]

ROW = 500  # strings taken at once; a pattern remembers each of them
_KEY = r"[\w.\-]{1,32}"
_UNESCAPED = NEEDS_ESCAPE.pattern[1:-1]


class Plain:
    """Strings of one kind. ``joint`` is what stands between two of a row, "" where there is none; ``{key}`` in it is
    the second one's key."""

    __slots__ = ("_guard", "_joint", "_token", "passing", "quote", "row")

    def __init__(self, quote: str, token: str, guard: str, joint: str) -> None:
        self._token = token
        self._guard = guard
        self._joint: re.Pattern[str] | None = None
        self.quote = token or quote
        mark = [re.escape(char) for char in self.quote]
        if token:
            other = f"[^{mark[0]}]*"
            row = f"{other}(?:{mark[0]}(?!{''.join(mark[1:])}|(?:{beginning(mark[1:])})?\\Z){other})*"
            cut, more = beginning(mark), ""
        else:
            other = f"[^{_UNESCAPED}{quote}]*"
            row = rf'{other}(?:\\["\\bfnrt]{other})*'
            cut, more = r"\\", rf"(?!{quote}|\Z)"  # two quote marks may be the beginning of three
        if joint:
            left, key, right = joint.partition("{key}")
            between = [*map(re.escape, left), *([_KEY] if key else []), *map(re.escape, right)]
            pieces = [*mark, *between, *mark]
            self._joint = re.compile("".join(f"({_KEY})" if piece == _KEY else piece for piece in pieces))
            row += f"(?:{''.join(pieces)}{more}{row}){{0,{ROW}}}"
            cut = beginning(pieces) if token else f"{cut}|{beginning(pieces)}"
        self.row = re.compile(f"{row}({''.join(mark)}(?=[{re.escape(guard)}]))?").match
        stop = re.compile(f"[{_UNESCAPED}{mark[0]}]").search
        possible = re.compile(rf"(?!{row}\Z)(?:{row}({cut})\Z)?").match
        verbatim = not token and (not joint or f"{quote}{joint}{quote}" == '", "')
        self.passing = Passing(stop, possible, None if verbatim else self.json, half=1)

    @property
    def in_row(self) -> bool:
        """Another string may follow."""
        return self._joint is not None

    def json(self, text: str) -> str:
        """Text of strings, and what is between them, as JSON."""
        if self._joint is None or self.quote not in text:
            return escape_json(text) if self._token else text
        pieces = self._joint.split(text)
        if self._token:
            pieces = [escape_json(piece) for piece in pieces]
        if not self._joint.groups:
            return '", "'.join(pieces)
        pieces[1::2] = [f'", "{key}": "' for key in pieces[1::2]]
        return "".join(pieces)

    def reader(self, ends: Ends) -> StringReader:
        """Of the rest of a string that is not plain."""
        if self._token:
            return TokenStringReader(self._token, self._guard, ends)
        return StringReader(self.quote, False, self._guard, ends)


def beginning(pieces: Sequence[str]) -> str:
    """A pattern for one or more of these patterns in a row, from the first one on."""
    found = ""
    for piece in reversed(pieces):
        found = f"{piece}(?:{found})?" if found else piece
    return found


@lru_cache(maxsize=256)
def plain_strings(quote: str, token: str, guard: str, joint: str) -> Plain:
    """The strings between two quote marks, or two tokens of a family's own."""
    return Plain(quote, token, guard, joint)


@lru_cache(maxsize=64)
def plain_opening(token: str) -> Callable[[str, int], re.Match[str] | None]:
    """What opens a string: a token; or a single quote mark, which the next character tells from other ones."""
    return re.compile(f" ?{re.escape(token)}" if token else r" ?([\"'])(?!\1|\Z)").match
