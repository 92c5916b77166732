"""Requests and tokens a second through what serves them, on one core: with toolglot, the engine's own parser, and none.

vLLM does more for a response that has any tool parser (it counts each delta for its metrics), so there a parser that
passes the text on is measured as well.

Tokens are there at once (serving.py). Several requests are under way at a time, as on a server; each token lets the
others have their turn. A token is 4 characters.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections.abc import Sequence
from time import process_time
from typing import Any

from toolglot.core import get_dialect

from . import engines, workloads
from .engines import Step
from .peers import lmdeploy_name
from .serving import PASSING, LmdeployServing, VllmServing, register_passing
from .workloads import KB, Workload

__all__ = ["result"]

DIALECTS = ("hermes", "qwen3_coder")
TOKENS = 512
AT_ONCE = 16
ROUNDS = 5
PATIENCE = 3.0  # seconds of a round beyond which a subject is measured once


def result(dialects: Sequence[str], *, quick: bool) -> dict[str, Any]:
    """What is kept of a run: engine -> dialect -> response -> parser -> tokens and requests a second."""
    return asyncio.run(_result(dialects or DIALECTS, 2 if quick else AT_ONCE, 1 if quick else ROUNDS))


async def _result(dialects: Sequence[str], at_once: int, rounds: int) -> dict[str, Any]:
    import torch  # noqa: F401  has LMDeploy's parsers registered
    from vllm.plugins import load_general_plugins

    load_general_plugins()
    register_passing()
    tokenizer = engines.tokenizer()
    from tiny_model import tiny_model

    model = tiny_model()
    grid: dict[str, Any] = {"vLLM": {}, "LMDeploy": {}}
    for dialect in dialects:
        own = {"vLLM": get_dialect(dialect).engines.vllm.split()[0], "LMDeploy": lmdeploy_name(dialect)}
        for engine, rows in grid.items():
            chosen: dict[str, str | None] = {"toolglot": f"toolglot_{dialect}", "its own parser": own[engine]}
            chosen["no parser"] = None
            if engine == "vLLM":
                chosen["a parser that passes on"] = PASSING
            servings = {
                name: VllmServing(model, parser) if engine == "vLLM" else LmdeployServing(tokenizer, parser)
                for name, parser in chosen.items()
            }
            for serving in servings.values():
                await serving.start()
            rows[dialect] = {}
            for workload in (workloads.content(dialect, 2 * KB), workloads.argument(dialect, 2 * KB)):
                steps = engines.steps_of(workload.aligned(4), tokenizer)
                rows[dialect][workload.name] = row = await _row(servings, workload, steps, at_once, rounds)
                print(f"{engine}, {dialect}, {workload.name}: {row}", file=sys.stderr, flush=True)
    return {"at once": at_once, "grid": grid}


async def _row(
    servings: dict[str, Any], workload: Workload, steps: Sequence[Step], at_once: int, rounds: int
) -> dict[str, dict[str, float]]:
    """All three on one response, in turns."""
    spent: dict[str, list[float]] = {name: [] for name in servings}
    for name, serving in servings.items():
        content, calls = await serving.answer(workload, steps, read=True)
        if name in ("no parser", "a parser that passes on"):
            _check_text(content, workload)
        else:
            workload.check(content, ["".join(calls[key]) for key in sorted(calls)])
    for _ in range(rounds):
        for name, serving in servings.items():
            if spent[name] and spent[name][-1] > PATIENCE:
                continue
            started = process_time()
            await asyncio.gather(*(serving.answer(workload, steps) for _ in range(at_once)))
            spent[name].append(process_time() - started)
    found = {}
    for name, times in spent.items():
        seconds = statistics.median(times)
        found[name] = {
            "tokens": float(f"{at_once * len(steps) / seconds:.3g}"),
            "requests": float(f"{at_once / seconds:.3g}"),
            "us": float(f"{1e6 * seconds / at_once / len(steps):.3g}"),
        }
    return found


def _check_text(content: str, workload: Workload) -> None:
    if content != workload.text:
        raise ValueError(f"{workload.dialect}, {workload.name}: without a parser the text is not what was written")
