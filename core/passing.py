"""Text that needs neither a region's matcher nor a reader: what the parser's fast path may let through.

A chunk without a single character of consequence goes out unchanged; that is one look at the chunk. One that has such
characters, but in which no literal can begin, goes out too, escaped where it becomes part of a JSON string; that is a
second look, and no state is touched but that the beginning of a literal at its end waits for the next chunk. The rest
takes the slow path, which decides the same for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

__all__ = ["ANYTHING", "DEPTH", "Passing", "Search", "beginnings"]

Search = Callable[[str], "re.Match[str] | None"]

DEPTH = 4  # characters of a literal that are looked at: more of them cost more than they save


class Passing:
    """``stop`` finds what keeps text from going out unchanged, ``possible`` what keeps it from going out escaped.

    ``possible`` is None where such text always needs the slow path, ``escape`` where nothing is escaped. A match that
    has a ``lastindex`` is no more than the beginning of something, the group ``half``. With ``lines`` it matters
    whether text begins a line; newlines are then among what ``stop`` finds. ``keeps`` says of text from such a match on
    whether it still decides nothing.
    """

    __slots__ = ("escape", "half", "keeps", "lines", "possible", "stop")

    def __init__(
        self,
        stop: Search,
        possible: Search | None = None,
        escape: Callable[[str], str] | None = None,
        *,
        half: int = 0,
        lines: bool = False,
        keeps: Callable[[str], bool] | None = None,
    ) -> None:
        self.stop = stop
        self.possible = possible
        self.escape = escape
        self.half = half
        self.lines = lines
        self.keeps = keeps


ANYTHING = Passing(lambda text: None)  # nothing can matter


def beginnings(literals: Iterable[str], escapes: Iterable[str] = ()) -> Search | None:
    """Search for what may be one of the literals: its first characters, or fewer of them at the end of the text.

    In the latter case, and only then, the match has a ``lastindex``. ``escapes`` matter only where the text ends within
    one. None where there is nothing to search for.
    """
    found = [_beginning(first, rest, DEPTH - 1) for first, rest in _by_first(literals)]
    cut = sorted({escape[:size] for escape in escapes for size in range(1, len(escape))}, reverse=True)
    found += [rf"(?:{'|'.join(map(re.escape, cut))})\Z()"] if cut else []
    return re.compile("|".join(found)).search if found else None


def _by_first(literals: Iterable[str]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for literal in sorted(set(literals)):
        groups.setdefault(literal[0], []).append(literal[1:])
    return list(groups.items())


def _beginning(first: str, rest: list[str], depth: int) -> str:
    if depth == 0 or "" in rest:
        return re.escape(first)
    longer = "|".join(_beginning(*group, depth - 1) for group in _by_first(rest))
    return rf"{re.escape(first)}(?:{longer}|\Z())"
