"""Tool calls through a real vLLM server on the CPU, with the official client: run by `make demo`.

Two dialects, one server after the other.

The model has random weights and knows nothing; toolglot's structural tag lets it write only a valid call,
and toolglot's parser streams that call to the client.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from types import FrameType
from typing import Any

import jsonschema
import openai
from tiny_model import tiny_model
from vllm_server import NAME, ServerError, VllmServer

from toolglot.core import ConfigurationError, get_dialect

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather forecast for a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 16},
                "days": {"type": "integer", "minimum": 1, "maximum": 7},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city", "days", "unit"],
            "additionalProperties": False,
        },
    },
}
REQUEST: dict[str, Any] = {
    "model": NAME,
    "messages": [{"role": "user", "content": "What will the weather be like in Prague?"}],
    "tools": [TOOL],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "max_tokens": 300,
    "seed": 7,
}

DIALECTS = ("hermes", "qwen3_coder")

ON_A_GPU = """\
On a machine with a GPU and your own vLLM (0.24 or newer), with a real model:

    pip install .      # this checkout, into the environment of vLLM; nothing else changes there
    vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser toolglot_hermes
"""


class DemoError(Exception):
    """The demo did not show what it should."""


def check(name: str | None, arguments: str) -> None:
    """A call to the offered tool, with arguments that its schema accepts."""
    if name != TOOL["function"]["name"]:
        raise DemoError(f"a call to {name!r} came back, and only {TOOL['function']['name']!r} was offered")
    try:
        jsonschema.validate(json.loads(arguments), TOOL["function"]["parameters"])
    except (ValueError, jsonschema.ValidationError) as error:
        raise DemoError(f"the arguments {arguments!r} are not what the schema asks for: {error}") from error
    print("    valid against the tool's schema\n", flush=True)


def complete(client: openai.OpenAI) -> None:
    """One answer in one piece."""
    print("Non-streaming, tool_choice='required':")
    choice = client.chat.completions.create(**REQUEST).choices[0]
    calls = choice.message.tool_calls or []
    print(f"    finish_reason={choice.finish_reason!r} content={choice.message.content!r}")
    for call in calls:
        print(f"    {call.id}  {call.function.name}({call.function.arguments})")
    if len(calls) != 1:
        raise DemoError(f"one call was asked for, {len(calls)} came back")
    check(calls[0].function.name, calls[0].function.arguments)


def streamed(client: openai.OpenAI) -> None:
    """The same, delta by delta."""
    print("Streaming, tool_choice='required' (time, delta):")
    name: str | None = None
    arguments = ""
    start = time.monotonic()
    for chunk in client.chat.completions.create(**REQUEST, stream=True):
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or []:
                print(f"    {time.monotonic() - start:6.3f} s  {call.model_dump(exclude_none=True)}", flush=True)
                name = name or (call.function.name if call.function else None)
                arguments += (call.function.arguments if call.function else None) or ""
    print(f"    assembled: {name}({arguments})")
    check(name, arguments)


def show(dialect: str) -> None:
    """One server, one dialect."""
    print(f"Starting vLLM on the CPU with --tool-call-parser toolglot_{dialect} (a minute or two) ...", flush=True)
    with VllmServer(tiny_model(), f"toolglot_{dialect}") as server:
        print(flush=True)
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=120)
        complete(client)
        streamed(client)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--dialect",
        action="append",
        help=f"a dialect to show, one server each; may be repeated (default: {' and '.join(DIALECTS)})",
    )
    try:
        dialects = [get_dialect(name).name for name in parser.parse_args().dialect or DIALECTS]
    except ConfigurationError as error:
        parser.error(str(error))
    signal.signal(signal.SIGTERM, _leave)
    start = time.monotonic()
    print("Making a tiny model with random weights ...", flush=True)
    tiny_model()
    try:
        for dialect in dialects:
            show(dialect)
    except (ServerError, DemoError, openai.OpenAIError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the server is stopped", file=sys.stderr)
        return 130
    print(f"Done in {time.monotonic() - start:.0f} s, the servers are stopped.\n\n{ON_A_GPU}", end="")
    return 0


def _leave(number: int, frame: FrameType | None) -> None:
    """On SIGTERM leave by an exception, so that the server is stopped on the way out."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
