"""``python -m bench``: the core's cost per chunk, beside the floor and vLLM's built-in parsers, in one run.

Every result is checked before it is timed. Processor time is measured; the subjects of a row take turns, several
times over, and the median is kept, so that a noisy machine disturbs all of them alike. Compare the ratios, not the
microseconds.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from . import subjects, workloads
from .subjects import TooSlow, VllmBuiltin
from .workloads import Workload

CHUNK = 4
PEER_TURN = 2.0  # seconds: a peer that is slower is run once
VLLM_NAMES = {"hermes": "hermes", "qwen3_coder": "qwen3_coder"}


def main() -> int:
    """Run the table; the exit status is 1 when a required ratio is missed."""
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("--repeats", type=int, default=7, help="timed runs of each cell, the median counts")
    options.add_argument("--limit", type=float, default=20.0, help="seconds for one response of a peer")
    options.add_argument("--no-vllm", action="store_true", help="without the peers (vLLM is not needed then)")
    options.add_argument("--output", type=Path, help="also write the table to this file")
    arguments = options.parse_args()
    logging.disable(logging.CRITICAL)
    tokenizer = None if arguments.no_vllm else tiny_tokenizer()
    lines = [
        f"Microseconds per {CHUNK}-character chunk, median of {arguments.repeats} interleaved runs.",
        "",
        "| dialect | workload | floor | core | core / floor | vLLM built-in | vLLM / core |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    failures: list[str] = []
    for dialect in workloads.DIALECTS:
        cost: dict[str, float] = {}
        for workload in _workloads(dialect):
            peer = None
            if tokenizer is not None and dialect in VLLM_NAMES:
                peer = VllmBuiltin(VLLM_NAMES[dialect], tokenizer, process_time, arguments.limit)
            line, over, ratio = _row(workload, peer, arguments.repeats)
            cost[workload.name] = over
            lines.append(line)
            print(line, flush=True)
            if ratio is not None and ratio < 20:
                failures.append(f"{dialect}, {workload.name}: vLLM / core is {ratio:.1f}, below 20")
        growth = cost["string argument 256 KB"] / cost["string argument 4 KB"]
        lines.append(f"| {dialect} | 256 KB / 4 KB, per character, over the floor | | {growth:.2f} | | | |")
        print(lines[-1], flush=True)
        if growth > 1.15:
            failures.append(f"{dialect}: 256 KB costs {growth:.2f} times as much per character as 4 KB, over 1.15")
    for failure in failures:
        print(f"MISSED: {failure}", file=sys.stderr)
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failures else 0


def _workloads(dialect: str) -> list[Workload]:
    return [
        workloads.content(dialect, 65536),
        workloads.argument(dialect, 4096),
        workloads.argument(dialect, 262144),
        workloads.argument(dialect, 65536, code=True),
    ]


def _row(workload: Workload, peer: VllmBuiltin | None, repeats: int) -> tuple[str, float, float | None]:
    """One line of the table, core / floor, and how many times as much the peer costs."""
    chunks = workload.chunks(CHUNK)
    workload.check(*subjects.parse_with_core(workload, chunks))
    dialect = workload.dialect
    runs: list[Callable[[], Any]] = [
        lambda: subjects.run_floor(chunks),
        lambda: subjects.run_core(dialect, chunks),
    ]
    bound = ""
    slow: float | None = None  # the peer's cost per chunk where it is run once only
    if peer is not None:
        steps = peer.prepare(chunks)
        started = process_time()
        try:
            workload.check(*peer.consume(steps))
            slow = (process_time() - started) / len(chunks)
        except TooSlow as stopped:
            slow = (process_time() - started) / max(stopped.done, 1)
            bound = "> "
        if slow * len(chunks) < PEER_TURN:
            slow = None
            runs.append(lambda: peer.consume(steps))
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, spent in zip(runs, times, strict=True):
            spent.append(_time(run, max(1, 16384 // len(chunks)) if len(times) < 3 else 1) / len(chunks))
    floor, core = (1e6 * statistics.median(spent) for spent in times[:2])
    over = _ratio(times[1], times[0])
    cells = [workload.dialect, workload.name, f"{floor:.2f}", f"{core:.2f}", f"{over:.1f}"]
    if peer is None:
        return "| " + " | ".join([*cells, "", ""]) + " |", over, None
    theirs = times[2] if slow is None else [slow] * repeats
    ratio = _ratio(theirs, times[1])
    cells += [f"{bound}{1e6 * statistics.median(theirs):,.1f}", f"{bound}{ratio:,.0f}"]
    return "| " + " | ".join(cells) + " |", over, ratio


def _ratio(above: list[float], below: list[float]) -> float:
    """The median over the rounds: what slows a whole round down does not matter."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def _time(run: Callable[[], Any], times: int = 1) -> float:
    """Seconds of processor time for one run; short ones are run several times."""
    started = process_time()
    for _ in range(times):
        run()
    return (process_time() - started) / times


def tiny_tokenizer() -> Any:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
    from tiny_model import tiny_model
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(tiny_model()))


if __name__ == "__main__":
    sys.exit(main())
