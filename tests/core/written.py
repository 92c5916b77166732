"""Calls as a dialect writes them, with any name and value: a corpus line of one call, taken apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from corpus import CorpusLine, all_lines

from toolglot.core import parse

QUOTES = ('<|"|>', "<escape>", '"', "'")
JOINTS = ("\n", "", "<|start|>assistant")


@dataclass(frozen=True)
class Written:
    """A call of one dialect. ``key`` is an argument with a string, ``options`` are for the parser."""

    dialect: str
    key: str
    raw: str
    name: str
    value: str
    joint: str
    options: dict[str, Any] = field(default_factory=dict)

    def call(self, name: str, value: str) -> str:
        """The call with another name and another value of that argument, written as it stands in the string."""
        return self._filled(self.value, name, value)

    def bare(self, name: str, value: str) -> str:
        """The same with the value in the place of the string and its quotes, if it has any."""
        for quote in QUOTES:
            if quote + self.value + quote in self.raw:
                return self._filled(quote + self.value + quote, name, value)
        return self._filled(self.value, name, value)

    def calls(self, calls: Iterable[tuple[str, str]]) -> str:
        """Many calls in one response."""
        return self.joined([self.call(name, value) for name, value in calls])

    def joined(self, made: Sequence[str]) -> str:
        """Calls one behind the other."""
        if self.dialect == "xlam":  # one list at the start of a response
            return "[" + ", ".join(call[1:-1] for call in made) + "]"
        return self.joint.join(made)

    def _filled(self, place: str, name: str, value: str) -> str:
        # In one pass, so that a value may contain the name.
        found = re.compile(f"{re.escape(place)}|{re.escape(self.name)}")
        return found.sub(lambda match: name if match[0] == self.name else value, self.raw)


@cache
def written(dialect: str) -> Written:
    """The first call of the corpus that can be taken apart and repeated."""
    for plain in (True, False):
        for line in all_lines():
            if line.dialect == dialect:
                for found in _readings(line, plain):
                    if _repeats(found):
                        return found
    raise AssertionError(f"the corpus of {dialect} needs a line with one call that has a string argument")


def _readings(line: CorpusLine, plain: bool) -> Iterator[Written]:
    expected = line.expected
    texts = expected["content"] or expected["reasoning"]
    if line.options.keys() - {"starts_in_reasoning"} or len(expected["tool_calls"]) != 1 or (plain and texts):
        return
    (call,) = expected["tool_calls"]
    try:
        arguments = json.loads(call["arguments"])
    except ValueError:
        return
    if not call["complete"] or not isinstance(arguments, dict) or call["name"] not in line.raw:
        return
    for key, value in arguments.items():
        if isinstance(value, str) and len(value) > 1 and line.raw.count(value) == 1 and call["name"] not in value:
            for joint in JOINTS:
                yield Written(line.dialect, key, line.raw, call["name"], value, joint, line.options)


def _repeats(call: Written) -> bool:
    wanted = [(f"tool_{number}", f"value{number}") for number in range(3)]
    message = parse(call.calls(wanted), call.dialect, None, **call.options)
    found = message.tool_calls
    names = [(made.name, json.loads(made.arguments).get(call.key)) for made in found if made.complete]
    return len(found) == 3 and names == wanted
