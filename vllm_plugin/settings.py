"""The plugin's settings: environment variables, since vLLM passes no options to a parser.

    TOOLGLOT_UNDECLARED_TOOLS   drop | pass | text       a call to a tool that was not offered
    TOOLGLOT_REASONING_CALLS    resume | end | keep      what a call inside reasoning does (default: the dialect's own)
    TOOLGLOT_ARGUMENTS          stream | complete        whether a call goes out before it is finished
    TOOLGLOT_REPLACE            names, comma-separated   vLLM's own parsers that toolglot takes over:
                                                         `hermes`, or `NAME=DIALECT` for a name that is no dialect's

A wrong value never stops the server: it is reported once and the default holds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from toolglot.core import ConfigurationError, get_dialect

__all__ = ["Settings", "read_settings", "settings"]

# variable -> option of the core, allowed values
OPTIONS = {
    "TOOLGLOT_UNDECLARED_TOOLS": ("undeclared_tools", ("drop", "pass", "text")),
    "TOOLGLOT_REASONING_CALLS": ("reasoning_calls", ("resume", "end", "keep")),
    "TOOLGLOT_ARGUMENTS": ("arguments", ("stream", "complete")),
}
REPLACE = "TOOLGLOT_REPLACE"


@dataclass(frozen=True)
class Settings:
    """``options`` for the core; ``replace``: built-in name -> dialect; ``problems``: what was not understood."""

    options: Mapping[str, Any]
    replace: Mapping[str, str]
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.options.items()) or "defaults"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in an environment. Never raises."""
    options: dict[str, str] = {}
    problems: list[str] = []
    for variable, (option, allowed) in OPTIONS.items():
        value = environment.get(variable, "").strip().lower()
        if value in allowed:
            options[option] = value
        elif value:
            problems.append(f"{variable}={value!r} is none of {', '.join(allowed)}; the default holds")
    replace: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in environment.get(REPLACE, "").split(","))):
        name, _, dialect = (part.strip() for part in entry.partition("="))
        try:
            replace[name] = get_dialect(dialect or name).name
        except ConfigurationError as error:
            problems.append(f"{REPLACE}: {entry!r} is left out: {error}")
    known = [*OPTIONS, REPLACE]
    for variable in sorted(environment):
        if variable.startswith("TOOLGLOT_") and variable not in known and get_close_matches(variable, known, 1, 0.8):
            problems.append(f"{variable} is no setting of toolglot; there are {', '.join(known)}")
    return Settings(options, replace, tuple(problems))


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return read_settings(os.environ)
