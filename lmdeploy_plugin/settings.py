"""The plugin's settings: environment variables, since LMDeploy passes no options to a parser.

    TOOLGLOT_UNDECLARED_TOOLS     drop | pass | text       a call to a tool that was not offered
    TOOLGLOT_REASONING_CALLS      resume | end | keep      what a call inside reasoning does (default: the dialect's)
    TOOLGLOT_ARGUMENTS            stream | complete        whether a call goes out before it is finished
    TOOLGLOT_STRICT               auto | always | never    whether `tool_choice="auto"` constrains the calls
    TOOLGLOT_LMDEPLOY_AUTOLOAD    0: nothing is registered when torch is imported (see autoload.py)

`auto` constrains where a tool says `strict: true`, which LMDeploy 0.18 drops from requests: there it is `never`.
A wrong value never stops the server: it is reported once and the default holds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

# variable -> option of the core, allowed values
OPTIONS = {
    "TOOLGLOT_UNDECLARED_TOOLS": ("undeclared_tools", ("drop", "pass", "text")),
    "TOOLGLOT_REASONING_CALLS": ("reasoning_calls", ("resume", "end", "keep")),
    "TOOLGLOT_ARGUMENTS": ("arguments", ("stream", "complete")),
}
STRICT = ("TOOLGLOT_STRICT", ("auto", "always", "never"))
# Settings of the other parts of toolglot, which may be set in the same environment.
ELSEWHERE = {"TOOLGLOT_LMDEPLOY_AUTOLOAD", "TOOLGLOT_REPLACE"}


@dataclass(frozen=True)
class Settings:
    """``options`` for the core; ``strict`` as above; ``problems``: what was not understood."""

    options: Mapping[str, Any] = field(default_factory=dict)
    strict: str = "auto"
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        chosen = {**self.options, **({} if self.strict == "auto" else {"strict": self.strict})}
        return ", ".join(f"{name}={value}" for name, value in chosen.items()) or "defaults"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in an environment. Never raises."""
    options: dict[str, str] = {}
    problems: list[str] = []

    def read(variable: str, allowed: tuple[str, ...]) -> str:
        value = environment.get(variable, "").strip().lower()
        if value and value not in allowed:
            problems.append(f"{variable}={value!r} is none of {', '.join(allowed)}; the default holds")
            return ""
        return value

    for variable, (option, allowed) in OPTIONS.items():
        if value := read(variable, allowed):
            options[option] = value
    strict = read(*STRICT) or "auto"
    known = {*OPTIONS, STRICT[0], *ELSEWHERE}
    for variable in sorted(environment):
        if variable.startswith("TOOLGLOT_") and variable not in known:
            problems.append(f"{variable} is no setting of toolglot; there are {', '.join(sorted(known))}")
    return Settings(options, strict, tuple(problems))


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return read_settings(os.environ)
