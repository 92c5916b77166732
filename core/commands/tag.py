"""print the structural tag of a request

Prints XGrammar's structural tag as JSON, or with --sample random texts of it and what they parse to, a JSON line each.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal

from ..deltas import assemble
from ..errors import ConfigurationError
from ..registry import get_dialect, list_dialects
from ..response import ResponseParser
from ..sampling import Sampler
from ..structural import build_tag, structural_tag
from .parse import positive, read_tools

_COVERED: dict[str, bool | Literal["optional"]] = {"none": False, "open": True, "optional": "optional"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What is constrained, and how many texts to show."""
    parser.add_argument("--dialect", required=True, help=f"one of {', '.join(list_dialects())}, or an alias")
    parser.add_argument("--tools", metavar="FILE", required=True, help="JSON list of OpenAI tools")
    parser.add_argument("--tool-choice", metavar="CHOICE", default="auto",
                        help='"auto" (default), "required", "none", the name of a tool, or a JSON object')  # fmt: skip
    parser.add_argument("--reasoning", choices=tuple(_COVERED), default="none",
                        help="the tag covers reasoning: begun by the prompt, or left to the model")  # fmt: skip
    parser.add_argument("--single", action="store_true", help="at most one call (parallel_tool_calls=false)")
    parser.add_argument("--sample", type=positive, metavar="N", help="print N random texts instead; needs xgrammar")
    parser.add_argument("--seed", default="0", help="of the random texts")


def run(arguments: argparse.Namespace) -> int:
    """Print the tag or the texts."""
    for line in _lines(arguments):
        print(line, flush=True)
    return 0


def _lines(arguments: argparse.Namespace) -> Iterator[str]:
    tools, choice = read_tools(arguments.tools), _choice(arguments.tool_choice)
    reasoning = _COVERED[arguments.reasoning]
    dialect = get_dialect(arguments.dialect)
    tag = structural_tag(dialect, tools, choice, reasoning=reasoning, parallel_tool_calls=not arguments.single)
    for tool, _ in build_tag(dialect, tools, choice, reasoning=reasoning)[1]:
        for note in (*tool.loosened, *tool.narrowed):
            print(f"tool {tool.name!r} is not constrained to the letter of its schema: {note}", file=sys.stderr)
    if not arguments.sample:
        yield json.dumps(tag, ensure_ascii=False, indent=2)
        return
    if tag is None:
        raise ConfigurationError("nothing is to be constrained: there are no texts to show")
    sampler, rng = Sampler(dialect, tag), random.Random(arguments.seed)
    for _ in range(arguments.sample):
        tokens = sampler.walk(rng)
        if tokens is None:
            yield json.dumps({"text": None, "note": "this text did not end in time"})
            continue
        parser = ResponseParser(
            dialect,
            tools,
            tool_choice=choice,
            parallel_tool_calls=not arguments.single,
            reasoning=reasoning is not False,
            starts_in_reasoning=None if dialect.messages is not None else reasoning is True,
        )
        text = "".join(tokens)
        message = asdict(assemble(parser.feed(text) + parser.finish()))
        yield json.dumps({"text": text, **message, "anomalies": dict(parser.anomalies)}, ensure_ascii=False)


def _choice(text: str) -> Any:
    """A tool choice as the API has it: a word, a name, or JSON."""
    if text in ("auto", "required", "none"):
        return text
    if text.startswith("{"):
        try:
            return json.loads(text)
        except ValueError as error:
            raise ConfigurationError(f"--tool-choice is not JSON: {error}") from error
    return {"type": "function", "function": {"name": text}}
