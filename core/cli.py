"""The command line: ``toolglot parse`` turns raw model text into a message or its deltas, ``toolglot tag`` prints the
structural tag of a request; no engine is needed.

``toolglot doctor`` is the engine plugins' own: the core knows them by name only, and imports them when it runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Literal

from .deltas import Delta, assemble
from .errors import ConfigurationError
from .registry import get_dialect, list_dialects
from .response import ResponseParser
from .sampling import Sampler
from .structural import structural_tag

DOCTORS = ("toolglot.vllm_plugin.doctor",)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. Wrong requests exit with 2 and one line on standard error."""
    arguments = _arguments().parse_args(argv)
    if arguments.command == "doctor":
        return _doctor()
    try:
        for line in _tag(arguments) if arguments.command == "tag" else _parse(arguments):
            print(line, flush=True)
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
    tag = commands.add_parser(
        "tag",
        help="print a structural tag",
        description="Print XGrammar's structural tag for a request as JSON, or random texts of it and how they parse.",
    )
    tag.add_argument("--dialect", required=True, help=f"one of {', '.join(list_dialects())}, or an alias")
    tag.add_argument("--tools", metavar="FILE", required=True, help="JSON list of OpenAI tools")
    tag.add_argument("--tool-choice", metavar="CHOICE", default="auto",
                     help='"auto" (default), "required", "none", the name of a tool, or a JSON object')  # fmt: skip
    tag.add_argument("--reasoning", choices=("none", "open", "optional"), default="none",
                     help="the tag covers a reasoning section: begun by the prompt, or left to the model")  # fmt: skip
    tag.add_argument("--single", action="store_true", help="at most one call (parallel_tool_calls=false)")
    tag.add_argument("--sample", type=_positive, metavar="N", help="print N random texts instead; needs xgrammar")
    tag.add_argument("--seed", default="0", help="of the random texts")
    return parser


def _doctor() -> int:
    """Run the doctor of every engine plugin; the status is 1 when one of them found a problem."""
    return max(int(importlib.import_module(name).main()) for name in DOCTORS)


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
    parser = ResponseParser(
        arguments.dialect,
        _read_tools(arguments.tools),
        starts_in_reasoning=True if arguments.reasoning == "open" else None,
        reasoning=arguments.reasoning != "off",
        tool_choice=_choice(arguments.tool_choice),
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


def _tag(arguments: argparse.Namespace) -> Iterator[str]:
    """The tag, or texts of it with what they parse to, one JSON line each."""
    tools, choice = _read_tools(arguments.tools), _choice(arguments.tool_choice)
    covered: dict[str, bool | Literal["optional"]] = {"none": False, "open": True, "optional": "optional"}
    reasoning = covered[arguments.reasoning]
    dialect = get_dialect(arguments.dialect)
    tag = structural_tag(dialect, tools, choice, reasoning=reasoning, parallel_tool_calls=not arguments.single)
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


def _choice(text: str | None) -> Any:
    """A tool choice as the API has it: a word, a name, or JSON."""
    if text is None or text in ("auto", "required", "none"):
        return text
    if text.startswith("{"):
        try:
            return json.loads(text)
        except ValueError as error:
            raise ConfigurationError(f"--tool-choice is not JSON: {error}") from error
    return {"type": "function", "function": {"name": text}}


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
