"""``python -m bench.lmdeploy``: the LMDeploy plugin's cost per chunk, beside LMDeploy's own parsers, in one run.

Both are driven at LMDeploy's own boundary: `stream_chunk` of the response parser that its server builds. Chunks never
cut a marker, since LMDeploy's parsers are written for whole tokens. Every result is checked before it is timed; the
two take turns and the median counts. Compare the ratios, not the microseconds.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

from . import workloads
from .__main__ import tiny_tokenizer
from .workloads import Workload

SIZES = (1, 4, 8, 16, 256)
PEERS = {"hermes": "qwen3", "qwen3_coder": "qwen3coder", "kimi_k2": "kimi-k2"}
GROWTH = 1.15  # what noise may add
Step = tuple[str, list[int]]


class Subject:
    """A response parser as LMDeploy's server builds it for one tool parser's name."""

    def __init__(self, name: str, tokenizer: Any) -> None:
        from lmdeploy.serve.openai.protocol import ChatCompletionRequest
        from lmdeploy.serve.parsers import ResponseParserManager

        class Parser(ResponseParserManager.get("default")):  # type: ignore[misc]
            """A class of its own: the choice of parsers is kept on it."""

        Parser.set_parsers(tool_parser_name=name, tokenizer=tokenizer)
        self._parser = Parser
        self._request = ChatCompletionRequest

    def open(self, workload: Workload) -> Any:
        """The parser of one response."""
        body = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "tools": [workload.tool]}
        return self._parser(self._request.model_validate(body))

    def check(self, workload: Workload, steps: Sequence[Step]) -> None:
        """Raise ValueError unless the response is parsed right."""
        parser = self.open(workload)
        content: list[str] = []
        arguments: dict[int, list[str]] = {}
        for at, (text, ids) in enumerate([*steps, ("", [])]):
            for message, _ in parser.stream_chunk(text, ids, final=at == len(steps)):
                content.append(message.content or "")
                for call in message.tool_calls or ():
                    arguments.setdefault(call.index, []).append(call.function.arguments or "")
        workload.check("".join(content), ["".join(pieces) for pieces in arguments.values()])

    def time(self, workload: Workload, steps: Sequence[Step]) -> float:
        """Seconds of processor time per chunk."""
        parser = self.open(workload)
        parse = parser.stream_chunk
        started = process_time()
        for text, ids in steps:
            parse(text, ids, final=False)
        parse("", [], final=True)
        return (process_time() - started) / len(steps)


def main() -> int:
    """Run the table; the exit status is 1 when ours costs more than LMDeploy's own, or grows faster."""
    options = argparse.ArgumentParser(prog="python -m bench.lmdeploy", description=__doc__)
    options.add_argument("--repeats", type=int, default=9, help="timed runs of each cell, the median counts")
    options.add_argument("--dialect", action="append", choices=list(PEERS), help="this one only; may be repeated")
    options.add_argument("--output", type=Path, help="also write the table to this file")
    arguments = options.parse_args()
    logging.disable(logging.CRITICAL)
    tokenizer = tiny_tokenizer()
    import torch  # noqa: F401  has the parsers registered

    lines = [
        f"Microseconds per call of `stream_chunk`, median of {arguments.repeats} interleaved runs.",
        "",
        "| dialect | LMDeploy's | workload | chunk | LMDeploy's own | toolglot | toolglot / LMDeploy |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    failures: list[str] = []
    for dialect in arguments.dialect or PEERS:
        subjects = [Subject(PEERS[dialect], tokenizer), Subject(f"toolglot_{dialect}", tokenizer)]
        kinds = (workloads.content, workloads.argument, workloads.short_strings)
        for workload in [kind(dialect, 65536) for kind in kinds]:
            for size in SIZES:
                theirs, ours = _measure(subjects, workload, size, arguments.repeats, tokenizer)
                ratio = _ratio(ours, theirs)
                cells = [dialect, PEERS[dialect], workload.name, f"{size}"]
                cells += [f"{1e6 * statistics.median(spent):.2f}" for spent in (theirs, ours)]
                lines.append("| " + " | ".join([*cells, f"{ratio:.2f}"]) + " |")
                print(lines[-1], flush=True)
                if ratio > 1:
                    failures.append(f"{dialect}, {workload.name}, chunks of {size}: {ratio:.2f} times LMDeploy's own")
        for kind in kinds[1:]:
            small, large = (
                _measure(subjects, kind(dialect, size), 4, arguments.repeats, tokenizer) for size in (4096, 262144)
            )
            growth = [_ratio(large[at], small[at]) for at in (0, 1)]
            name = f"{kind(dialect, 4096).name.rsplit(' ', 2)[0]}, 256 KB / 4 KB, per chunk"
            lines.append(f"| {dialect} | {PEERS[dialect]} | {name} | 4 | {growth[0]:.2f} | {growth[1]:.2f} | |")
            print(lines[-1], flush=True)
            if growth[1] > max(growth[0], 1.0) * GROWTH:
                failures.append(f"{dialect}, {name}: {growth[1]:.2f}, LMDeploy's own {growth[0]:.2f}")
    for failure in failures:
        print(f"MISSED: {failure}", file=sys.stderr)
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failures else 0


def _measure(
    subjects: Sequence[Subject], workload: Workload, size: int, repeats: int, tokenizer: Any
) -> list[list[float]]:
    """Each subject's times, in turns."""
    known: dict[str, list[int]] = {}
    steps: list[Step] = []
    for chunk in workload.aligned(size):
        if chunk not in known:
            known[chunk] = tokenizer.encode(chunk, add_special_tokens=False)
        steps.append((chunk, known[chunk]))
    times: list[list[float]] = [[] for _ in subjects]
    for subject in subjects:
        subject.check(workload, steps)
    runs = max(1, 8192 // len(steps))
    for _ in range(repeats):
        for subject, spent in zip(subjects, times, strict=True):
            spent.append(statistics.median(subject.time(workload, steps) for _ in range(runs)))
    return times


def _ratio(above: list[float], below: list[float]) -> float:
    """The median over the rounds: what slows a whole round down does not matter."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


if __name__ == "__main__":
    sys.exit(main())
