"""The plugin's settings: environment variables, since vLLM passes no options to a parser.

Those that every plugin reads (core/serving/settings.py), and

    TOOLGLOT_REPLACE            names, comma-separated   vLLM's own parsers that toolglot takes over:
                                                         `hermes`, or `NAME=DIALECT` for a name that is no dialect's
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from toolglot.core import ConfigurationError, get_dialect
from toolglot.core.serving.record import read_record
from toolglot.core.serving.settings import DIALECT, OPTIONS, RECORD, REPLACE, read_options, unknown_names

__all__ = ["Settings", "read_settings", "settings"]


@dataclass(frozen=True)
class Settings:
    """``options`` for the core; ``replace``: built-in name -> dialect; ``record``: the file that responses are recorded
    in, "" for none; ``problems``: what was not understood."""

    options: Mapping[str, Any]
    replace: Mapping[str, str]
    record: str = ""
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        chosen = {**self.options, **({"record": self.record} if self.record else {})}
        return ", ".join(f"{name}={value}" for name, value in chosen.items()) or "defaults"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in an environment. Never raises."""
    problems: list[str] = []
    options = read_options(environment, problems)
    replace: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in environment.get(REPLACE, "").split(","))):
        name, _, dialect = (part.strip() for part in entry.partition("="))
        try:
            replace[name] = get_dialect(dialect or name).name
        except ConfigurationError as error:
            problems.append(f"{REPLACE}: {entry!r} is left out: {error}")
    record = read_record(environment, problems)
    problems += unknown_names(environment, like=[*OPTIONS, DIALECT, RECORD, REPLACE])
    return Settings(options, replace, record, tuple(problems))


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return read_settings(os.environ)
