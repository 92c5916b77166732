"""Counting and logging what was odd in responses: Prometheus counters, and a log line for what is new.

The counters live in the default registry, which LMDeploy's /metrics shows where metrics are enabled. They carry no
names of tools and no text.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any

from toolglot.core.response import DROPS

__all__ = ["count", "report"]

logger = logging.getLogger("lmdeploy.toolglot")

CHARACTERS = "dropped_characters"
_seen: set[tuple[str, str]] = set()


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


def count(dialect: str, anomalies: Mapping[str, int]) -> None:
    """Add to the counters."""
    counters = _counters()
    if counters is None:
        return
    for kind, number in anomalies.items():
        if kind == CHARACTERS:
            counters[1].labels("lmdeploy", dialect).inc(number)
        else:
            counters[0].labels("lmdeploy", dialect, kind).inc(number)


def report(dialect: str, anomalies: Mapping[str, int], special_tokens: int = 0) -> None:
    """Account for one response: count everything, and say what was dropped or malformed the first time."""
    if special_tokens:
        anomalies = {**anomalies, "special_token": special_tokens}
    if not anomalies:
        return
    count(dialect, anomalies)
    for kind in sorted(anomalies):
        if (dialect, kind) in _seen or kind == CHARACTERS:
            continue
        _seen.add((dialect, kind))
        dropped = kind in DROPS
        logger.log(
            logging.WARNING if dropped else logging.INFO,
            "toolglot: dialect %s: %s (%s). Said once; toolglot_anomalies_total counts them",
            dialect,
            "something was dropped from a response" if dropped else "an odd spelling was understood",
            kind,
        )
