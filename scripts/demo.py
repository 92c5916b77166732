"""Tool calls through a real API server on the CPU, with the official client: `make demo`, `make demo-lmdeploy`.

Two dialects, one server after the other.

The model has random weights and knows nothing; toolglot's structural tag lets it write only a valid call,
and toolglot's parser streams that call to the client. LMDeploy has no engine for the CPU: there its API server runs on
a stand-in (lmdeploy_standin.py), which can also be told what the model writes when nothing constrains it.
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
from engine_server import NAME, EngineServer, ServerError
from lmdeploy_server import LmdeployServer, say
from tiny_model import tiny_model
from vllm_server import VllmServer

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

# What a model of the dialect would write by itself.
_JSON = """<tool_call>
{"name": "get_weather", "arguments": {"city": "Prague", "days": 2, "unit": "celsius"}}
</tool_call>"""
_XML = """<tool_call>
<function=get_weather>
<parameter=city>
Prague
</parameter>
<parameter=days>
2
</parameter>
<parameter=unit>
celsius
</parameter>
</function>
</tool_call>"""
WRITTEN = {"hermes": f"Let me look.\n{_JSON}", "qwen3_coder": f"Let me look.\n\n{_XML}"}

ON_A_GPU = """\
On a machine with a GPU and your own {engine}, with a real model:

    pip install .      # this checkout, into the environment of the engine; nothing else changes there
    {command} --tool-call-parser toolglot_hermes
"""
ENGINES: dict[str, tuple[type[VllmServer] | type[LmdeployServer], str, str]] = {
    "vllm": (VllmServer, "vLLM (0.24 or newer)", "vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice"),
    "lmdeploy": (LmdeployServer, "LMDeploy (0.18 or newer)", "lmdeploy serve api_server Qwen/Qwen3-8B"),
}


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


def complete(client: openai.OpenAI, request: dict[str, Any]) -> None:
    """One answer in one piece."""
    print(f"Non-streaming, tool_choice={request['tool_choice']!r}:")
    choice = client.chat.completions.create(**request).choices[0]
    calls = choice.message.tool_calls or []
    print(f"    finish_reason={choice.finish_reason!r} content={choice.message.content!r}")
    for call in calls:
        print(f"    {call.id}  {call.function.name}({call.function.arguments})")
    if len(calls) != 1:
        raise DemoError(f"one call was asked for, {len(calls)} came back")
    check(calls[0].function.name, calls[0].function.arguments)


def streamed(client: openai.OpenAI, request: dict[str, Any]) -> None:
    """The same, delta by delta."""
    print(f"Streaming, tool_choice={request['tool_choice']!r} (time, delta):")
    name: str | None = None
    arguments = ""
    start = time.monotonic()
    for chunk in client.chat.completions.create(**request, stream=True):
        for choice in chunk.choices:
            if choice.delta.content:
                print(f"    {time.monotonic() - start:6.3f} s  {choice.delta.content!r}", flush=True)
            for call in choice.delta.tool_calls or []:
                print(f"    {time.monotonic() - start:6.3f} s  {call.model_dump(exclude_none=True)}", flush=True)
                name = name or (call.function.name if call.function else None)
                arguments += (call.function.arguments if call.function else None) or ""
    print(f"    assembled: {name}({arguments})")
    check(name, arguments)


def show(engine: str, dialect: str) -> None:
    """One server, one dialect."""
    make, name, _ = ENGINES[engine]
    parser = f"toolglot_{dialect}"
    print(f"Starting {name.split()[0]} on the CPU with --tool-call-parser {parser} (a minute or two) ...", flush=True)
    server: EngineServer = make(tiny_model(), parser)
    with server:
        print(flush=True)
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=120)
        complete(client, REQUEST)
        streamed(client, REQUEST)
        if engine == "lmdeploy" and dialect in WRITTEN:
            message = {"role": "user", "content": f"{REQUEST['messages'][0]['content']} {say(WRITTEN[dialect])}"}
            request = {**REQUEST, "tool_choice": "auto", "messages": [message]}
            print("The stand-in's model is told to write a text with a call in it, and nothing constrains it.")
            complete(client, request)
            streamed(client, request)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--engine", choices=list(ENGINES), default="vllm", help="the engine to show (default: vllm)")
    parser.add_argument(
        "--dialect",
        action="append",
        help=f"a dialect to show, one server each; may be repeated (default: {' and '.join(DIALECTS)})",
    )
    options = parser.parse_args()
    try:
        dialects = [get_dialect(name).name for name in options.dialect or DIALECTS]
    except ConfigurationError as error:
        parser.error(str(error))
    signal.signal(signal.SIGTERM, _leave)
    start = time.monotonic()
    print("Making a tiny model with random weights ...", flush=True)
    tiny_model()
    try:
        for dialect in dialects:
            show(options.engine, dialect)
    except (ServerError, DemoError, openai.OpenAIError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the server is stopped", file=sys.stderr)
        return 130
    _, engine, command = ENGINES[options.engine]
    print(f"Done in {time.monotonic() - start:.0f} s, the servers are stopped.\n")
    print(ON_A_GPU.format(engine=engine, command=command), end="")
    return 0


def _leave(number: int, frame: FrameType | None) -> None:
    """On SIGTERM leave by an exception, so that the server is stopped on the way out."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
