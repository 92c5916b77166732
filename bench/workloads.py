"""What is timed: a response in one dialect, cut into chunks, and the result that every parser must give for it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolglot.core import get_dialect
from toolglot.core.serving.tokens import spellings

from .spelling import content_head, written

KB = 1024
MB = 1024 * KB

PROSE = "The north gate was closed in the storm, so the carts took the lower road by the mill. "
CODE = 'for name in sorted(names):\n    if limit < 3 and name != "":\n        total[name] = {"n": 1}\n'
DENSE = "a <b> { c < d } <<e>> {{f}} </g> {h} i<j k{l "
STRING = {"type": "string"}
# Tags that some families spell with ordinary tokens, and control tokens in the middle of a template.
_TAG = r"</?(?:｜DSML｜)?(?:parameter|function|invoke|arg_key|arg_value)\b[^<>\n]*>"
_TOKEN = r"<[|｜][^<>|｜\n]{1,40}[|｜]>"


def tool(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The tool that a response calls."""
    parameters = {"type": "object", "properties": dict(properties), "required": list(properties),
                  "additionalProperties": False}  # fmt: skip
    return {"type": "function", "function": {"name": "write_file", "parameters": parameters}}


FILE = tool({"path": STRING, "content": STRING})


class WrongResult(ValueError):
    """A parser made something else of a response."""


@dataclass(frozen=True)
class Workload:
    """One response. ``content`` and ``calls`` are the result, a call as its arguments. ``value`` is the long string."""

    name: str
    dialect: str
    text: str
    content: str | None
    calls: Sequence[Mapping[str, Any]]
    tool: Mapping[str, Any]
    value: str = ""

    def chunks(self, size: int) -> list[str]:
        """The text in chunks of ``size`` characters, cut anywhere; 0 for one chunk."""
        size = size or len(self.text)
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]

    def aligned(self, size: int) -> list[str]:
        """The text in chunks of about ``size`` characters that cut no marker: parsers for whole tokens meet no half."""
        chunks: list[str] = []
        inside: dict[int, int] = {}
        for found in _markers(self.dialect).finditer(self.text):
            inside.update(dict.fromkeys(range(found.start() + 1, found.end()), found.end()))
        start = 0
        while start < len(self.text):
            end = inside.get(start + size, start + size)
            chunks.append(self.text[start:end])
            start = end
        return chunks

    def check(self, content: str | None, arguments: Sequence[str]) -> None:
        """Raise WrongResult unless it is right."""
        if (content or None) != self.content:
            raise WrongResult(f"{self.dialect}, {self.name}: wrong content")
        if [_loads(text) for text in arguments] != [dict(call) for call in self.calls]:
            raise WrongResult(f"{self.dialect}, {self.name}: wrong calls")


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@lru_cache(maxsize=256)
def _markers(dialect: str) -> re.Pattern[str]:
    """The dialect's markers, and tags."""
    texts = sorted((text for text in spellings(get_dialect(dialect)) if _is_marker(text)), key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, texts), _TAG, _TOKEN]))


def _is_marker(text: str) -> bool:
    return len(text) > 2 and "{" not in text and text[0] in "<[" and text[-1] in ">]"


def fill(unit: str, size: int) -> str:
    """A text of ``size`` characters."""
    return (unit * (size // len(unit) + 1))[:size]


def size_name(size: int) -> str:
    """1 KB, 1 MB."""
    return f"{size // MB} MB" if size >= MB else f"{size // KB} KB"


def _calls(name: str, dialect: str, tool: Mapping[str, Any], *calls: Mapping[str, Any], value: str = "") -> Workload:
    return Workload(name, dialect, written(dialect, tool, calls), None, calls, tool, value)


def short_call(dialect: str) -> Workload:
    """One call, a hundred characters or so."""
    return _calls("short call", dialect, FILE, {"path": "notes.txt", "content": "The north gate was closed."})


def argument(dialect: str, size: int, *, code: bool = False) -> Workload:
    """One call with one long string argument: prose, or code with quotes, newlines, ``<`` and ``{``."""
    value = fill(CODE if code else PROSE, size)
    name = f"{'code' if code else 'string'} argument {size_name(size)}"
    return _calls(name, dialect, FILE, {"path": "notes.txt", "content": value}, value=value)


def many_arguments(dialect: str, count: int = 200) -> Workload:
    """One call with very many short string arguments."""
    values = {f"k{at:04d}": PROSE[at % 70 : at % 70 + 6].strip() for at in range(count)}
    return _calls(f"{count:,} short arguments", dialect, tool(dict.fromkeys(values, STRING)), values)


def many_calls(dialect: str, count: int = 20) -> Workload:
    """Parallel calls."""
    calls = [{"path": f"notes{at}.txt", "content": PROSE[at : at + 20].strip()} for at in range(count)]
    return _calls(f"{count} parallel calls", dialect, FILE, *calls)


def many_strings(dialect: str, count: int = 2000) -> Workload:
    """One argument that is a list of short strings."""
    words = [PROSE[at % 70 : at % 70 + 8].strip() for at in range(count)]
    return _calls(f"{count:,} short strings", dialect, tool({"tags": {"type": "array", "items": STRING}}),
                  {"tags": words})  # fmt: skip


def content(dialect: str, size: int, *, dense: bool = False) -> Workload:
    """Text for the user, plain or full of ``<`` and ``{``."""
    text = fill(DENSE if dense else PROSE, size)
    name = f"content {size_name(size)}" + (", dense" if dense else "")
    return Workload(name, dialect, content_head(dialect) + text, text, (), FILE)


Maker = Callable[[str], Workload]
