"""toolglot beside the engines' own parsers: six dialects, chunks of 4 characters that cut no marker.

Each engine is also run without a parser, on the same messages: what a parser adds to that is its own cost. A cell that
takes longer than its limit is stopped and says so; one that would, by what the text of a quarter of its size has
taken, is not run.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from toolglot.core import get_dialect

from . import engines, workloads
from .core import run_core
from .engines import Lmdeploy, ReplayedLmdeploy, ReplayedVllm, Sglang, Step, Subject, TooSlow, Vllm, consume
from .timing import in_turns, median
from .workloads import KB, Maker, Workload, WrongResult

__all__ = ["DIALECTS", "result"]

CHUNK = 4
DIALECTS = ("hermes", "qwen3_coder", "kimi_k2", "glm45", "deepseek_v32", "internlm2")
LMDEPLOY = {"hermes": "qwen3", "kimi_k2": "kimi-k2"}  # where the first name in the dialect's data is not the newest
ROUNDS = 5
BUDGET = 0.3  # seconds, all subjects of a cell together
STRETCH = 0.02  # seconds without a change of subject, at least
TURN = 0.5  # seconds: a subject that takes longer is run once
GROWN = 4  # sizes of a series go up by this factor

MAKERS: tuple[Maker, ...] = (
    workloads.short_call,
    *(partial(workloads.argument, size=size * KB) for size in (1, 4, 16, 64)),
    partial(workloads.argument, size=4 * KB, code=True),
    workloads.many_arguments,
    workloads.many_calls,
    partial(workloads.content, size=16 * KB),
    partial(workloads.content, size=16 * KB, dense=True),
)
QUICK: tuple[Maker, ...] = (workloads.short_call, partial(workloads.content, size=1 * KB))

Cell = dict[str, Any]  # "us", or why there is no figure


def subjects(workload: Workload, tokenizer: Any, deltas: Sequence[list[Any]]) -> dict[str, Callable[[], Subject]]:
    """Name -> how to make it."""
    ours = f"toolglot_{workload.dialect}"
    names = get_dialect(workload.dialect).engines
    return {
        "vLLM without a parser": lambda: ReplayedVllm(tokenizer, workload, deltas),
        "toolglot in vLLM": lambda: Vllm(ours, tokenizer, workload),
        "vLLM's own": lambda: Vllm(names.vllm.split()[0], tokenizer, workload),
        "LMDeploy without a parser": lambda: ReplayedLmdeploy(workload, deltas),
        "toolglot in LMDeploy": lambda: Lmdeploy(ours, tokenizer, workload),
        "LMDeploy's own": lambda: Lmdeploy(lmdeploy_name(workload.dialect), tokenizer, workload),
        "SGLang's": lambda: Sglang(names.sglang.split()[0], workload),
    }


def lmdeploy_name(dialect: str) -> str:
    """LMDeploy's own parser for a dialect."""
    return LMDEPLOY.get(dialect, get_dialect(dialect).engines.lmdeploy.split()[0])


def result(dialects: Sequence[str], *, quick: bool, limit: float = 20.0) -> dict[str, Any]:
    """What is kept of a run: dialect -> workload -> subject -> microseconds a chunk, or why there are none."""
    import torch  # noqa: F401  has LMDeploy's parsers registered
    from vllm.plugins import load_general_plugins

    load_general_plugins()
    tokenizer = engines.tokenizer()
    found: dict[str, dict[str, dict[str, Cell]]] = {}
    for dialect in dialects or (DIALECTS[:2] if quick else DIALECTS):
        rows: dict[str, dict[str, Cell]] = {}
        taken: dict[tuple[str, str], list[float]] = {}  # series and subject -> seconds, size by size
        for make in QUICK if quick else MAKERS:
            workload = make(dialect)
            rows[workload.name] = _row(workload, tokenizer, taken, limit)
            print(f"{dialect}, {workload.name}: {_line(rows[workload.name])}", file=sys.stderr, flush=True)
        found[dialect] = rows
    return {"unit": f"microseconds of a {CHUNK}-character chunk", "limit": limit, "grid": found}


def _row(
    workload: Workload, tokenizer: Any, taken: dict[tuple[str, str], list[float]], limit: float
) -> dict[str, Cell]:
    """All subjects on one workload. Those that are right and fast enough take turns."""
    workload = _framed(workload)
    chunks = workload.aligned(CHUNK)
    steps = engines.steps_of(chunks, tokenizer)
    row: dict[str, Cell] = {}
    fast: dict[str, Callable[[], object]] = {"core": partial(run_core, workload, chunks)}
    gc.collect()
    gc.freeze()  # as vLLM's server does
    for name, make in subjects(workload, tokenizer, engines.recorded(workload, steps)).items():
        series = (workload.name.rsplit(" ", 2)[0], name)
        before = taken.setdefault(series, [])
        if _expected(before) > limit:
            row[name] = {"why": "over", "run": False}
            before.append(_expected(before))
            continue
        try:
            subject = make()
            spent = consume(subject, workload, steps, limit)
        except TooSlow:
            row[name] = {"why": "over", "run": True}
            before.append(limit)
            continue
        except WrongResult:
            row[name] = {"why": "wrong"}
            continue
        except ModuleNotFoundError:
            row[name] = {"why": "not installed"}
            continue
        except Exception as error:
            row[name] = {"why": f"raises {type(error).__name__}"}
            continue
        before.append(spent)
        row[name] = {"us": _rounded(spent / len(steps))}
        if spent < TURN:
            fast[name] = partial(_run, subject, steps)
    for name, times in zip(fast, in_turns(list(fast.values()), ROUNDS, BUDGET, STRETCH), strict=True):
        row[name] = {"us": _rounded(median(times) / len(steps))}
    gc.unfreeze()
    return {"core": row.pop("core"), **row}


def _framed(workload: Workload) -> Workload:
    """With the newlines that the template writes in front of a call: some parsers read none without them."""
    if not workload.calls:
        return workload
    newlines = "\n" * get_dialect(workload.dialect).openers[0].trim[0]
    return replace(workload, text=newlines + workload.text)


def _expected(before: Sequence[float]) -> float:
    """Seconds for the next size of a series: at least four times the last one's, and as it has grown so far."""
    if len(before) < 2:
        return GROWN * before[-1] if before and before[-1] > 1 else 0.0
    return before[-1] * max(GROWN, before[-1] / before[-2]) if before[-1] > 0.2 else 0.0


def _run(subject: Subject, steps: Sequence[Step]) -> None:
    step = subject.open()
    for text, ids in steps:
        step(text, ids, False)
    step("", [], True)


def _rounded(seconds: float) -> float:
    return float(f"{1e6 * seconds:.3g}")


def _line(row: dict[str, Cell]) -> str:
    return ", ".join(f"{name} {cell.get('us', cell.get('why'))}" for name, cell in row.items())
