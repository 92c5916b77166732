"""The plots of docs/benchmarks.md: needs matplotlib, `pip install toolglot[bench]`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

__all__ = ["draw"]

SERIES = {
    "core": ("#1b7837", "-"),
    "toolglot in vLLM": ("#2166ac", "-"),
    "vLLM's own": ("#2166ac", ":"),
    "toolglot in LMDeploy": ("#b2182b", "-"),
    "LMDeploy's own": ("#b2182b", ":"),
    "SGLang's": ("#666666", ":"),
}
SHOWN = {
    "content 64 KB": "#1b7837",
    "string argument 64 KB": "#2166ac",
    "code argument 16 KB": "#b2182b",
    "200 short arguments": "#8c6d31",
    "content 64 KB, dense": "#762a83",
}


def draw(results: dict[str, dict[str, Any]], folder: Path) -> None:
    """Write both as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "toolglot", "font.size": 9})
    folder.mkdir(parents=True, exist_ok=True)
    _by_size(results["peers"]["grid"], folder / "argument_size.svg")
    _by_dialect(results["core"]["grid"], folder / "over_floor.svg")


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


def _by_size(grid: dict[str, Any], path: Path) -> None:
    """Time of a 4-character chunk against the size of a string argument, a panel for each dialect."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(9, 5.2), sharex=True, sharey=True, layout="constrained")
    for axis, (dialect, rows) in zip(axes.flat, grid.items(), strict=False):
        for name, (color, style) in SERIES.items():
            points = []
            for workload, row in rows.items():
                size = re.fullmatch(r"string argument (\d+) KB", workload)
                if size and "us" in row[name]:
                    points.append((int(size[1]), row[name]["us"]))
            if points:
                axis.plot(*zip(*sorted(points), strict=True), style, color=color, marker=".", label=name)
        axis.set(xscale="log", yscale="log", title=dialect, xticks=(1, 4, 16, 64), xticklabels=("1", "4", "16", "64"))
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("string argument, KB")
    figure.supylabel("microseconds of a 4-character chunk")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    _save(figure, path)


def _by_dialect(grid: dict[str, Any], path: Path) -> None:
    """The core's ratio to the floor, a row for each dialect."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(7, 9), layout="constrained")
    names = list(reversed(grid))
    for workload, color in SHOWN.items():
        axis.plot([grid[name][workload]["4"][2] for name in names], range(len(names)), "o", markersize=3.5,
                  color=color, label=workload)  # fmt: skip
    axis.set(xscale="log", xlabel="core / floor, chunks of 4 characters", yticks=range(len(names)), yticklabels=names)
    axis.set(xticks=(1, 2, 4, 8, 16, 32), xticklabels=("1", "2", "4", "8", "16", "32"))
    axis.minorticks_off()
    axis.tick_params(axis="y", labelsize=7)
    axis.grid(alpha=0.3)
    axis.set_ylim(-1, len(names))
    figure.legend(loc="outside upper center", ncols=3)
    _save(figure, path)
