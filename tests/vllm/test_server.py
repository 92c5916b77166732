"""A real vLLM server on the CPU with the unmodified command line, asked with the official client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import openai
import pytest
from vllm_server import NAME, VllmServer

# Its markers are special tokens, which the detokenizer removes unless the plugin asks for them.
DIALECT = "kimi_k2"
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 12},
                "days": {"type": "integer", "minimum": 1, "maximum": 7},
            },
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}
SCHEMA = WEATHER["function"]["parameters"]
FORCED = {
    "model": NAME,
    "messages": [{"role": "user", "content": "Hello"}],
    "tools": [WEATHER],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "max_tokens": 300,
    "seed": 1,
}
# What the model is made to write with tool_choice="auto": text, a call, and text again.
TEXT = (
    "I <see>. <|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    '<|tool_call_argument_begin|>{"city": "Žilina \\"<|x|>\\"", "days": 2}<|tool_call_end|>'
    "<|tool_calls_section_end|> Done."
)
ARGUMENTS = '{"city": "Žilina \\"<|x|>\\"", "days": 2}'
AUTO = {**FORCED, "tool_choice": "auto", "extra_body": {"structured_outputs": {"choice": [TEXT]}}}


@pytest.fixture(scope="module")
def client(model: Path) -> Iterator[openai.OpenAI]:
    with VllmServer(model, f"toolglot_{DIALECT}") as server:
        yield openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=120)


def collected(chunks: Any) -> tuple[str, list[dict[str, Any]], str | None]:
    """Content, calls and finish reason of a stream."""
    content = ""
    calls: list[dict[str, Any]] = []
    finish = None
    for chunk in chunks:
        for choice in chunk.choices:
            content += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for delta in choice.delta.tool_calls or []:
                if delta.index == len(calls):
                    assert delta.id and delta.type == "function" and delta.function.name
                    calls.append({"id": delta.id, "name": delta.function.name, "arguments": ""})
                else:
                    assert delta.id is None and delta.function.name is None
                calls[delta.index]["arguments"] += delta.function.arguments or ""
    return content, calls, finish


def test_required(client: openai.OpenAI) -> None:
    choice = client.chat.completions.create(**FORCED).choices[0]
    (call,) = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls"
    assert not choice.message.content
    assert call.function.name == "get_weather"
    jsonschema.validate(json.loads(call.function.arguments), SCHEMA)


def test_required_streaming(client: openai.OpenAI) -> None:
    content, (call,), finish = collected(client.chat.completions.create(**FORCED, stream=True))
    assert (content, finish) == ("", "tool_calls")
    assert call["name"] == "get_weather"
    jsonschema.validate(json.loads(call["arguments"]), SCHEMA)


def test_named(client: openai.OpenAI) -> None:
    other = {"type": "function", "function": {"name": "other", "parameters": {"type": "object"}}}
    choice = {"type": "function", "function": {"name": "get_weather"}}
    request = {**FORCED, "tools": [other, WEATHER], "tool_choice": choice}
    _, (call,), _ = collected(client.chat.completions.create(**request, stream=True))
    assert call["name"] == "get_weather"
    jsonschema.validate(json.loads(call["arguments"]), SCHEMA)


def test_auto(client: openai.OpenAI) -> None:
    choice = client.chat.completions.create(**AUTO).choices[0]
    (call,) = choice.message.tool_calls
    assert choice.message.content == "I <see>.  Done."
    assert (call.id, call.function.name) == ("functions.get_weather:0", "get_weather")
    assert call.function.arguments == ARGUMENTS
    assert choice.finish_reason == "tool_calls"


def test_auto_streaming(client: openai.OpenAI) -> None:
    chunks = list(client.chat.completions.create(**AUTO, stream=True))
    content, (call,), finish = collected(chunks)
    assert content == "I <see>.  Done."
    assert call == {"id": "functions.get_weather:0", "name": "get_weather", "arguments": ARGUMENTS}
    assert finish == "tool_calls"
    pieces = sum(bool(choice.delta.tool_calls) for chunk in chunks for choice in chunk.choices)
    assert pieces > 5, "the arguments come as they are generated"


def test_a_bad_schema_is_refused(client: openai.OpenAI) -> None:
    bad = {"type": "function", "function": {"name": "bad", "parameters": {"$ref": "#/$defs/nowhere"}}}
    with pytest.raises(openai.BadRequestError, match="tool 'bad'"):
        client.chat.completions.create(**{**FORCED, "tools": [bad]})
