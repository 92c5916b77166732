"""The core in every dialect, on every workload, in chunks of every size, beside the floor.

Arguments of a megabyte are in metrics.py, which has to run them anyhow. The floor is the least that a streaming parser
can do for a chunk: look at a held suffix, look for an opener's first character, return one object. Every result is
checked before it is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from toolglot.core import ResponseParser, assemble, list_dialects

from . import workloads
from .timing import in_turns, median, ratio
from .workloads import KB, Maker, Workload

__all__ = ["QUICK", "Grid", "grid", "new_parser", "parse", "run_core", "run_floor"]

SIZES = (1, 4, 8, 16, 256, 0)  # characters of a chunk; 0: the whole response
ROUNDS = 5
BUDGET = 0.04  # seconds a cell
Grid = dict[str, dict[str, dict[str, list[float]]]]  # dialect -> workload -> chunk size -> floor, core, ratio

MAKERS: tuple[tuple[Maker, Sequence[int]], ...] = (
    (workloads.short_call, SIZES),
    (partial(workloads.argument, size=1 * KB, code=True), SIZES),
    (partial(workloads.argument, size=16 * KB, code=True), SIZES),
    (partial(workloads.argument, size=4 * KB), SIZES),
    (partial(workloads.argument, size=64 * KB), SIZES),
    (workloads.many_arguments, SIZES),
    (workloads.many_calls, SIZES),
    (workloads.many_strings, SIZES),
    (partial(workloads.content, size=64 * KB, dense=True), SIZES),
    (partial(workloads.content, size=64 * KB), SIZES),
)
QUICK: tuple[tuple[Maker, Sequence[int]], ...] = (
    (workloads.short_call, (1, 4, 0)),
    (partial(workloads.argument, size=1 * KB, code=True), (4, 256)),
    (partial(workloads.many_arguments, count=20), (4,)),
    (partial(workloads.many_calls, count=3), (8,)),
    (partial(workloads.many_strings, count=50), (16,)),
    (partial(workloads.content, size=1 * KB, dense=True), (1, 4)),
)


def new_parser(workload: Workload) -> ResponseParser:
    """A parser as a request has it, behind the reasoning."""
    return ResponseParser(workload.dialect, [workload.tool], starts_in_reasoning=False)


def parse(workload: Workload, chunks: Sequence[str]) -> tuple[str | None, list[str]]:
    """The core's result: content, and the arguments of each call."""
    parser = new_parser(workload)
    deltas = [delta for chunk in chunks for delta in parser.feed(chunk)]
    message = assemble(deltas + parser.finish())
    return message.content, [call.arguments for call in message.tool_calls]


def run_core(workload: Workload, chunks: Sequence[str]) -> None:
    """The core with its own deltas, which are dropped as a server drops them once they are sent."""
    parser = new_parser(workload)
    feed = parser.feed
    for chunk in chunks:
        feed(chunk)
    parser.finish()


class _Delta:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class _Floor:
    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[_Delta]:
        if not self._held and "<" not in text:
            return [_Delta(text)]
        return [_Delta(text)]


def run_floor(chunks: Sequence[str]) -> None:
    """The floor, on the same chunks and with the same loop."""
    feed = _Floor().feed
    for chunk in chunks:
        feed(chunk)


def cells(dialect: str, makers: Sequence[tuple[Maker, Sequence[int]]]) -> Iterator[tuple[Workload, int, list[float]]]:
    """Floor and core in microseconds a chunk, and their ratio, for each workload and chunk size."""
    for make, sizes in makers:
        workload = make(dialect)
        for size in sizes:
            chunks = workload.chunks(size)
            workload.check(*parse(workload, chunks))
            floor, core = in_turns(
                [partial(run_floor, chunks), partial(run_core, workload, chunks)], ROUNDS, BUDGET
            )
            scale = 1e6 / len(chunks)
            figures = [scale * median(floor), scale * median(core), ratio(core, floor)]
            yield workload, size, [float(f"{figure:.3g}") for figure in figures]


def grid(dialects: Sequence[str] = (), *, quick: bool = False) -> Grid:
    """The whole table, with a line for each dialect while it is made."""
    found: Grid = {}
    for dialect in dialects or list_dialects():
        rows: dict[str, dict[str, list[float]]] = {}
        for workload, size, figures in cells(dialect, QUICK if quick else MAKERS):
            rows.setdefault(workload.name, {})[str(size or "whole")] = figures
        found[dialect] = rows
        at_four = {name: row["4"][2] for name, row in rows.items() if "4" in row}
        print(f"{dialect}: " + ", ".join(f"{name} {over:.1f}" for name, over in at_four.items()), file=sys.stderr,
              flush=True)  # fmt: skip
    return found


def result(dialects: Sequence[str], *, quick: bool) -> dict[str, Any]:
    """What is kept of a run."""
    return {"figures": ["floor", "core", "core / floor"], "unit": "microseconds a chunk",
            "grid": grid(dialects, quick=quick)}  # fmt: skip
