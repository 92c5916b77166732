"""What the benchmarks are to show, and what a run reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["Target", "targets"]

Case = tuple[str, float]  # what was measured, and the figure


class Target(NamedTuple):
    """One target: what is measured, its limit, the worst figure, and which cases miss it, the worst ones first."""

    what: str
    limit: str
    reached: str
    missed: int
    of: int
    worst: list[str]


def _most(what: str, limit: float, unit: str, cases: Iterable[Case], *, least: bool = False) -> Target:
    """A target that every case has to keep: at most the limit, or at least."""
    found = sorted(cases, key=lambda case: case[1], reverse=not least)
    missed = [case for case in found if (case[1] < limit if least else case[1] > limit)]
    name, figure = found[0]
    return Target(
        what,
        f"{'at least' if least else 'at most'} {limit:g}{unit}",
        f"{figure:.3g}{unit} ({name})",
        len(missed),
        len(found),
        [f"{name} {figure:.3g}" for name, figure in missed[:8]] + (["…"] if len(missed) > 8 else []),
    )


def targets(results: dict[str, dict[str, Any]]) -> list[Target]:
    """All of them."""
    grid = results["core"]["grid"]
    metrics = results["metrics"]["dialects"]
    peers = results["peers"]["grid"]

    def over_floor(*names: str) -> Iterator[Case]:
        for dialect, rows in grid.items():
            for name in names:
                yield f"{dialect}, {name}", rows[name]["4"][2]

    def of(*keys: str) -> Iterator[Case]:
        for dialect, found in metrics.items():
            for kind in ("string", "code"):
                yield f"{dialect}, {kind}", found[keys[0]][kind][keys[1]]

    def grown() -> Iterator[Case]:
        for dialect, found in metrics.items():
            for kind, (new, most, _) in found["memory"].items():
                yield f"{dialect}, {kind}", (most - new) / 1024

    def megabyte(kind: str) -> Iterator[Case]:
        for dialect, found in metrics.items():
            yield f"{dialect}, {kind} argument 1 MB", found["growth"][kind]["floor"]

    return [
        _most("core / floor, plain content", 2.5, "x", over_floor("content 64 KB")),
        _most("core / floor, content full of `<` and `{`", 2.5, "x", over_floor("content 64 KB, dense")),
        _most("core / floor, string arguments", 4, "x",
              [*over_floor("string argument 4 KB", "string argument 64 KB"), *megabyte("string")]),
        _most("core / floor, code arguments", 4, "x",
              [*over_floor("code argument 1 KB", "code argument 16 KB"), *megabyte("code")]),
        _most("exponent of counted operations, 1 KB to 1 MB", 1.02, "", of("growth", "exponent")),
        _most("time a character, 1 MB / 4 KB", 1.2, "x", of("growth", "timed")),
        _most("mean lag in a string value", 4, " characters", of("lag", "mean")),
        _most("what a parser has grown by within 1 MB", 8, " KB", grown()),
        _most("vLLM's own parser / core", 10, "x", _pairs(peers, "vLLM's own", "core"), least=True),
        _most("toolglot adds to vLLM's frame and messages", 2, " us", _added(peers, "vLLM")),
        _most("toolglot adds to LMDeploy's frame and messages", 2, " us", _added(peers, "LMDeploy")),
        _most("toolglot in LMDeploy / LMDeploy's own parser", 1, "x",
              _pairs(peers, "toolglot in LMDeploy", "LMDeploy's own")),
    ]  # fmt: skip


def _pairs(peers: dict[str, Any], above: str, below: str) -> Iterator[Case]:
    """The ratio of two subjects, where both have a figure."""
    for dialect, rows in peers.items():
        for workload, row in rows.items():
            if "us" in row[above] and "us" in row[below]:
                yield f"{dialect}, {workload}", row[above]["us"] / row[below]["us"]


def _added(peers: dict[str, Any], engine: str) -> Iterator[Case]:
    for dialect, rows in peers.items():
        for workload, row in rows.items():
            ours, none = row[f"toolglot in {engine}"], row[f"{engine} without a parser"]
            if "us" in ours and "us" in none:
                yield f"{dialect}, {workload}", ours["us"] - none["us"]
