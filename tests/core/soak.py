"""Very many responses at a time, some cancelled, through objects that an engine makes: for the tests of both engines.

Each stream's calls carry its own number, so that a character of another stream would show. TOOLGLOT_TEST_SOAK=full runs
5,000 streams, else there are fewer; 200 are live at once, 30 of 100 are cancelled somewhere.
"""

from __future__ import annotations

import gc
import json
import os
import random
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from written import written

from toolglot.core import list_dialects

STREAMS = 5_000 if os.environ.get("TOOLGLOT_TEST_SOAK") == "full" else 500
LIVE = 200
CANCELLED = 0.3
WARM = 200  # streams, on top: caches fill in them
GROWTH = 5 << 20  # bytes


class Open(Protocol):
    """A response that is being parsed by an engine's objects."""

    def feed(self, chunk: str) -> None:
        """Take a chunk."""

    def finish(self) -> tuple[str, list[tuple[str, str]]]:
        """The end of the input: all text, and the calls."""


def tools(dialect: str) -> list[dict[str, Any]]:
    """The tools of a dialect's streams."""
    properties = {written(dialect).key: {"type": "string"}}
    parameters = {"type": "object", "properties": properties}
    return [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in ("find", "keep")]


@dataclass(frozen=True)
class Stream:
    """What one model writes."""

    number: int
    dialect: str
    text: str

    def check(self, shown: str, calls: list[tuple[str, str]]) -> None:
        """Its own calls came out, and nothing of another's."""
        key = written(self.dialect).key
        found = [(name, json.loads(arguments)[key]) for name, arguments in calls]
        assert found == values(self.number), (self.dialect, self.number, found)
        assert "stream" not in shown, (self.dialect, shown)


def values(number: int) -> list[tuple[str, str]]:
    """The calls of a stream."""
    return [("find", f"stream {number} of many"), ("keep", f"stream {number} again")][: 1 + number % 2]


def stream(number: int) -> Stream:
    """The stream of this number; neighbours are of different dialects."""
    dialects = list_dialects()
    dialect = dialects[number % len(dialects)]
    return Stream(number, dialect, written(dialect).calls(values(number)))


def soak(begin: Callable[[Stream], Open], count: int, seed: int = 0) -> tuple[int, int]:
    """Run so many streams, ``LIVE`` at once; returns how many were finished, and how many cancelled."""
    dice = random.Random(seed)
    waiting: Iterator[int] = iter(range(count))
    live: list[tuple[Stream, Open, int, int]] = []  # with the place reached and the place to stop at
    finished = cancelled = 0
    while True:
        while len(live) < LIVE and (number := next(waiting, None)) is not None:
            new = stream(number)
            size = len(new.text)
            stop = dice.randrange(size) if dice.random() < CANCELLED else size
            live.append((new, begin(new), 0, stop))
        if not live:
            return finished, cancelled
        at = dice.randrange(len(live))
        one, parser, place, stop = live[at]
        if place < stop:
            end = min(stop, place + dice.randint(1, 12))
            parser.feed(one.text[place:end])
            live[at] = (one, parser, end, stop)
            continue
        live[at] = live[-1]
        live.pop()
        if stop < len(one.text):
            cancelled += 1  # whoever held the parser lets it go
        else:
            one.check(*parser.finish())
            finished += 1


def growth(begin: Callable[[Stream], Open], count: int = STREAMS) -> tuple[int, int, int]:
    """Streams finished and cancelled, and the bytes that are still held when all are over."""
    tracemalloc.start()
    try:
        soak(begin, WARM)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        finished, cancelled = soak(begin, count, seed=1)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return finished, cancelled, after - before


def report(engine: str, finished: int, cancelled: int, grown: int) -> None:
    """The figures of docs/reliability.md; shown with `pytest -s`."""
    print(f"\n{engine}: {finished} finished, {cancelled} cancelled, {grown / 1024:.0f} KB more than before")
