"""The corpus: tests/corpus/<dialect>.jsonl, one case a line, checked against a schema when it is read.

A line holds what a model wrote (`raw`), the request's tools and settings, and the exact expected message.
"std" as tools stands for the shared tool set in tests/corpus/tools.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
MINIMUM = 15  # lines of a dialect

_TEXT = {"type": ["string", "null"]}
_CHOICE = {
    "anyOf": [
        {"enum": ["none", "auto", "required"]},
        {
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"enum": ["function", "allowed_tools"]}},
        },
    ]
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "source", "raw", "tools", "expected"],
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]*$"},
        "source": {"type": "string", "pattern": "^(https://|format definition: ).+"},
        "note": {"type": "string", "minLength": 1},
        "raw": {"type": "string"},
        "tools": {
            "anyOf": [
                {"const": "std"},
                {"type": "null"},
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["type", "function"],
                        "properties": {
                            "type": {"const": "function"},
                            "function": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {"name": {"type": "string", "minLength": 1}},
                            },
                        },
                    },
                },
            ]
        },
        "options": {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {
                "starts_in_reasoning": {"type": "boolean"},
                "reasoning": {"type": "boolean"},
                "tool_choice": _CHOICE,
                "parallel_tool_calls": {"type": "boolean"},
                "undeclared_tools": {"enum": ["drop", "pass", "text"]},
                "reasoning_calls": {"enum": ["resume", "end", "keep"]},
                "arguments": {"enum": ["stream", "complete"]},
                "previous_calls": {"type": "integer", "minimum": 0},
            },
        },
        "finish_reason": {"type": "string", "minLength": 1},
        "expected": {
            "type": "object",
            "additionalProperties": False,
            "required": ["content", "reasoning", "tool_calls"],
            "properties": {
                "content": _TEXT,
                "reasoning": _TEXT,
                "tool_calls": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["name", "arguments", "complete"],
                        "properties": {
                            "name": {"type": "string", "minLength": 1},
                            "arguments": {"type": "string"},
                            "complete": {"type": "boolean"},
                            "id": {"type": "string", "minLength": 1},
                        },
                    },
                },
            },
        },
        "anomalies": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "integer", "minimum": 0},
            "propertyNames": {"not": {"const": "dropped_characters"}},
        },
    },
}
_VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


class CorpusError(Exception):
    """A corpus file that breaks its own rules; names the file and the line."""


@dataclass(frozen=True)
class CorpusLine:
    """One case. `tools` is already resolved, `options` are keyword options of the parser."""

    dialect: str
    id: str
    raw: str
    tools: Sequence[Mapping[str, Any]] | None
    options: Mapping[str, Any]
    finish_reason: str | None
    expected: Mapping[str, Any]
    anomalies: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.dialect}/{self.id}"

    @property
    def streams(self) -> bool:
        """Whether arguments go out as they come."""
        return self.options.get("arguments", "stream") == "stream"


@cache
def std_tools() -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
    return tools


def load(dialect: str) -> list[CorpusLine]:
    """The lines of one dialect. Raises CorpusError when the file breaks the format or is too short."""
    path = CORPUS / f"{dialect}.jsonl"
    lines: list[CorpusLine] = []
    seen: set[str] = set()
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not text.strip():
            continue
        where = f"{path.name}:{number}"
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise CorpusError(f"{where}: not JSON: {error}") from error
        fault = next(iter(sorted(_VALIDATOR.iter_errors(data), key=lambda e: list(map(str, e.absolute_path)))), None)
        if fault is not None:
            raise CorpusError(f"{where}: {fault.json_path}: {fault.message}")
        if data["id"] in seen:
            raise CorpusError(f"{where}: the id {data['id']!r} is used twice")
        seen.add(data["id"])
        for text_or_none in (data["expected"]["content"], data["expected"]["reasoning"]):
            if text_or_none == "":
                raise CorpusError(f"{where}: empty text is expected as null")
        lines.append(
            CorpusLine(
                dialect,
                data["id"],
                data["raw"],
                std_tools() if data["tools"] == "std" else data["tools"],
                data.get("options", {}),
                data.get("finish_reason"),
                data["expected"],
                data.get("anomalies", {}),
            )
        )
    if len(lines) < MINIMUM:
        raise CorpusError(f"{path.name}: {len(lines)} lines, at least {MINIMUM} are needed")
    return lines


def dialects() -> list[str]:
    """The dialects that have a corpus."""
    return sorted(path.stem for path in CORPUS.glob("*.jsonl"))


@cache
def all_lines() -> tuple[CorpusLine, ...]:
    return tuple(line for dialect in dialects() for line in load(dialect))
