"""What is timed: a response in one dialect, cut into chunks, and the result every parser must give for it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    },
}

_STRING = {"type": "string"}
_PROSE = "The north gate was closed in the storm, so the carts took the lower road by the mill. "
_CODE = 'for name in sorted(names):\n    if limit < 3 and name != "":\n        total[name] = {"n": 1}\n'

# dialect -> (before the arguments, after them, how the arguments are written)
_SPELLING = {
    "hermes": ('<tool_call>\n{"name": "write_file", "arguments": ', "}\n</tool_call>", "json"),
    "qwen3_coder": (
        "<tool_call>\n<function=write_file>\n",
        "</function>\n</tool_call>",
        "qwen",
    ),
    "deepseek_v31": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>",
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "json",
    ),
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>",
        "<|tool_call_end|><|tool_calls_section_end|>",
        "json",
    ),
    "llama4_pythonic": ("[write_file(", ")]", "python"),
    "mistral": ("[TOOL_CALLS]write_file[ARGS]", "", "json"),
    "gpt_oss": (
        "<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>",
        "<|call|>",
        "json",
    ),
}
# Markers that are one token in the families' vocabularies arrive whole, as they do in an engine.
_TOKENS = re.compile(r"(</?tool_call>|<[|｜][^<>]*?[|｜]>|\[TOOL_CALLS\]|\[ARGS\])")
# Parsers that are written for whole tokens never meet the inside of these.
_TAGS = re.compile(_TOKENS.pattern + r"|</?(?:parameter|function)[^<>\n]*>")


@dataclass(frozen=True)
class Workload:
    """One response. ``content`` and ``arguments`` are the result, arguments as a dict."""

    name: str
    dialect: str
    text: str
    content: str | None
    arguments: dict[str, str] | None
    tool: dict[str, Any] = field(default_factory=lambda: TOOL)

    def aligned(self, size: int) -> list[str]:
        """The text in chunks of about ``size`` characters: no cut is inside a marker or a tag."""
        chunks: list[str] = []
        start = 0
        tags = [found.span() for found in _TAGS.finditer(self.text)]
        inside = {at: end for begin, end in tags for at in range(begin + 1, end)}
        while start < len(self.text):
            end = inside.get(start + size, start + size)
            chunks.append(self.text[start:end])
            start = end
        return chunks

    def chunks(self, size: int) -> list[str]:
        """The text in chunks of ``size`` characters, markers whole."""
        chunks: list[str] = []
        for piece in _TOKENS.split(self.text):
            if _TOKENS.fullmatch(piece):
                chunks.append(piece)
            else:
                chunks += [piece[at : at + size] for at in range(0, len(piece), size)]
        return chunks

    def check(self, content: str | None, arguments: list[str]) -> None:
        """Raise ValueError unless the result is right."""
        wanted = [] if self.arguments is None else [self.arguments]
        if (content or None) != self.content or [json.loads(text) for text in arguments] != wanted:
            raise ValueError(f"{self.dialect}, {self.name}: wrong result")


def _fill(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _written(style: str, values: dict[str, str]) -> str:
    if style == "json":
        return json.dumps(values)
    if style == "python":
        return ", ".join(f"{key}={json.dumps(value)}" for key, value in values.items())
    return "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())


def content(dialect: str, size: int) -> Workload:
    """Plain text for the user."""
    text = _fill(_PROSE, size)
    raw = f"<|channel|>final<|message|>{text}" if dialect == "gpt_oss" else text
    return Workload(f"content {size // 1024} KB", dialect, raw, text, None)


def argument(dialect: str, size: int, *, code: bool = False) -> Workload:
    """One call with one long string argument."""
    before, after, style = _SPELLING[dialect]
    values = {"path": "notes.txt", "content": _fill(_CODE if code else _PROSE, size)}
    kind = "code" if code else "string"
    raw = before + _written(style, values) + after
    return Workload(f"{kind} argument {size // 1024} KB", dialect, raw, None, values)


def short_strings(dialect: str, size: int) -> Workload:
    """One call with very many short string arguments."""
    before, after, style = _SPELLING[dialect]
    values = {f"k{at:04d}": _PROSE[at % 70 : at % 70 + 6] for at in range(size // 20)}
    function = {"name": "write_file", "parameters": {"type": "object", "properties": dict.fromkeys(values, _STRING)}}
    raw = before + _written(style, values) + after
    tool = {"type": "function", "function": function}
    return Workload(f"short strings {size // 1024} KB", dialect, raw, None, values, tool)


DIALECTS = list(_SPELLING)
