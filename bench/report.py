"""From the figures of a run to the pages that show them: the blocks of docs/benchmarks.md and of the README, the plots.

A block stands between ``<!-- bench: name -->`` and ``<!-- end -->``; what is around it is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from .targets import targets

__all__ = ["blocks", "write"]

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "docs" / "benchmarks.md", ROOT / "README.md")
IMAGES = ROOT / "docs" / "images"
BLOCK = re.compile(r"(<!-- bench: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
Results = dict[str, dict[str, Any]]  # part -> what it found


def load(folder: Path) -> Results:
    """The figures of all parts. Raises FileNotFoundError where one was not run."""
    return {part: json.loads((folder / f"{part}.json").read_text(encoding="utf-8"))
            for part in ("core", "metrics", "peers", "throughput")}  # fmt: skip


def write(folder: Path) -> None:
    """Write the blocks of all pages anew, and the plots."""
    from .plots import draw

    results = load(folder)
    made = blocks(results)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(lambda found: found[1] + made[found[2]] + found[3], text), encoding="utf-8")
    draw(results, IMAGES)


def blocks(results: Results) -> dict[str, str]:
    """Name of a block -> its lines."""
    made: dict[str, Callable[[Results], Iterator[str]]] = {
        "targets": _targets,
        "core": _core,
        "sizes": _sizes,
        "growth": _growth,
        "peers": _peers,
        "shares": _shares,
        "throughput": _throughput,
        "speed": _speed,
    }
    return {name: "\n".join(lines(results)) + "\n" for name, lines in made.items()}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _targets(results: Results) -> Iterator[str]:
    rows = [
        (each.what, each.limit, each.reached, "reached" if not each.missed else f"missed by {each.missed} of {each.of}")
        for each in targets(results)
    ]
    yield from table(("target", "wanted", "worst", ""), rows)
    for each in targets(results):
        if each.missed:
            yield ""
            yield f"Missed, {each.what}: {'; '.join(each.worst)}."


def _core(results: Results) -> Iterator[str]:
    grid, growth = results["core"]["grid"], results["metrics"]["dialects"]
    names = list(next(iter(grid.values())))
    head = ("dialect", *names, "string argument 1 MB", "code argument 1 MB")
    rows = []
    for dialect, row in grid.items():
        cells = [f"{row[name]['4'][2]:.1f}" for name in names]
        cells += [f"{growth[dialect]['growth'][kind]['floor']:.1f}" for kind in ("string", "code")]
        rows.append((f"`{dialect}`", *cells))
    numbers = [[float(cell) for cell in row[1:]] for row in rows]
    rows.insert(0, ("median", *(f"{median(column):.1f}" for column in zip(*numbers, strict=True))))
    rows.insert(1, ("worst", *(f"{max(column):.1f}" for column in zip(*numbers, strict=True))))
    yield from table(head, rows)


def _sizes(results: Results) -> Iterator[str]:
    grid = results["core"]["grid"]
    first = next(iter(grid.values()))
    sizes = list(next(iter(first.values())))
    rows = []
    for name in first:
        cells = []
        for size in sizes:
            core = sorted(row[name][size][1] for row in grid.values())
            cells.append(f"{_short(median(core))}, {_short(core[-1])}")
            if size != "whole":
                cells[-1] += f" ({1000 * median(core) / int(size):,.0f})"
        rows.append((name, *cells))
    yield from table(("response", *(size if size == "whole" else f"chunks of {size}" for size in sizes)), rows)


def _short(figure: float) -> str:
    """Three digits."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _growth(results: Results) -> Iterator[str]:
    head = ("dialect", "exponent, string", "exponent, code", "time 1 MB / 4 KB, string", "time 1 MB / 4 KB, code",
            "set-up, us", "lag, string: mean, most", "lag, code: mean, most", "first delta after", "blocks a chunk",
            "blocks kept", "bytes: new, most, after")  # fmt: skip
    rows = []
    for dialect, found in results["metrics"]["dialects"].items():
        growth, lag, blocks_, memory = (found[key] for key in ("growth", "lag", "allocations", "memory"))
        rows.append((
            f"`{dialect}`",
            *(f"{growth[kind]['exponent']:.3f}" for kind in ("string", "code")),
            *(f"{growth[kind]['timed']:.2f}" for kind in ("string", "code")),
            f"{found['set-up']:.0f}",
            *(f"{lag[kind]['mean']:.2f}, {lag[kind]['most']}" for kind in ("string", "code")),
            f"{lag['string']['first']}",
            f"{blocks_['argument']:.1f}",
            f"{blocks_['argument, kept']}",
            ", ".join(f"{size:,}" for size in memory["argument"]),
        ))  # fmt: skip
    yield from table(head, rows)


def cell(found: dict[str, Any], limit: float) -> str:
    """A figure, or why there is none."""
    if "us" in found:
        return _short(found["us"])
    if found["why"] == "over":
        return "timed out" if found["run"] else f"over {limit:.0f} s, not run"
    return str(found["why"])


def _peers(results: Results) -> Iterator[str]:
    grid, limit = results["peers"]["grid"], results["peers"]["limit"]
    names = list(next(iter(next(iter(grid.values())).values())))
    rows = []
    for dialect, workloads in grid.items():
        for workload, row in workloads.items():
            rows.append((f"`{dialect}`", workload, *(cell(row[name], limit) for name in names)))
    yield from table(("dialect", "response", *names), rows)


def _shares(results: Results) -> Iterator[str]:
    rows = []
    for dialect, workloads in results["peers"]["grid"].items():
        for workload, row in workloads.items():
            cells = []
            for engine in ("vLLM", "LMDeploy"):
                none, ours = row[f"{engine} without a parser"].get("us"), row[f"toolglot in {engine}"].get("us")
                own = row[f"{engine}'s own"].get("us")
                cells.append("–" if none is None or ours is None else f"{ours - none:+.1f}")
                cells.append("–" if own is None or ours is None else f"{own / ours:.2f}")
            rows.append((f"`{dialect}`", workload, *cells))
    yield from table(("dialect", "response", "toolglot adds, vLLM", "vLLM's own / toolglot", "toolglot adds, LMDeploy",
                      "LMDeploy's own / toolglot"), rows)  # fmt: skip


def _throughput(results: Results) -> Iterator[str]:
    rows = []
    for engine, dialects in results["throughput"]["grid"].items():
        for dialect, workloads in dialects.items():
            for workload, row in workloads.items():
                for name, figures in row.items():
                    rows.append((engine, f"`{dialect}`", workload, name, f"{figures['tokens']:,.0f}",
                                 f"{figures['requests']:,.3g}", f"{figures['us']:.1f}"))  # fmt: skip
    yield from table(("engine", "dialect", "response", "parser", "tokens a second", "requests a second",
                      "microseconds a token"), rows)  # fmt: skip


def _speed(results: Results) -> Iterator[str]:
    """The README's table."""
    grid, limit = results["peers"]["grid"], results["peers"]["limit"]
    wanted = ("content 16 KB", "string argument 4 KB", "string argument 64 KB", "200 short arguments")
    names = ("core", "toolglot in vLLM", "vLLM's own", "toolglot in LMDeploy", "LMDeploy's own", "SGLang's")
    rows = []
    for dialect in ("hermes", "qwen3_coder"):
        for workload in wanted:
            row = grid[dialect][workload]
            rows.append((dialect, workload, *(cell(row[name], limit) for name in names)))
    yield from table(("dialect", "response", *names), rows)
