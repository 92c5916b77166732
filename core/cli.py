"""The command line: ``toolglot parse`` turns raw model text into a message or its deltas; no engine is needed.

``toolglot doctor`` is the engine plugins' own: the core knows them by name only, and imports them when it runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .deltas import Delta, assemble
from .errors import ConfigurationError
from .registry import list_dialects
from .response import ResponseParser

DOCTORS = ("toolglot.vllm_plugin.doctor", "toolglot.lmdeploy_plugin.doctor")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. Wrong requests exit with 2 and one line on standard error."""
    arguments = _arguments().parse_args(argv)
    if arguments.command == "doctor":
        return _doctor()
    try:
        for line in _parse(arguments):
            print(line, flush=arguments.stream)
    except (ConfigurationError, OSError, UnicodeDecodeError) as error:
        print(f"toolglot: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="toolglot", description="One parser for every LLM tool-call dialect.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("doctor", help="look for what keeps the engines here from using toolglot")
    parse = commands.add_parser(
        "parse",
        help="parse raw model text",
        description="Parse raw model text: prints the assembled message as JSON, or its deltas as JSON lines.",
    )
    parse.add_argument("--dialect", required=True, help=f"one of {', '.join(list_dialects())}, or an alias")
    parse.add_argument("--tools", metavar="FILE", help="JSON list of OpenAI tools; without it no name is filtered")
    parse.add_argument("--chunk", type=_positive, metavar="N", help="feed N characters at a time (default: all)")
    parse.add_argument("--stream", action="store_true", help="print the deltas instead of the message")
    parse.add_argument("--reasoning", choices=("auto", "open", "off"), default="auto",
                       help="open: the prompt opened a reasoning block; off: its tags are content")  # fmt: skip
    parse.add_argument("--tool-choice", metavar="CHOICE", help='"auto", "required", "none" or the name of a tool')
    parse.add_argument("--undeclared-tools", choices=("drop", "pass", "text"), default="drop")
    parse.add_argument("--reasoning-calls", choices=("resume", "end", "keep"), help="a call inside reasoning")
    parse.add_argument("--arguments", choices=("stream", "complete"), default="stream")
    parse.add_argument("file", nargs="?", metavar="FILE", help="raw text, UTF-8 (default: standard input)")
    return parser


def _doctor() -> int:
    """Run the doctor of every engine plugin; the status is 1 when one of them found a problem."""
    return max([int(importlib.import_module(name).main()) for name in DOCTORS])


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"chunk size must be a positive number of characters, not {text!r}")
    return value


def _parse(arguments: argparse.Namespace) -> list[str]:
    """The lines to print."""
    text = _read(arguments.file)
    choice = arguments.tool_choice
    if choice not in (None, "auto", "required", "none"):
        choice = {"type": "function", "function": {"name": choice}}
    parser = ResponseParser(
        arguments.dialect,
        _read_tools(arguments.tools),
        starts_in_reasoning=True if arguments.reasoning == "open" else None,
        reasoning=arguments.reasoning != "off",
        tool_choice=choice,
        undeclared_tools=arguments.undeclared_tools,
        reasoning_calls=arguments.reasoning_calls,
        arguments=arguments.arguments,
    )
    size = arguments.chunk or max(len(text), 1)
    deltas: list[Delta] = []
    for at in range(0, len(text), size):
        deltas += parser.feed(text[at : at + size])
    deltas += parser.finish()
    if arguments.stream:
        return [json.dumps(_delta(delta), ensure_ascii=False) for delta in deltas]
    message: dict[str, Any] = asdict(assemble(deltas))
    message["anomalies"] = dict(parser.anomalies)
    return [json.dumps(message, ensure_ascii=False, indent=2)]


def _delta(delta: Delta) -> dict[str, Any]:
    fields = {key: value for key, value in asdict(delta).items() if value is not None}
    return {"kind": delta.kind, **fields}


def _read(path: str | None) -> str:
    """The text as it is: no newline is translated."""
    if path is not None:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    buffer = getattr(sys.stdin, "buffer", None)
    return buffer.read().decode("utf-8") if buffer is not None else sys.stdin.read()


def _read_tools(path: str | None) -> Any:
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError as error:
            raise ConfigurationError(f"{path} is not JSON: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
