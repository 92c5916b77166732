"""Test material of a dialect that brings none of its own, made from its data and its corpus.

The tables in the tests hold what somebody thought of for a dialect; a new dialect needs no entry in any of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Generic, TypeVar

from corpus import all_lines, std_tools

from toolglot.core import ResponseParser, get_dialect, list_dialects
from toolglot.core.serving.tokens import spellings
from toolglot.core.spec import Builtin, CallSyntax, Elements, Envelope, Named, Tagged

T = TypeVar("T")


class Derived(dict[str, T], Generic[T]):
    """Dialect -> material: what is written down, else what is made."""

    def __init__(self, make: Callable[[str], T], written: Mapping[str, T]) -> None:
        super().__init__(written)
        self._make = make

    def __missing__(self, dialect: str) -> T:
        self[dialect] = made = self._make(dialect)
        return made


def markers_of(dialect: str) -> tuple[str, ...]:
    """Openers and closers that are never ordinary text."""
    spec = get_dialect(dialect)
    edges = [edge for region in spec.regions for edge in region.edges]
    markers = [marker for edge in (*spec.openers, *edges) for marker in edge.on]
    found = [marker.text for marker in markers if marker.consume and not marker.plain]
    found += [text for block in _found(spec.openers, "close") for text in block]
    return tuple(dict.fromkeys(found))


def _found(value: Any, field: str) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _found(item, field)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for entry in dataclasses.fields(value):
            inner = getattr(value, entry.name)
            if entry.name == field:
                yield inner
            else:
                yield from _found(inner, field)


def pieces_of(dialect: str) -> list[str]:
    """Markers, halves of them, and corpus texts cut at markers."""
    words = [word for word in spellings(get_dialect(dialect)) if word.strip()]
    found = [*words, *(word[: len(word) // 2 + 1] for word in words)]
    for line in (line for line in all_lines() if line.dialect == dialect):
        cuts = sorted({place for word in words if (place := line.raw.find(word)) >= 0})
        found += [line.raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(line.raw)], strict=True)][:8]
    return [piece for piece in dict.fromkeys(found) if 0 < len(piece) < 120][:60]


def openers_of(dialect: str) -> list[str]:
    """Markers and beginnings of calls, to be repeated."""
    words = list(markers_of(dialect))
    return [*words, *(word[:-1] for word in words if len(word) > 2)][:10]


@cache
def string_head_of(dialect: str) -> str:
    """A corpus text up to the inside of a string argument."""
    for line in all_lines():
        if line.dialect != dialect or line.tools != std_tools() or line.options.keys() - {"starts_in_reasoning"}:
            continue
        raw = line.raw
        reasoning = get_dialect(dialect).reasoning
        if line.options.get("starts_in_reasoning") is False and reasoning is not None:
            raw = reasoning.close + raw  # as far as the parser knows, it starts in reasoning
        parser = ResponseParser(dialect, line.tools)
        arguments = ""
        for count, char in enumerate(raw, 1):
            for delta in parser.feed(char):
                arguments += (delta.arguments or "") if delta.kind == "tool_call" else ""
            if arguments.count('"') == 3 and arguments[-1] != '"':
                return raw[:count]
    raise AssertionError(f"the corpus of {dialect} needs a line with a string argument and the standard tools")


def payloads_of(dialect: str) -> set[type[Any]]:
    """The kinds of payload grammar in a dialect."""
    spec = get_dialect(dialect)
    kinds = (Envelope, Named, Tagged, Elements, CallSyntax, Builtin)
    return {kind for kind in kinds if _holds((spec.openers, spec.regions, spec.messages), kind)}


def _holds(value: Any, kind: type[Any]) -> bool:
    if isinstance(value, kind):
        return True
    if isinstance(value, tuple):
        return any(_holds(item, kind) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(_holds(getattr(value, field.name), kind) for field in dataclasses.fields(value))
    return False


@cache
def writes_types(dialect: str) -> bool:
    """Whether the markup around a value says its type."""
    spec = get_dialect(dialect)
    return any("{type}" in text for text in _found((spec.openers, spec.regions), "argument"))


def held_of(dialect: str) -> int:
    """A marker with its framing, and the longest one that may have to follow it."""
    return 2 * max(map(len, spellings(get_dialect(dialect)))) + 8


LITERALS = tuple(name for name in list_dialects() if CallSyntax in payloads_of(name))  # quotes say what a string is
VERBATIM = tuple(name for name in list_dialects() if payloads_of(name) <= {Envelope, Named, Builtin})
WRITTEN_BY_PARSER = tuple(name for name in list_dialects() if name not in VERBATIM)
