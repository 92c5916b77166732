"""Environment variables: what both plugins are set by, since engines pass no options to a parser.

    TOOLGLOT_UNDECLARED_TOOLS   drop | pass | text       a call to a tool that was not offered
    TOOLGLOT_REASONING_CALLS    resume | end | keep      what a call inside reasoning does (default: the dialect's own)
    TOOLGLOT_ARGUMENTS          stream | complete        whether a call goes out before it is finished
    TOOLGLOT_DIALECT            a dialect's name         what the parser name `toolglot` stands for (auto.py)
    TOOLGLOT_RECORD             a file                   responses are recorded there, for debugging (record.py)

A wrong value never stops a server: it is reported once and the default holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from .record import RECORD

__all__ = [
    "AUTOLOAD",
    "DIALECT",
    "KNOWN",
    "OPTIONS",
    "RECORD",
    "REPLACE",
    "STRICT",
    "read_choice",
    "read_options",
    "unknown_names",
]

# variable -> option of the core, allowed values
OPTIONS = {
    "TOOLGLOT_UNDECLARED_TOOLS": ("undeclared_tools", ("drop", "pass", "text")),
    "TOOLGLOT_REASONING_CALLS": ("reasoning_calls", ("resume", "end", "keep")),
    "TOOLGLOT_ARGUMENTS": ("arguments", ("stream", "complete")),
}
DIALECT = "TOOLGLOT_DIALECT"
# Those of one plugin; they may be set in the other's environment.
REPLACE = "TOOLGLOT_REPLACE"
STRICT = "TOOLGLOT_STRICT"
AUTOLOAD = "TOOLGLOT_LMDEPLOY_AUTOLOAD"
KNOWN = frozenset({*OPTIONS, DIALECT, RECORD, REPLACE, STRICT, AUTOLOAD})


def read_choice(environment: Mapping[str, str], variable: str, allowed: Sequence[str], problems: list[str]) -> str:
    """The variable's value, "" where there is none that is allowed."""
    value = environment.get(variable, "").strip().lower()
    if value and value not in allowed:
        problems.append(f"{variable}={value!r} is none of {', '.join(allowed)}; the default holds")
        return ""
    return value


def read_options(environment: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    """The options for the core."""
    read = {
        option: read_choice(environment, variable, allowed, problems) for variable, (option, allowed) in OPTIONS.items()
    }
    return {option: value for option, value in read.items() if value}


def unknown_names(environment: Mapping[str, str], like: Sequence[str] = ()) -> list[str]:
    """What to say about variables that look like ours and are not; with ``like`` only about those like one of them."""
    names = list(like) or sorted(KNOWN)
    return [
        f"{variable} is no setting of toolglot; there are {', '.join(names)}"
        for variable in sorted(environment)
        if variable.startswith("TOOLGLOT_")
        and variable not in KNOWN
        and (not like or get_close_matches(variable, like, 1, 0.8))
    ]
