"""A real vLLM server on the CPU with the unmodified command line, asked with the official client."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import openai
import pytest
from engine_cases import corpus
from vllm_server import NAME, VllmServer

from toolglot import core

# Its markers are special tokens, which the detokenizer removes unless the plugin asks for them.
DIALECT = "kimi_k2"
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "pattern": "^[A-Za-z ]{1,12}$"},
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
    "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
}
# What the model is made to write with tool_choice="auto": text, a call, and text again.
TEXT = (
    "I <see>. <|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    '<|tool_call_argument_begin|>{"city": "Žilina \\"<|x|>\\"", "days": 2}<|tool_call_end|>'
    "<|tool_calls_section_end|> Done."
)
ARGUMENTS = '{"city": "Žilina \\"<|x|>\\"", "days": 2}'
# Reasoning, content, a call, content. The prompt has closed the reasoning, so that the constraint holds at once.
THOUGHT_TEXT = "<think>Hm.</think>" + TEXT


def writing(text: str, **fields: Any) -> dict[str, Any]:
    """A request whose answer is this text."""
    body = {**FORCED["extra_body"], "structured_outputs": {"choice": [text]}}
    return {**FORCED, "tool_choice": "auto", "extra_body": body, **fields}


AUTO = writing(TEXT)


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[VllmServer]:
    arguments = ["--reasoning-parser", f"toolglot_{DIALECT}", *("--api-server-count", "2")]
    with VllmServer(model, f"toolglot_{DIALECT}", arguments=arguments) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: VllmServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=120)


@pytest.fixture(scope="module")
def opener(tokenizer: Any) -> int:
    """The token that opens the section of calls."""
    return int(tokenizer.get_vocab()["<|tool_calls_section_begin|>"])


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


def test_auto_with_a_strict_tool(client: openai.OpenAI, opener: int) -> None:
    """Free text, and a call to the schema once the opener is written."""
    strict = {"type": "function", "function": {**WEATHER["function"], "strict": True}}
    for stream in (False, True):
        request = {**FORCED, "tools": [strict], "tool_choice": "auto", "logit_bias": {str(opener): 30.0}}
        answer = client.chat.completions.create(**request, stream=stream)
        if stream:
            _, calls, finish = collected(answer)
            (found,) = [call["arguments"] for call in calls]
        else:
            (call,) = answer.choices[0].message.tool_calls
            found, finish = call.function.arguments, answer.choices[0].finish_reason
        assert finish == "tool_calls"
        jsonschema.validate(json.loads(found), SCHEMA)


def test_a_bad_schema_is_refused(client: openai.OpenAI) -> None:
    bad = {"type": "function", "function": {"name": "bad", "parameters": {"$ref": "#/$defs/nowhere"}}}
    with pytest.raises(openai.BadRequestError, match="tool 'bad'"):
        client.chat.completions.create(**{**FORCED, "tools": [bad]})


def test_a_choice_that_cannot_be_met_is_refused(client: openai.OpenAI) -> None:
    choice = {"type": "function", "function": {"name": "nosuch"}}
    with pytest.raises(openai.BadRequestError, match="does not match any of the specified"):
        client.chat.completions.create(**{**FORCED, "tool_choice": choice})
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(**{**FORCED, "tools": openai.omit})


def test_reasoning(client: openai.OpenAI) -> None:
    request = writing(THOUGHT_TEXT)
    message = client.chat.completions.create(**request).choices[0].message
    assert message.model_extra is not None
    assert (message.model_extra["reasoning"], message.content) == ("Hm.", "I <see>.  Done.")
    reasoning = ""
    for chunk in client.chat.completions.create(**request, stream=True):
        for choice in chunk.choices:
            reasoning += (choice.delta.model_extra or {}).get("reasoning") or ""
    assert reasoning == "Hm."


def test_reasoning_then_a_forced_call(client: openai.OpenAI, tokenizer: Any) -> None:
    """Thinking is left to the model: the grammar holds both."""
    numbers = tokenizer.get_vocab()
    # A random model would hardly write them; the closer not at once.
    tags = {str(numbers["<think>"]): 30.0, str(numbers["</think>"]): 5.0}
    request = {**FORCED, "logit_bias": tags, "extra_body": {}}
    message = client.chat.completions.create(**request).choices[0].message
    assert (message.model_extra or {})["reasoning"]
    (call,) = message.tool_calls
    jsonschema.validate(json.loads(call.function.arguments), SCHEMA)


def test_several_choices(client: openai.OpenAI) -> None:
    for stream in (False, True):
        answer = client.chat.completions.create(**writing(TEXT, n=2), stream=stream)
        if not stream:
            found = [(choice.message.content, len(choice.message.tool_calls)) for choice in answer.choices]
        else:
            texts, calls = ["", ""], [0, 0]
            for chunk in answer:
                for choice in chunk.choices:
                    texts[choice.index] += choice.delta.content or ""
                    calls[choice.index] += sum(bool(call.id) for call in choice.delta.tool_calls or [])
            found = list(zip(texts, calls, strict=True))
        assert found == [("I <see>.  Done.", 1)] * 2


def test_length_cut(client: openai.OpenAI) -> None:
    request = writing(TEXT, max_tokens=40)
    content, calls, finish = collected(client.chat.completions.create(**request, stream=True))
    assert finish == "length"
    assert "I <see>.".startswith(content.strip()) and len(calls) <= 1


def test_tool_choice_none(client: openai.OpenAI) -> None:
    request = writing("<think>Hm.</think>Hi.", tool_choice="none")
    assert client.chat.completions.create(**request).choices[0].message.content == "Hi."
    assert collected(client.chat.completions.create(**request, stream=True))[:2] == ("Hi.", [])


def test_responses_api(client: openai.OpenAI) -> None:
    flat = {"type": "function", **WEATHER["function"]}
    request = {
        "model": NAME,
        "input": "Hello",
        "tools": [flat],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_output_tokens": 300,
        "extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "seed": 1},
    }
    answer = client.responses.create(**request)
    (item,) = [item for item in answer.output if item.type == "function_call"]
    jsonschema.validate(json.loads(item.arguments), SCHEMA)
    done = [event.item for event in client.responses.create(**request, stream=True) if event.type.endswith("item.done")]
    (item,) = [item for item in done if item.type == "function_call"]
    jsonschema.validate(json.loads(item.arguments), SCHEMA)


def test_responses_api_allowed_tools(client: openai.OpenAI) -> None:
    flat = {"type": "function", **WEATHER["function"]}
    other = {**flat, "name": "other"}
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}
    answer = client.responses.create(
        model=NAME,
        input="Hello",
        tools=[other, flat],
        tool_choice=allowed,
        parallel_tool_calls=False,
        max_output_tokens=300,
        extra_body={"chat_template_kwargs": {"enable_thinking": False}, "seed": 1},
    )
    (item,) = [item for item in answer.output if item.type == "function_call"]
    assert item.name == "get_weather"
    jsonschema.validate(json.loads(item.arguments), SCHEMA)


def test_responses_api_keeps_the_order(client: openai.OpenAI) -> None:
    """Reasoning, text, a call, text: items in the model's order, the call's arguments whole."""
    flat = {"type": "function", **WEATHER["function"]}
    body = {
        "chat_template_kwargs": {"enable_thinking": False},
        "structured_outputs": {"choice": [THOUGHT_TEXT]},
    }
    events = client.responses.create(model=NAME, input="Hello", tools=[flat], extra_body=body, stream=True)
    done = [event.item for event in events if event.type == "response.output_item.done"]
    kinds = [item.type for item in done]
    assert kinds == ["reasoning", "message", "function_call", "message"]
    assert (done[0].content[0].text, done[1].content[0].text) == ("Hm.", "I <see>. ")
    assert (done[2].name, done[2].arguments) == ("get_weather", ARGUMENTS)
    assert done[3].content[0].text == " Done."


def test_messages_api_keeps_the_order(server: VllmServer) -> None:
    """The Messages API cannot be told what to write: the chat stream goes through vLLM's own converter."""
    import asyncio

    import httpx
    from vllm.entrypoints.anthropic.serving import AnthropicServingMessages

    request = {**writing(THOUGHT_TEXT), "stream": True}
    request.update(request.pop("extra_body"))
    lines = httpx.post(f"{server.url}/chat/completions", json=request, timeout=120).text.splitlines()

    async def converted() -> list[str]:
        async def chat() -> Any:
            for line in filter(None, lines):
                yield line + "\n\n"

        converter = AnthropicServingMessages.__new__(AnthropicServingMessages)
        return [event async for event in converter.message_stream_converter(chat())]

    blocks: list[list[str]] = []
    for line in "".join(asyncio.run(converted())).splitlines():
        if not line.startswith("data: {"):
            continue
        event = json.loads(line[6:])
        if event["type"] == "content_block_start":
            blocks.append([event["content_block"]["type"], ""])
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            blocks[-1][1] += delta.get("thinking") or delta.get("text") or delta.get("partial_json") or ""
    assert blocks == [["thinking", "Hm."], ["text", "I <see>. "], ["tool_use", ARGUMENTS], ["text", " Done."]]


def test_messages_api(server: VllmServer) -> None:
    import httpx

    tool = {"name": "get_weather", "description": "Weather", "input_schema": SCHEMA}
    body = {
        "model": NAME,
        "messages": [{"role": "user", "content": "Hello"}],
        "tools": [tool],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "max_tokens": 300,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    answer = httpx.post(f"{server.url}/messages", json=body, timeout=120).json()
    (block,) = [block for block in answer["content"] if block["type"] == "tool_use"]
    jsonschema.validate(block["input"], SCHEMA)
    text = httpx.post(f"{server.url}/messages", json={**body, "stream": True}, timeout=120).text
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    pieces = [event["delta"]["partial_json"] for event in events if "partial_json" in event.get("delta", {})]
    jsonschema.validate(json.loads("".join(pieces)), SCHEMA)


def test_forty_at_once(client: openai.OpenAI, server: VllmServer) -> None:
    def ask(seed: int) -> tuple[str, list[dict[str, Any]], str | None]:
        request = {**FORCED, "seed": seed, "parallel_tool_calls": seed % 2 == 0, "max_tokens": 600}
        return collected(client.chat.completions.create(**request, stream=True))

    with ThreadPoolExecutor(40) as pool:
        for content, calls, finish in pool.map(ask, range(40)):
            assert not content
            assert calls
            for call in calls[: len(calls) - (finish == "length" and len(calls) > 1)]:
                jsonschema.validate(json.loads(call["arguments"]), SCHEMA)
    log = server.log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in log


# What a request can express: the constraint is written as a grammar, which wants printable text.
LINES = [
    line
    for line in corpus(DIALECT)
    if line["tools"] and not line.get("options") and line["raw"].isprintable() and len(line["raw"]) < 300
]


@pytest.mark.parametrize("line", random.Random(3).sample(LINES, 8), ids=lambda line: line["id"])
def test_corpus_sample(client: openai.OpenAI, line: dict[str, Any]) -> None:
    tools = line["tools"]
    wanted = core.parse(line["raw"], DIALECT, tools)
    request = writing(line["raw"], tools=tools, parallel_tool_calls=True)
    content, calls, _ = collected(client.chat.completions.create(**request, stream=True))
    assert content == (wanted.content or "")
    assert [(call["name"], call["arguments"]) for call in calls] == [
        (call.name, call.arguments) for call in wanted.tool_calls
    ]


def test_metrics_and_the_start_up_line(client: openai.OpenAI, server: VllmServer) -> None:
    import httpx

    undeclared = TEXT.replace("get_weather", "nosuch")
    for _ in range(4):
        assert client.chat.completions.create(**writing(undeclared)).choices[0].message.content == "I <see>.  Done."
    text = httpx.get(server.url.removesuffix("v1") + "metrics", timeout=30).text
    labels = f'{{dialect="{DIALECT}",engine="vllm",kind="undeclared_tool"}}'
    (value,) = [line.split()[-1] for line in text.splitlines() if f"toolglot_anomalies_total{labels}" in line]
    assert float(value) >= 4
    log = server.log.read_text(encoding="utf-8", errors="replace")
    assert f"dialect {DIALECT}, vLLM" in log and "settings: defaults" in log
