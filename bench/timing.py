"""Timing on a machine that others use too: processor time, subjects in turns, medians of ratios."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from time import process_time

__all__ = ["in_turns", "median", "ratio", "seconds"]

SHORTEST = 0.004  # seconds of one timed stretch: the clock is too coarse for less
Run = Callable[[], object]


def seconds(run: Run, times: int = 1) -> float:
    """Processor time of one run; short ones are run several times."""
    started = process_time()
    for _ in range(times):
        run()
    return (process_time() - started) / times


def in_turns(
    subjects: Sequence[Run], rounds: int, budget: float, shortest: float = SHORTEST
) -> list[list[float]]:
    """Each subject's times, measured in turns, so that a noisy machine disturbs all of them alike.

    A timed stretch takes ``shortest`` seconds or more: the first runs behind another subject find cold caches, which
    would count for a fast subject many times as much as for a slow one. Stops after ``budget`` seconds, but not before
    two rounds. Long runs count from the first one.
    """
    gc.collect()
    started = process_time()
    first = [seconds(run) for run in subjects]
    warm_up = (seconds(run) if spent < shortest else spent for run, spent in zip(subjects, first, strict=True))
    times = [max(1, int(shortest / max(spent, 1e-7))) for spent in warm_up]
    long = max(first) > budget
    found: list[list[float]] = [[spent] if long else [] for spent in first]
    while len(found[0]) < 2 or (len(found[0]) < rounds and process_time() - started < budget):
        for run, count, spent in zip(subjects, times, found, strict=True):
            spent.append(seconds(run, count))
    return found


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median over the rounds: what slows a whole round down does not matter."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


median = statistics.median
