"""The open containers of a literal in progress, and what it has given: see literals.py for the rules.

Every question about the place where something stands is answered here: what ends an element there, what may follow a
string, which type a bare word has.
"""

from __future__ import annotations

from .literal_parts import Frame, Output, scalar_json
from .values import convert, escape_json

__all__ = ["Containers"]


class Containers:
    """Containers that are open, the innermost one last, and the JSON so far."""

    __slots__ = (
        "_bad", "_frames", "_group", "_have", "_output", "_stops", "_token", "lost", "unconverted",
    )  # fmt: skip

    def __init__(self, stops: str) -> None:
        self.lost = 0  # characters without a place in the JSON: half a pair, junk behind a complete value
        self.unconverted = 0  # bare words that do not fit their schema
        self._stops = stops
        self._token = ""  # the family's own quote
        self._have = False  # the element has a value
        self._frames: list[Frame] = []
        self._output = Output()
        self._group: Frame | None = None  # `(x)`, held until what follows is known
        self._bad = 0  # things that were no literal

    # -- places

    @property
    def _before_key(self) -> bool:
        return bool(self._frames) and self._frames[-1].kind == ":" and self._frames[-1].key is None

    @property
    def _guard(self) -> str:
        """What may follow the string that begins here."""
        if not self._token:
            return ",)]}:" + self._stops
        return ",]}" + self._frames[0].close + (":=" if self._before_key else "")

    @property
    def _joint(self) -> str:
        """What is between the string that begins here and one that follows it in a row."""
        kind = self._frames[-1].kind if self._frames and not self._before_key else ""
        if kind == "[":
            return "," if self._token else ", "
        return ",{key}:" if kind == ":" and self._token else ""

    def _ends(self, char: str) -> bool:
        """Whether the character, outside strings and raw brackets, ends the element before it."""
        if not self._frames:
            return char in self._stops
        if char == "=":
            return len(self._frames) == 1 and bool(self._token) and self._before_key
        if char == ":":
            frame = self._frames[-1]
            return frame.kind == "{" or (frame.kind == ":" and frame.key is None)
        if char in ")]}":  # a stop closes all that was left open
            return char in self._stops or any(frame.close == char for frame in self._frames)
        return char == ","

    def _scalar(self, raw: str) -> str:
        """JSON of a number, a word, or text that is none."""
        if self._token and self._before_key:
            return f'"{escape_json(raw)}"'
        schema = self._frames[-1].inner if self._token else None
        types = schema.own_types if schema is not None else None
        if types:
            typed, odd = convert(raw, types)
            self.unconverted += odd is not None
            return typed
        value = scalar_json(raw)
        if value is None:
            self._bad += 1
            value = f'"{escape_json(raw)}"'
        return value

    # -- elements

    def _begin(self) -> None:
        """Before a value: the separator and key it owes to its container; or it is a key, and held."""
        if not self._frames:
            return
        frame = self._frames[-1]
        if frame.kind == ":" and frame.key is None:
            frame.mark = self._output.mark()
            self._output.depths.append(len(self._frames))
            return
        separator = ", " if frame.count else ""
        self._output.put(separator if frame.key is None else f"{separator}{frame.key}: ")
        frame.count += 1

    def _open(self, char: str, start: int) -> None:
        undecided = char != "[" and not self._token
        if undecided:
            self._output.depths.append(len(self._frames))
        self._begin()
        schema = self._frames[-1].inner if self._token else None
        frame = Frame(char, start, self._output.mark(), self._bad, schema)
        if not undecided and char == "{":
            frame.kind = ":"
        self._output.put("" if undecided else char)
        self._frames.append(frame)
        self._have = False

    def _take_key(self, frame: Frame) -> None:
        """At the `:` behind a key."""
        self._bad += not self._have
        key = self._output.take_back(frame.mark + (frame.kind == "{")) if self._have else ""
        if frame.kind == "{":
            self._decide(frame, "{")
            frame.count = 0
        elif self._have:
            self._output.release()
        frame.key = key if key.startswith('"') else f'"{escape_json(key)}"'

    def _end_element(self, frame: Frame) -> None:
        """Drop half a pair."""
        if frame.kind != ":":
            return
        if frame.key is not None:
            self._bad += not self._have
            self.lost += 0 if self._have else len(frame.key)
            frame.key = None
        elif self._have:
            self._bad += 1
            self.lost += len(self._output.take_back(frame.mark))
            self._output.release()

    def _decide(self, frame: Frame, bracket: str) -> None:
        frame.kind = ":" if bracket == "{" else "["
        self._output.decide(frame.mark, bracket)

    def _release_group(self) -> None:
        if self._group is not None:
            self._group = None
            self._output.release()
