"""Markup that is likely to come next.

Most of a call's markup is what its template says: literals, and names and keys between them. While the text to come is
no more than a beginning of that, a reader has nothing to decide and nothing to give out, so the parser need not ask it.
Whatever else comes goes to the reader together with what was kept: this decides nothing, it only saves steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["ROOM", "Expected", "beginnings_of"]

_BLANKS = r"[ \t\r\n]*"
ROOM = 256  # characters of a name or key

# One or more spellings of a literal, and the character class of the slot behind it, "" for none.
Part = tuple[Sequence[str], str]


def _either(spellings: Sequence[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(spellings, key=len, reverse=True))


def beginnings_of(literals: Iterable[str]) -> frozenset[str]:
    """All texts that begin one of the literals and are not the whole of it."""
    return frozenset(literal[:size] for literal in literals for size in range(len(literal)))


class Expected:
    """Literals with slots between them and blanks at the seams, then one of the ``ends``, which has to be decided.

    ``others`` are literals that may stand in the place of the first one; ``before`` and ``behind`` are the blanks that
    may stand at either side.
    """

    __slots__ = ("_begun", "_next")

    def __init__(
        self,
        parts: Sequence[Part],
        ends: Iterable[str] = (),
        *,
        others: Iterable[str] = (),
        before: str = _BLANKS,
        behind: str = _BLANKS,
    ) -> None:
        pattern = ""
        stages = [frozenset(ends)]  # what may come next, from the last stage to the first
        for spellings, slot in reversed(parts):
            seam, rest = (_BLANKS, f"(?:{pattern})?") if pattern else (behind, "")
            if slot:
                blanks = _BLANKS
                if re.match(slot, " "):  # blanks count as the slot's own characters
                    blanks = seam = ""
                pattern = rf"({_either(spellings)}){blanks}(?:({slot}{{1,{ROOM}}}){seam}{rest})?"
                stages.append(frozenset())
            else:
                pattern = f"({_either(spellings)}){seam}{rest}"
            stages.append(frozenset(spellings))
        self._begun = re.compile(rf"{before}(?:{pattern})?").match
        self._next = [beginnings_of(literals) | {""} for literals in reversed(stages)]
        self._next[0] |= beginnings_of(others)

    def keeps(self, text: str) -> bool:
        """Whether the text, from where this was expected, is a beginning of it."""
        if text in self._next[0]:
            return True
        begun = self._begun(text)
        assert begun is not None
        return text[begun.end():] in self._next[begun.lastindex or 0]
