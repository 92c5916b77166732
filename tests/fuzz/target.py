"""The fuzz target: bytes become one response of one dialect, and what soup.py asks of it must hold.

The first bytes choose dialect, options, tools and chunking. Of the rest a byte below 0x80 is that character, one above
is a piece of the dialect's markup, a few begin longer units; so a mutation of a byte is a mutation of a piece.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from corpus import all_lines, std_tools
from harness import CONTROL_MARKERS, cut, pieces
from material import payloads_of
from soup import COMMON, OWN, SLOT, WORD, check_text, numbered

from toolglot.core import list_dialects
from toolglot.core.spec import Builtin, CallSyntax, Elements, Envelope, Named, Tagged

INPUTS = Path(__file__).parent / "inputs"
GRAMMARS = {kind.__name__.lower(): kind for kind in (Envelope, Named, Tagged, Elements, CallSyntax, Builtin)}
LONGEST = 4096  # characters of one input
WIDE, REPEAT, UNIT, ASTRAL = 0xF0, 0xF8, 0xFC, 0xFE  # from here on: a piece of two bytes, a run, a character
REASONS = (None, "stop", "length", "tool_calls")
CHOICES: tuple[Any, ...] = (None, None, None, "none", {"type": "function", "function": {"name": "add"}})


@cache
def dialects_of(grammar: str) -> tuple[str, ...]:
    """The dialects whose payloads are of this grammar, or hold one."""
    return tuple(name for name in list_dialects() if GRAMMARS[grammar] in payloads_of(name))


@cache
def pieces_of(dialect: str) -> tuple[str, ...]:
    """What a byte may stand for: the markup of the dialect, then what is odd in all of them."""
    return tuple(piece for piece in dict.fromkeys([*CONTROL_MARKERS[dialect], *OWN[dialect], *COMMON]) if piece)


@cache
def markers_of(dialect: str) -> re.Pattern[str]:
    """What may be a control token."""
    markers = sorted(CONTROL_MARKERS[dialect], key=len, reverse=True)
    return re.compile("|".join(map(re.escape, markers)) or "(?!)")


@dataclass(frozen=True)
class Case:
    """One response, as it is handed to the parser; ``chunking``: 0 is each character, else see `chunked`."""

    dialect: str
    text: str
    options: dict[str, Any] = field(default_factory=dict)
    tools: str = "std"
    reason: str | None = None
    chunking: int = 0
    controls: bool = False  # whether the engine says which markers are control tokens

    def to_json(self) -> str:
        """One line, without what is as usual."""
        usual = asdict(Case("", ""))
        return json.dumps({key: value for key, value in asdict(self).items() if value != usual[key] or key == "text"})

    def chunked(self) -> Iterator[tuple[str, list[str]]]:
        """The chunking that is held against the whole text: a size below 16, else random places."""
        if self.chunking < 16:
            yield f"chunks of {self.chunking + 1}", list(pieces(self.text, self.chunking + 1))
            return
        dice = random.Random(self.chunking)
        places = sorted(dice.randrange(len(self.text) + 1) for _ in range(1 + self.chunking % 16))
        yield f"cut at {places}", cut(self.text, places)

    def check(self) -> None:
        """Raise whatever the parser raises, or an AssertionError that says what does not hold."""
        tools = {"std": std_tools(), "none": [], "unknown": None}[self.tools]
        spans = [found.span() for found in markers_of(self.dialect).finditer(self.text)] if self.controls else None
        check_text(self.dialect, self.text, self.options, tools, self.reason, self.chunked(), spans)


def decode(data: bytes, grammar: str) -> Case:
    """The case that these bytes stand for; any bytes stand for one."""
    head = data[:6].ljust(6, b"\0")
    dialects = dialects_of(grammar)
    bits = head[1]
    options: dict[str, Any] = {}
    if bits & 3:
        options["starts_in_reasoning"] = bits & 3 == 1
    if bits & 12:
        options["undeclared_tools"] = ("drop", "pass", "text")[(bits >> 2 & 3) - 1]
    if bits & 48:
        options["reasoning_calls"] = ("resume", "end", "keep")[(bits >> 4 & 3) - 1]
    if bits & 64:
        options["arguments"] = "complete"
    if bits & 128:
        options["parallel_tool_calls"] = False
    more = head[2]
    if more & 3 == 3:
        options["reasoning"] = False
    if more & 12 == 12:
        options["previous_calls"] = more >> 4 & 3
    if more & 64:
        options["constrained"] = True
    tools = ("std", "std", "std", "std", "std", "std", "unknown", "none")[head[3] & 7]
    choice = CHOICES[(head[3] >> 3) % len(CHOICES)]
    if choice is not None and (tools == "std" or isinstance(choice, str)):
        options["tool_choice"] = choice
    dialect = dialects[head[0] % len(dialects)]
    text = numbered(_soup(data[6:], pieces_of(dialect)).replace("zq", "z"))  # words are the target's own
    return Case(dialect, text, options, tools, REASONS[head[4] % len(REASONS)], head[5], more >= 128)


def _soup(data: bytes, markup: tuple[str, ...]) -> str:
    parts: list[str] = []
    size, at = 0, 0
    times = 1
    while at < len(data) and size < LONGEST:
        byte = data[at]
        after = data[at + 1 : at + 4].ljust(3, b"\0")
        at += 1
        if byte < 0x80:
            unit = chr(byte)
        elif byte < WIDE:
            unit = markup[(byte - 0x80) % len(markup)]
        elif byte < REPEAT:
            unit = markup[((byte - WIDE) * 256 + after[0]) % len(markup)]
            at += 1
        elif byte < UNIT:
            times = after[0] + 1
            at += 1
            continue
        elif byte < ASTRAL:
            unit = chr(after[0] << 8 | after[1])  # surrogates included
            at += 2
        else:
            unit = chr(0x10000 + ((after[0] << 16 | after[1] << 8 | after[2]) & 0xFFFFF))
            at += 3
        unit *= min(times, 1 + (LONGEST - size) // len(unit))
        times = 1
        parts.append(unit)
        size += len(unit)
    return "".join(parts)


def encode(dialect: str, grammar: str, raw: str) -> bytes:
    """Bytes that stand for a text under the usual options."""
    raw = WORD.sub(SLOT, raw)
    markup = sorted(enumerate(pieces_of(dialect)), key=lambda piece: -len(piece[1]))
    found = bytearray([dialects_of(grammar).index(dialect), 0, 0, 0, 0, 0])
    at = 0
    while at < len(raw):
        char = ord(raw[at])
        piece = next(((number, text) for number, text in markup if len(text) > 1 and raw.startswith(text, at)), None)
        if piece is not None:
            found += bytes([WIDE + piece[0] // 256, piece[0] % 256] if piece[0] >= WIDE - 0x80 else [0x80 + piece[0]])
            at += len(piece[1])
            continue
        if char < 0x80:
            found.append(char)
        elif char < 0x10000:
            found += bytes([UNIT, char >> 8, char & 255])
        else:
            found += bytes([ASTRAL, char - 0x10000 >> 16, char >> 8 & 255, char & 255])
        at += 1
    return bytes(found)


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The input with other options and chunking, and units struck out, doubled and put in."""
    found = bytearray(data.ljust(6, b"\0"))
    for place in range(1, 6):
        if dice.random() < 0.3:
            found[place] = dice.randrange(256)
    for _ in range(dice.randint(1, 6)):
        at = dice.randint(6, len(found))
        end = at + dice.choice((0, 0, 1, 1, 3, 10, 40))
        doubled = found[at:end] if dice.random() < 0.5 else b""
        new = [dice.randrange(256)] if dice.random() < 0.8 else [REPEAT, dice.choice((2, 9, 70, 255))]
        found[at:end] = bytes([*doubled, *new, *doubled])
    return bytes(found)


def kept(grammar: str) -> list[Case]:
    """Inputs that coverage-guided runs have kept, committed under inputs/."""
    file = INPUTS / f"{grammar}.jsonl"
    return [Case(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def seeds(grammar: str) -> list[bytes]:
    """What fuzzing begins with: the corpus lines of all dialects with this grammar, and what was kept."""
    lines = [(line.dialect, line.raw) for line in all_lines() if line.dialect in dialects_of(grammar)]
    cases = [(case.dialect, case.text) for case in kept(grammar)]
    return [encode(dialect, grammar, text) for dialect, text in (*lines, *cases) if len(text) < LONGEST]
