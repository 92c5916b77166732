"""Numbers between limits, as bodies of EBNF rules: XGrammar knows limits of JSON numbers only.

An integer's digits are compared with those of the limits from the left: a shared beginning, then a digit between the
two where they first differ, then anything.
"""

from __future__ import annotations

from math import ceil, floor

__all__ = ["integers", "numbers"]

_DIGITS = 16  # of a number without a limit


def integers(low: int | None, high: int | None) -> list[str]:
    """Alternatives that together are the integers from ``low`` to ``high``; empty where there are none."""
    found = []
    if low is None or low < 0:
        least = 1 if high is None or high >= 0 else -high
        found += [f'"-" {each}' for each in _naturals(least, None if low is None else -low)]
    if high is None or high >= 0:
        found += _naturals(max(low or 0, 0), high)
    return found


def numbers(low: float | None, high: float | None, *, open_low: bool = False, open_high: bool = False) -> list[str]:
    """Alternatives for numbers between the limits, with up to 16 digits behind the point, without exponents."""
    least = None if low is None else floor(low) + 1 if open_low else ceil(low)
    most = None if high is None else ceil(high) - 1 if open_high else floor(high)
    found = integers(least, most) if least is None or most is None or least <= most else []
    # A fraction behind n lies between n and n + 1; behind -n between -n - 1 and -n.
    tail = f'"." [0-9]{{0,{_DIGITS - 1}}} [1-9]'
    bottom, top = None if low is None else ceil(low), None if high is None else floor(high)
    if top is None or top >= 1:
        least = max(bottom or 0, 0)
        if top is None or least < top:
            found += [f"{each} {tail}" for each in _naturals(least, None if top is None else top - 1)]
    if bottom is None or bottom <= -1:
        least = 0 if top is None or top >= 0 else -top
        if bottom is None or least < -bottom:
            found += [f'"-" {each} {tail}' for each in _naturals(least, None if bottom is None else -bottom - 1)]
    return found


def _naturals(low: int, high: int | None) -> list[str]:
    """Alternatives for the natural numbers from ``low`` to ``high``."""
    if high is None:
        found = _between(str(low), "9" * len(str(low)))
        size = len(str(low))
        return [*found, f"[1-9] [0-9]{{{size},{max(size, _DIGITS - 1)}}}"]
    found = []
    while low <= high:
        top = min(high, 10 ** len(str(low)) - 1)
        found += _between(str(low), str(top))
        low = top + 1
    return found


def _between(low: str, high: str) -> list[str]:
    """Alternatives for the numbers between two of the same length."""
    if low == high:
        return [f'"{low}"']
    same = 0
    while low[same] == high[same]:
        same += 1
    lead, rest = low[:same], len(low) - same - 1
    if not rest:
        return [_joined(lead, low[same], high[same], 0)]
    found = []
    first, last = int(low[same]), int(high[same])
    if low[same + 1 :].strip("0"):
        found += [_after(lead + low[same], each) for each in _between(low[same + 1 :], "9" * rest)]
        first += 1
    if high[same + 1 :].strip("9"):
        found += [_after(lead + high[same], each) for each in _between("0" * rest, high[same + 1 :])]
        last -= 1
    if first <= last:
        found.append(_joined(lead, str(first), str(last), rest))
    return found


def _after(lead: str, rest: str) -> str:
    return f'"{lead}" {rest}'


def _joined(lead: str, first: str, last: str, more: int) -> str:
    parts = [f'"{lead}"'] if lead else []
    parts.append(f'"{first}"' if first == last else f"[{first}-{last}]")
    if more:
        parts.append(f"[0-9]{{{more}}}")
    return " ".join(parts)
