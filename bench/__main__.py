"""``python -m bench``: run the benchmarks, keep their figures in bench/results, write docs/benchmarks.md from them.

Every result is checked before it is timed. Processor time is measured; the subjects of a row take turns, several times
over, and the median is kept, so that a noisy machine disturbs all of them alike. Compare the ratios, not the
microseconds.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import core, metrics, report

RESULTS = Path(__file__).resolve().parent / "results"


def _peers(dialects: Sequence[str], *, quick: bool) -> dict[str, Any]:
    from . import peers

    return peers.result(dialects, quick=quick)


def _throughput(dialects: Sequence[str], *, quick: bool) -> dict[str, Any]:
    from . import throughput

    return throughput.result(dialects, quick=quick)


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "core": core.result,
    "metrics": metrics.result,
    "peers": _peers,
    "throughput": _throughput,
}


def main() -> int:
    """Run the parts that are asked for."""
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}, pages; all of them by default")
    options.add_argument("--dialect", action="append", default=[], help="this one only; may be repeated")
    options.add_argument("--quick", action="store_true", help="small cells, to see that everything works")
    options.add_argument("--results", type=Path, default=RESULTS, help="where figures are kept (bench/results)")
    arguments = options.parse_args()
    wanted = arguments.parts or [*PARTS, "pages"]
    if unknown := set(wanted) - {*PARTS, "pages"}:
        options.error(f"no such part: {', '.join(sorted(unknown))}")
    partial_run = arguments.quick or bool(arguments.dialect)
    if partial_run and arguments.results == RESULTS:
        arguments.results = None  # figures of a part of the suite are shown, not kept
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    for part in wanted:
        if part == "pages":
            if not partial_run:
                report.write(arguments.results)
            continue
        started = time.monotonic()
        found = PARTS[part](arguments.dialect, quick=arguments.quick)
        spent = time.monotonic() - started
        print(f"{part}: {spent:.0f} s", file=sys.stderr, flush=True)
        if arguments.results is not None:
            arguments.results.mkdir(parents=True, exist_ok=True)
            _write(arguments.results / f"{part}.json", {"seconds": round(spent), **found})
    return 0


def _write(path: Path, found: dict[str, Any]) -> None:
    """JSON with a line for each dialect, so that a difference can be read."""
    lines = []
    for key, value in found.items():
        if isinstance(value, dict) and all(isinstance(each, dict) for each in value.values()):
            rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in value.items())
            lines.append(f" {json.dumps(key)}: {{\n{rows}\n }}")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
