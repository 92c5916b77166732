"""What the tests of both engines share: tools, a response as a client has it, the corpus and ways to cut its texts."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolglot.core.serving.settings import Settings, from_environment

CORPUS = Path(__file__).resolve().parent.parent / "corpus"


def tool(name: str, properties: dict[str, Any], **function: Any) -> dict[str, Any]:
    """An OpenAI tool dict."""
    parameters = {"type": "object", "properties": properties, "required": sorted(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **function}}


WEATHER = tool("get_weather", {"city": {"type": "string"}, "days": {"type": "integer"}})
PING = tool("ping", {})
TOOLS = [WEATHER, PING]


@dataclass
class Result:
    """A response as a client has it in the end."""

    content: str | None = None
    reasoning: str | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)


def corpus(dialect: str) -> list[dict[str, Any]]:
    """The corpus lines of a dialect, with their tools."""
    standard = json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
    text = (CORPUS / f"{dialect}.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n") if line.strip()]
    for line in lines:
        if line["tools"] == "std":
            line["tools"] = standard
    return lines


def chunkings(text: str, identity: str, count: int = 20) -> list[list[str]]:
    """Whole, per character, and at random places."""
    dice = random.Random(identity)
    found = [[text], list(text)]
    for _ in range(count if len(text) > 2 else 0):
        cuts = sorted(dice.sample(range(1, len(text)), min(len(text) - 1, dice.randint(1, 8))))
        found.append([text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)])
    return found


# Options of a corpus line that become fields of the request, and those that become environment variables.
FIELDS = {"tool_choice", "parallel_tool_calls"}
VARIABLES = {"undeclared_tools", "reasoning_calls", "arguments"}


def taken(options: dict[str, Any], tools: list[Any]) -> tuple[dict[str, Any], Settings]:
    """Takes the fields of the request and the process's settings out of a corpus line's options."""
    fields = {key: options.pop(key) for key in list(options) if key in FIELDS} if tools else {}
    environment = {f"TOOLGLOT_{key}".upper(): options.pop(key) for key in list(options) if key in VARIABLES}
    read = from_environment(environment)
    assert not read.problems
    return fields, read
