"""What the doctors of the plugins have in common: findings are lines, and one that begins with `!` is a problem."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

__all__ = ["report", "version_of"]


def version_of(distribution: str) -> str | None:
    """The version that is installed, or None."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def report(findings: Iterable[str]) -> int:
    """Print the findings; 1 if there is a problem."""
    problem = False
    for line in findings:
        problem |= line.startswith("!")
        print(line, flush=True)
    return int(problem)
