"""What both plugins are set by: environment variables, since engines pass no options to a parser, or `use`.

    from toolglot.core.serving.settings import Settings, use

    use(Settings(undeclared_tools="pass"))  # in a program that starts the engine itself, before it does

`SETTINGS` is the list; docs/settings.md and `toolglot doctor` are made from it. The hooks that engines call when they
start never raise, for any value: a server that uses none of these parsers must not fail. The parsers do, when a server
that uses one of them starts (`Settings.check`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import Any

from ..errors import ConfigurationError
from ..registry import get_dialect

__all__ = ["SETTINGS", "Setting", "Settings", "current", "from_environment", "unknown_variables", "use"]

PREFIX = "TOOLGLOT_"
OF_TESTS = "TOOLGLOT_TEST_"
DIALECT = "TOOLGLOT_DIALECT"
RECORD = "TOOLGLOT_RECORD"
REPLACE = "TOOLGLOT_REPLACE"
STRICT = "TOOLGLOT_STRICT"
AUTOLOAD = "TOOLGLOT_LMDEPLOY_AUTOLOAD"


@dataclass(frozen=True)
class Setting:
    """A row of the list: the environment variable, the values that it allows (empty: see ``form``) and their meaning.

    ``engine`` is the only engine that reads it; ``default`` is what holds where the variable is not set.
    """

    variable: str
    meaning: str
    values: tuple[str, ...] = ()
    form: str = ""
    default: str = "none"
    engine: str = ""

    @property
    def name(self) -> str:
        """The field of `Settings`."""
        return self.variable.removeprefix(PREFIX).lower()


SETTINGS = (
    Setting(
        "TOOLGLOT_UNDECLARED_TOOLS",
        "what becomes of a call to a tool that was not offered: dropped and counted, passed on, or shown as text",
        ("drop", "pass", "text"),
        default="drop",
    ),
    Setting(
        "TOOLGLOT_REASONING_CALLS",
        "what a call inside reasoning does: reasoning goes on behind it, ends with it, or keeps it as text",
        ("resume", "end", "keep"),
        default="the dialect's own (dialects.md)",
    ),
    Setting(
        "TOOLGLOT_ARGUMENTS",
        "whether arguments are sent while they are written, or a call only once it is finished",
        ("stream", "complete"),
        default="stream",
    ),
    Setting(DIALECT, "what the parser name `toolglot` stands for, in place of what is found", form="a dialect's name"),
    Setting(RECORD, "responses are recorded there, for `toolglot replay` (troubleshooting.md)", form="a file"),
    Setting(
        REPLACE,
        "vLLM's own parser names that toolglot takes over: `hermes`, or `NAME=DIALECT`",
        form="names with commas between",
        engine="vLLM",
    ),
    Setting(
        STRICT,
        'whether `tool_choice: "auto"` holds calls to the schemas; `auto`: where a tool says `strict: true`, which '
        "LMDeploy 0.18 drops from requests, so there never",
        ("auto", "always", "never"),
        default="auto",
        engine="LMDeploy",
    ),
    Setting(
        AUTOLOAD,
        "`0`: nothing is registered when torch is imported (lmdeploy.md)",
        ("1", "0"),
        default="1",
        engine="LMDeploy",
    ),
)


@dataclass(frozen=True)
class Settings:
    """The settings of a process; an empty value is the default. Raises ConfigurationError for a wrong one.

    ``replace`` maps names of vLLM's parsers to dialects; ``problems`` is what was wrong in the environment.
    """

    undeclared_tools: str = ""
    reasoning_calls: str = ""
    arguments: str = ""
    dialect: str = ""
    record: str = ""
    replace: Mapping[str, str] = field(default_factory=dict)
    strict: str = ""
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [*self._wrong()]
        if wrong:
            raise ConfigurationError("; ".join(wrong))

    def _wrong(self) -> Iterator[str]:
        for setting in SETTINGS:
            value = getattr(self, setting.name, "")
            if value and setting.values and value not in setting.values:
                yield f"{setting.variable}={value!r} is none of {', '.join(setting.values)}"
        for variable, names in ((DIALECT, [self.dialect]), (REPLACE, self.replace.values())):
            for name in filter(None, names):
                try:
                    get_dialect(name)
                except ConfigurationError as error:
                    yield f"{variable}: {error}"
        folder = os.path.dirname(self.record)
        if self.record and (not os.access(folder or ".", os.W_OK) or os.path.isdir(self.record)):
            yield f"{RECORD}={self.record!r} cannot be written"

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The options for the core."""
        chosen = {name: getattr(self, name) for name in ("undeclared_tools", "reasoning_calls", "arguments")}
        return {name: value for name, value in chosen.items() if value}

    def check(self) -> None:
        """Raise ConfigurationError if the environment held a wrong value."""
        if self.problems:
            raise ConfigurationError("; ".join(self.problems))

    def __str__(self) -> str:
        chosen = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "problems"}
        return ", ".join(f"{name}={value}" for name, value in chosen.items() if value) or "defaults"


def from_environment(environment: Mapping[str, str]) -> Settings:
    """The settings in an environment. Never raises: what is wrong is left out, and among the ``problems``."""
    chosen: dict[str, Any] = {}
    problems = []
    for name, value in _values(environment):
        try:
            Settings(**{name: value})
            chosen[name] = {**chosen.get(name, {}), **value} if isinstance(value, dict) else value
        except ConfigurationError as error:
            problems.append(str(error))
    return Settings(**chosen, problems=tuple(problems))


def _values(environment: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Field and value of each variable that is set, of TOOLGLOT_REPLACE for each entry."""
    for setting in SETTINGS:
        text = environment.get(setting.variable, "").strip()
        if not text or setting.variable == AUTOLOAD:  # autoload.py reads that itself: it may import nothing
            continue
        if setting.variable == REPLACE:
            for entry in filter(None, map(str.strip, text.split(","))):
                name, _, dialect = entry.partition("=")
                yield setting.name, {name.strip(): dialect.strip() or name.strip()}
        elif setting.variable == RECORD:
            yield setting.name, os.path.abspath(text)
        else:
            yield setting.name, text.lower() if setting.values else text


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """What to say about variables that look like settings and are none: a misspelt one, or one of another version."""
    known = [setting.variable for setting in SETTINGS]
    return [
        f"{variable} is no setting of toolglot; there are {', '.join(known)}"
        for variable in sorted(environment)
        if variable.startswith(PREFIX) and not variable.startswith(OF_TESTS) and variable not in known
    ]


_used: list[Settings] = []


def use(settings: Settings | None) -> None:
    """Settings for this process, in place of those in the environment; with None the latter hold again, read anew."""
    _used[:] = [] if settings is None else [settings]
    _of_process.cache_clear()


def current() -> Settings:
    """The settings of this process: those given to `use`, else those in the environment, read once."""
    return _used[0] if _used else _of_process()


@cache
def _of_process() -> Settings:
    return from_environment(os.environ)
