"""The buffer: the one owner of text whose meaning is not settled.

Rules. ``pos`` is where unsettled text begins; whoever settles text moves it with ``advance``. A search in
progress keeps its state here (``scan`` and what follows it), so that no character is looked at again because
another chunk came; moving ``pos`` ends the search. ``mark`` is set at the opener of a block that may turn out
to be no call: the text from there on is kept until the block's identity is out or the block is refuted (machine.py
decides, and moves the mark). ``kept`` holds back raw text of dropped blocks, which is given back if the response
would end with nothing else.

Cost. An append copies only what is unsettled, and text that is held long (arguments before their name, a run
of blanks) grows in place: CPython extends a string in place while nobody else refers to it, so a hold of n
characters costs O(n) however small the chunks are. ``examined`` counts the characters looked at; tests hold
it below a small multiple of the characters received.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .expected import ROOM, Expected

if TYPE_CHECKING:
    from .markers import Node

Run = Callable[[str, int], "re.Match[str] | None"]  # matches a text at a place
BLANKS = " \t\r\n"
_NOT_BLANK = re.compile(r"[^ \t\r\n]").search
_COMPACT = 4096  # settled text that may stay in front before it is cut off


class Buffer:
    """Unsettled text with a position, one search in progress, and a mark."""

    __slots__ = (
        "base", "controls", "end", "examined", "found", "hold", "kept", "mark", "node", "pos", "scan",
        "start", "text",
    )  # fmt: skip

    def __init__(self) -> None:
        self.text = ""
        self.pos = 0
        self.base = 0  # characters cut off in front of ``text``
        self.mark = -1
        self.kept = -1
        self.examined = 0
        self.controls: set[int] | None = None  # characters of control tokens, where the engine tells
        # The search in progress (see markers.py).
        self.scan = 0  # looked at up to here
        self.start = 0  # the candidate begins here
        self.end = 0  # the matched literal ends here
        self.node: Node | None = None  # how far the candidate has matched
        self.found: Any = None  # payload of a match whose guard is undecided
        self.hold = 0  # after a search without result: text from here on must be held

    def append(self, chunk: str, controls: Sequence[tuple[int, int]] | None = None) -> None:
        """Add a chunk; ``controls`` are the spans of the chunk that are control tokens."""
        if self.pos == len(self.text) and self.mark < 0 and self.kept < 0 and controls is None:
            self.base += self.pos  # nothing is held, so no search is in progress
            self.text = chunk
            self.pos = self.scan = 0
            self.controls = None
            return
        floor = self.pos
        if 0 <= self.mark < floor:
            floor = self.mark
        if 0 <= self.kept < floor:
            floor = self.kept
        if floor == len(self.text):
            text = chunk
        elif floor > _COMPACT and floor * 2 > len(self.text):
            text = self.text[floor:] + chunk
        else:
            floor = 0
            text = self.text
            self.text = ""  # the only reference is ours: += extends in place
            text += chunk
        self.text = text
        if floor:
            self.shift(floor)
        if controls is None:
            self.controls = None  # nothing is known about this chunk
        else:
            offset = len(text) - len(chunk)
            if self.controls is None:
                self.controls = set()
            for start, end in controls:
                self.controls.update(range(offset + start, offset + end))

    def shift(self, floor: int) -> None:
        """Follow a cut of so many characters in front."""
        self.base += floor
        self.pos -= floor
        self.scan -= floor
        self.start -= floor
        self.end -= floor
        if self.mark >= 0:
            self.mark -= floor
        if self.kept >= 0:
            self.kept -= floor
        if self.controls:
            self.controls = {at - floor for at in self.controls if at >= floor}

    def advance(self, to: int) -> None:
        """Settle the text up to ``to`` and end the search in progress."""
        self.pos = self.scan = to
        self.node = None
        self.found = None

    def restart(self) -> None:
        """End the search in progress; the text is looked at again from ``pos``."""
        self.advance(self.pos)

    def passed(self, pattern: Run) -> re.Match[str] | None:
        """Settle what the pattern matches at ``pos``: several steps of a reader in one."""
        found = pattern(self.text, self.pos)
        if found is not None:
            self.examined += found.end() - self.pos
            self.advance(found.end())
        return found

    def begins(self, expected: Expected) -> bool:
        """Whether a beginning of that and no more stands at ``pos``; False for a long one, which is looked at once."""
        return len(self.text) - self.pos < ROOM and expected.keeps(self.text[self.pos:])

    def blanks(self) -> int:
        """Index of the first character from ``scan`` on that is no blank, or the end. Moves ``scan`` there."""
        text, end = self.text, self.scan
        if end >= len(text) or text[end] in BLANKS:
            found = _NOT_BLANK(text, end)
            end = found.start() if found else len(text)
        self.examined += end - self.scan + 1
        self.scan = end
        return end

    def skip_blanks(self) -> bool:
        """Settle the blanks at ``pos``; False when the text ends with them."""
        self.scan = self.pos
        self.pos = self.blanks()
        return self.pos < len(self.text)

    def consumed(self) -> int:
        """Characters settled so far; only differences within text that passed the buffer mean anything."""
        return self.base + self.pos
