"""What the grid does not tell of the core: growth, set-up, lag, allocations and memory, for every dialect."""

from __future__ import annotations

import gc
import math
import sys
import types
from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from toolglot.core import ResponseParser, assemble, list_dialects

from . import workloads
from .core import new_parser, run_core, run_floor
from .spelling import spelled
from .timing import in_turns, median, ratio
from .workloads import KB, MB, Workload

__all__ = ["allocations", "growth", "lag", "memory", "result", "set_up"]

Figures = dict[str, float]


def growth(dialect: str, *, code: bool, large: int = MB, small: int = 4 * KB) -> Figures:
    """How work grows with a string argument, in chunks of 4 characters.

    ``exponent``: of counted operations from 1 KB on: characters looked at, again or for the first time.
    ``timed``: seconds per character of the large response against the small one. ``floor``: core / floor.
    """
    counted = []
    for size in (KB, large):
        workload = workloads.argument(dialect, size, code=code)
        counted.append((len(workload.text), _operations(workload, 4)))
    exponent = math.log(counted[1][1] / counted[0][1]) / math.log(counted[1][0] / counted[0][0])
    pair = [workloads.argument(dialect, size, code=code) for size in (large, small)]
    chunks = [workload.chunks(4) for workload in pair]
    floor, core, before = in_turns(
        [partial(run_floor, chunks[0]), *(partial(run_core, *each) for each in zip(pair, chunks, strict=True))],
        rounds=3,
        budget=0.1,
    )
    per_character = ratio(core, before) * len(pair[1].text) / len(pair[0].text)
    return {
        "exponent": _rounded(exponent, 4),
        "timed": _rounded(per_character),
        "core": _rounded(1e6 * median(core) / len(chunks[0])),
        "floor": _rounded(ratio(core, floor)),
    }


def _operations(workload: Workload, size: int) -> int:
    """Characters that the core looks at. What takes the fast path is looked at once, and not in its counter."""
    parser = new_parser(workload)
    deltas: list[Any] = []
    passed = before = 0
    for chunk in workload.chunks(size):
        deltas += parser.feed(chunk)
        examined = parser.examined
        if examined == before:
            passed += len(chunk)
        before = examined
    message = assemble(deltas + parser.finish())
    workload.check(message.content, [call.arguments for call in message.tool_calls])
    return parser.examined + passed


def lag(dialect: str, *, code: bool, size: int = 4 * KB) -> Figures:
    """Characters of a string value that were received and had not gone out, fed one at a time: mean and most.

    ``first``: chunks of 4 characters from the one with the first character of a value to the first argument delta.
    """
    workload = workloads.argument(dialect, size, code=code)
    value = workload.value
    start = workload.text.index(spelled(dialect, value))
    received = list(accumulate((len(spelled(dialect, char)) for char in value), initial=start))
    out, arguments = _emitted(workload)
    literal = _literal(arguments, value)
    sent = list(accumulate((len(piece) for piece in literal), initial=arguments.index("".join(literal))))
    lags = []
    for count in range(start + 1, received[-1] + 1):
        lags.append(max(0, bisect_right(received, count) - 1 - max(0, bisect_right(sent, out[count]) - 1)))
    return {"mean": _rounded(sum(lags) / len(lags)), "most": max(lags), "first": _first(workload)}


def _emitted(workload: Workload) -> tuple[list[int], str]:
    """How many characters of arguments are out after each character, and the arguments."""
    parser = new_parser(workload)
    out, pieces, total = [0], [], 0
    for char in workload.text:
        for delta in parser.feed(char):
            if delta.kind == "tool_call" and delta.arguments:
                pieces.append(delta.arguments)
                total += len(delta.arguments)
        out.append(total)
    pieces += [delta.arguments or "" for delta in parser.finish() if delta.kind == "tool_call"]
    return out, "".join(pieces)


def _literal(arguments: str, value: str) -> list[str]:
    """The value as it stands in the arguments, character by character."""
    from json import dumps

    for plain in (False, True):
        pieces = [dumps(char, ensure_ascii=plain)[1:-1] for char in value]
        if "".join(pieces) in arguments:
            return pieces
    raise ValueError("the value is spelled in a way that is not known")


def _first(workload: Workload) -> int:
    """Chunks from the first value's first character to the first argument delta."""
    begins = workload.text.index(spelled(workload.dialect, str(next(iter(workload.calls[0].values())))))
    if spelled(workload.dialect, workload.value) in workload.text[:begins]:  # the template sorts its keys
        begins = workload.text.index(spelled(workload.dialect, workload.value))
    parser = new_parser(workload)
    for number, chunk in enumerate(workload.chunks(4)):
        if any(delta.kind == "tool_call" and delta.arguments for delta in parser.feed(chunk)):
            return max(0, number - begins // 4)
    return -1


def set_up(dialect: str) -> float:
    """Microseconds for the parser of one response."""
    workload = workloads.short_call(dialect)
    (times,) = in_turns([partial(new_parser, workload)], rounds=5, budget=0.05)
    return _rounded(1e6 * median(times))


def allocations(dialect: str, size: int = 16 * KB) -> Figures:
    """Blocks of memory handed out a chunk, in chunks of 4 characters, and those that the parser keeps, in all."""
    found: Figures = {}
    for name, workload in (
        ("argument", workloads.argument(dialect, size)), ("content", workloads.content(dialect, size))
    ):  # fmt: skip
        chunks = workload.chunks(4)
        run_core(workload, chunks)
        gc.collect()
        gc.disable()
        parser = new_parser(workload)
        begun = sys.getallocatedblocks()
        deltas = [parser.feed(chunk) for chunk in chunks]
        handed = sys.getallocatedblocks()
        del deltas
        kept = sys.getallocatedblocks()
        gc.enable()
        found[name] = _rounded((handed - begun) / len(chunks))
        found[f"{name}, kept"] = kept - begun
    return found


def memory(dialect: str, size: int = MB) -> dict[str, list[int]]:
    """Bytes of a parser's own objects: new, the most during a response, and behind it."""
    found = {}
    for name, workload in (
        ("argument", workloads.argument(dialect, size)), ("content", workloads.content(dialect, size))
    ):  # fmt: skip
        chunks = workload.chunks(64)
        twin = new_parser(workload)
        for chunk in chunks[:16]:
            twin.feed(chunk)
        other = _reachable(twin)
        parser = new_parser(workload)
        sizes = [_own(parser, other)]
        every = max(1, len(chunks) // 12)
        for number, chunk in enumerate(chunks):
            parser.feed(chunk)
            if number % every == 0:
                sizes.append(_own(parser, other))
        parser.finish()
        found[name] = [sizes[0], max(sizes), _own(parser, other)]
    return found


def _own(parser: ResponseParser, other: dict[int, Any]) -> int:
    """Bytes of what only this parser refers to; ``other`` is what another one inside the same response does."""
    return sum(sys.getsizeof(each) for key, each in _reachable(parser).items() if key not in other)


def _reachable(root: Any) -> dict[int, Any]:
    """All objects that can be reached, without the interpreter's own."""
    found: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) in found or isinstance(each, (type, types.ModuleType, types.CodeType)):
            continue
        found[id(each)] = each
        if isinstance(each, types.FunctionType):
            waiting += [each.__closure__, each.__defaults__]
        else:
            waiting += gc.get_referents(each)
    return found


def _rounded(value: float, digits: int = 3) -> float:
    return float(f"{value:.{digits}g}")


def of(dialect: str, *, quick: bool = False) -> dict[str, Any]:
    """All metrics of one dialect."""
    large = 16 * KB if quick else MB
    small = KB if quick else 4 * KB
    return {
        "growth": {
            name: growth(dialect, code=code, large=large, small=small)
            for name, code in (("string", False), ("code", True))
        },
        "set-up": set_up(dialect),
        "lag": {name: lag(dialect, code=code, size=small) for name, code in (("string", False), ("code", True))},
        "allocations": allocations(dialect, small),
        "memory": memory(dialect, large),
    }


def result(dialects: Sequence[str], *, quick: bool) -> dict[str, Any]:
    """What is kept of a run."""
    found = {}
    for dialect in dialects or list_dialects():
        found[dialect] = of(dialect, quick=quick)
        print(f"{dialect}: {found[dialect]}", file=sys.stderr, flush=True)
    return {"dialects": found}
