"""Counting and logging what was odd in responses: Prometheus counters, and a log line for what is new.

The counters live in the default registry, which engines show under /metrics, also with several API processes. They
carry no names of tools and no text.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..response import DROPS

__all__ = ["Metrics"]

CHARACTERS = "dropped_characters"


@cache
def _counters() -> tuple[Any, Any] | None:
    """The two counters; None where there is no Prometheus client."""
    try:
        from prometheus_client import Counter

        labels = ["engine", "dialect", "kind"]
        return (
            Counter("toolglot_anomalies", "What was odd in the text of responses, by kind.", labels),
            Counter("toolglot_dropped_characters", "Characters that reached no client.", labels[:2]),
        )
    except (ImportError, ValueError):  # ValueError: another copy of the module has registered them
        return None


class Metrics:
    """What one plugin counts, under the label of its engine, and says, through its own logger."""

    def __init__(self, engine: str, logger: logging.Logger) -> None:
        self._engine = engine
        self._logger = logger
        self._seen: set[tuple[str, str]] = set()
        self._counted: dict[tuple[str, str], Any] = {}  # dialect and kind -> the counter of these labels

    def count(self, dialect: str, anomalies: Mapping[str, int]) -> None:
        """Add to the counters."""
        for kind, number in anomalies.items():
            counter = self._counted.get((dialect, kind)) or self._counter(dialect, kind)
            if counter is not None:
                counter.inc(number)

    def _counter(self, dialect: str, kind: str) -> Any:
        counters = _counters()
        if counters is None:
            return None
        if kind == CHARACTERS:
            counter = counters[1].labels(self._engine, dialect)
        else:
            counter = counters[0].labels(self._engine, dialect, kind)
        self._counted[dialect, kind] = counter
        return counter

    def defect(self, dialect: str, error: Exception, about: str = "") -> None:
        """Account for a defect of ours that cost one response its parsing.

        The message of an exception may quote the response, so it is for the debug level; its place is ours.
        """
        self.count(dialect, {"defect": 1})
        self._logger.error(
            "toolglot: parsing failed (dialect %s%s); the rest of the response is passed on as text. %s in\n%s",
            dialect,
            about,
            type(error).__name__,
            "".join(traceback.format_tb(error.__traceback__)),
        )
        self._logger.debug("toolglot: %r", error)

    def report(self, dialect: str, anomalies: Mapping[str, int], special_tokens: int = 0) -> None:
        """Account for one response: count everything, and say what was dropped or malformed the first time."""
        if special_tokens:
            anomalies = {**anomalies, "special_token": special_tokens}
        if not anomalies:
            return
        self.count(dialect, anomalies)
        new = sorted(kind for kind in anomalies if (dialect, kind) not in self._seen and kind != CHARACTERS)
        for kind in new:
            self._seen.add((dialect, kind))
            what = "something was dropped from a response" if kind in DROPS else "an odd spelling was understood"
            self._logger.log(
                logging.WARNING if kind in DROPS else logging.INFO,
                "toolglot: dialect %s: %s (%s). Said once; toolglot_anomalies_total counts them",
                dialect,
                what,
                kind,
            )
