"""What the doctors of the plugins have in common: findings are lines, and one that begins with `!` is a problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from .settings import RECORD, SETTINGS, from_environment, unknown_variables

__all__ = ["report", "settings_findings", "version_of", "xgrammar_findings"]

# Structural tags are made for these (docs/structural_tags.md).
OLDEST_XGRAMMAR, NEWEST_XGRAMMAR = (0, 2, 1), (0, 2, 9)


def version_of(distribution: str) -> str | None:
    """The version that is installed, or None."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def settings_findings(environment: Mapping[str, str]) -> Iterator[str]:
    """Each setting with its value, and what is wrong with them."""
    yield from (f"! {problem}" for problem in from_environment(environment).problems)
    yield from (f"! {problem}" for problem in unknown_variables(environment))
    for setting in SETTINGS:
        engine = f" ({setting.engine})" if setting.engine else ""
        value = environment.get(setting.variable, "").strip()
        yield f"{setting.variable}{engine}: {value or f'default: {setting.default}'}"
    if environment.get(RECORD, "").strip():
        yield f"! {RECORD} is set: what models write is recorded; unset it when the bug is found"


def xgrammar_findings() -> Iterator[str]:
    """Whether forced calls can be constrained."""
    found = version_of("xgrammar")
    if found is None:
        yield "XGrammar: not installed in this environment; an engine that constrains calls brings it"
        return
    yield f"XGrammar: {found}"
    numbers = tuple(int(part) for part in found.split(".")[:3] if part.isdecimal())
    if len(numbers) == 3 and not OLDEST_XGRAMMAR <= numbers <= NEWEST_XGRAMMAR:
        oldest, newest = (".".join(map(str, each)) for each in (OLDEST_XGRAMMAR, NEWEST_XGRAMMAR))
        yield f"! XGrammar {found}: structural tags are tested with {oldest} to {newest}"


def report(findings: Iterable[str]) -> int:
    """Print the findings; 1 if there is a problem."""
    problem = False
    for line in findings:
        problem |= line.startswith("!")
        print(line, flush=True)
    return int(problem)
