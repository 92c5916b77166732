"""parse raw model text

Prints the assembled message as JSON, or its deltas as JSON lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from ..deltas import Delta, assemble
from ..errors import ConfigurationError
from ..registry import list_dialects
from ..response import ResponseParser


def arguments(parser: argparse.ArgumentParser) -> None:
    """The core's options, and how the text is cut."""
    add_request(parser)
    parser.add_argument("--chunk", type=positive, metavar="N", help="feed N characters at a time (default: all)")
    parser.add_argument("--stream", action="store_true", help="print the deltas instead of the message")
    parser.add_argument("file", nargs="?", metavar="FILE", help="raw text, UTF-8 (default: standard input)")


def add_request(parser: argparse.ArgumentParser, *, dialect: bool = True) -> None:
    """What says how one response is parsed. The dialect may be left out where something else gives it."""
    parser.add_argument("--dialect", required=dialect, help=f"one of {', '.join(list_dialects())}, or an alias")
    parser.add_argument("--tools", metavar="FILE", help="JSON list of OpenAI tools; without it no name is filtered")
    parser.add_argument("--reasoning", choices=("auto", "open", "off"), default="auto",
                        help="open: the prompt opened a reasoning block; off: its tags are content")  # fmt: skip
    parser.add_argument("--tool-choice", metavar="CHOICE", help='"auto", "required", "none" or the name of a tool')
    parser.add_argument("--undeclared-tools", choices=("drop", "pass", "text"), default="drop")
    parser.add_argument("--reasoning-calls", choices=("resume", "end", "keep"), help="a call inside reasoning")
    parser.add_argument("--arguments", choices=("stream", "complete"), default="stream")


def request_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Tools and keyword options of the core, as the arguments say."""
    choice = arguments.tool_choice
    if choice not in (None, "auto", "required", "none"):
        choice = {"type": "function", "function": {"name": choice}}
    return {
        "tools": read_tools(arguments.tools),
        "starts_in_reasoning": True if arguments.reasoning == "open" else None,
        "reasoning": arguments.reasoning != "off",
        "tool_choice": choice,
        "undeclared_tools": arguments.undeclared_tools,
        "reasoning_calls": arguments.reasoning_calls,
        "arguments": arguments.arguments,
    }


def run(arguments: argparse.Namespace) -> int:
    """Print the message or the deltas."""
    for line in _lines(arguments):
        print(line, flush=arguments.stream)
    return 0


def positive(text: str) -> int:
    """An option that is a number of 1 or more."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a number of 1 or more, not {text!r}")
    return value


def _lines(arguments: argparse.Namespace) -> list[str]:
    """The lines to print."""
    text = read_text(arguments.file)
    parser = ResponseParser(arguments.dialect, **request_options(arguments))
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


def read_text(path: str | None) -> str:
    """A file, or standard input, as it is: no newline is translated."""
    try:
        if path is not None:
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()
        if sys.stdin is None:
            raise ConfigurationError("no FILE is given, and standard input is closed")
        buffer = getattr(sys.stdin, "buffer", None)
        return buffer.read().decode("utf-8") if buffer is not None else sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path or 'standard input'} is no UTF-8 text: {error}") from error


def read_tools(path: str | None) -> Any:
    """A file with a JSON list of tools; None where there is no file."""
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"{path} is not JSON: {error}") from error
