"""The plugin's settings: environment variables, since LMDeploy passes no options to a parser.

Those that every plugin reads (core/serving/settings.py), and

    TOOLGLOT_STRICT               auto | always | never    whether `tool_choice="auto"` constrains the calls
    TOOLGLOT_LMDEPLOY_AUTOLOAD    0: nothing is registered when torch is imported (see autoload.py)

`auto` constrains where a tool says `strict: true`, which LMDeploy 0.18 drops from requests: there it is `never`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from toolglot.core.serving.record import read_record
from toolglot.core.serving.settings import STRICT, read_choice, read_options, unknown_names

__all__ = ["Settings", "read_settings", "settings"]


@dataclass(frozen=True)
class Settings:
    """``options`` for the core; ``strict`` as above; ``record``: the file that responses are recorded in, "" for none;
    ``problems``: what was not understood."""

    options: Mapping[str, Any] = field(default_factory=dict)
    strict: str = "auto"
    record: str = ""
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        chosen = {**self.options, **({} if self.strict == "auto" else {"strict": self.strict})}
        chosen |= {"record": self.record} if self.record else {}
        return ", ".join(f"{name}={value}" for name, value in chosen.items()) or "defaults"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in an environment. Never raises."""
    problems: list[str] = []
    options = read_options(environment, problems)
    strict = read_choice(environment, STRICT, ("auto", "always", "never"), problems) or "auto"
    record = read_record(environment, problems)
    problems += unknown_names(environment)
    return Settings(options, strict, record, tuple(problems))


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return read_settings(os.environ)
