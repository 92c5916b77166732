"""LMDeploy's real app on the stand-in engine, asked with the official client: chat, Responses, Messages."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import lmdeploy_standin
import openai
import pytest
from lmdeploy.pytorch.engine.guided_process import GuidedDecodingManager
from lmdeploy.serve.core.async_engine import AsyncEngine
from lmdeploy.serve.core.chat_runner import ChatRunner
from lmdeploy.serve.managers import SessionManager
from lmdeploy.serve.openai import api_server
from lmdeploy_serving import NAME, official, served
from lmdeploy_standin import say

from toolglot.core.serving.settings import Settings, use

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER: dict[str, Any] = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}
PING: dict[str, Any] = {
    "type": "function",
    "function": {"name": "ping", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
}
ARGUMENTS = '{"city": "Žilina \\"<|x|>\\"", "days": 2}'
# Thoughts, text, a call, and text again; a special token that is no marker (`<|endoftext|>`) in the midst.
TEXTS = {
    "toolglot_hermes": "<think>Hm</think>I <see>.<|endoftext|>\n<tool_call>\n"
    f'{{"name": "get_weather", "arguments": {ARGUMENTS}}}\n</tool_call> Done.',
    "toolglot_kimi_k2": "<think>Hm</think>I <see>.<|endoftext|><|tool_calls_section_begin|><|tool_call_begin|>"
    f"functions.get_weather:0<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>"
    "<|tool_calls_section_end|> Done.",
}
CONTENT = "I <see>. Done."
# Without thinking, which a model of random weights would never end.
FORCED = {
    "model": NAME,
    "messages": [{"role": "user", "content": "Hello"}],
    "tools": [WEATHER],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "max_tokens": 300,
    "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
}


@pytest.fixture(scope="module", params=sorted(TEXTS))
def app(request: pytest.FixtureRequest, model: Path) -> Iterator[Any]:
    """The app, and what its model is made to write."""
    with served(model, request.param, request.param) as client:
        client.text = TEXTS[request.param]  # type: ignore[attr-defined]
        yield client


@pytest.fixture
def client(app: Any) -> openai.OpenAI:
    return official(app)


def scripted(app: Any) -> dict[str, Any]:
    """A request that makes the model write the text."""
    return {"model": NAME, "messages": [{"role": "user", "content": say(app.text)}], "tools": [WEATHER]}


def validate(arguments: str) -> None:
    """XGrammar lets control characters into a string with a maxLength: JSON would have them escaped."""
    jsonschema.validate(json.loads(arguments, strict=False), SCHEMA)


def check_call(call: Any) -> None:
    assert call.function.name == "get_weather"
    validate(call.function.arguments)


def test_only_the_engine_is_replaced() -> None:
    assert AsyncEngine._build_pytorch is lmdeploy_standin._build
    for owner in (AsyncEngine, ChatRunner, SessionManager, GuidedDecodingManager, api_server):
        for name, function in inspect.getmembers(owner, inspect.isfunction):
            if name != "_build_pytorch":
                assert function.__module__.split(".")[0] != "lmdeploy_standin", (owner, name)
                assert function.__module__.startswith(("lmdeploy.", "contextlib")), (owner, name, function.__module__)


def test_chat(app: Any, client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(**scripted(app))
    [choice] = answer.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == CONTENT
    assert choice.message.reasoning_content == "Hm"  # type: ignore[attr-defined]
    [call] = choice.message.tool_calls or []
    assert call.id and call.type == "function"
    assert (call.function.name, call.function.arguments) == ("get_weather", ARGUMENTS)
    assert answer.usage is not None and answer.usage.completion_tokens_details is not None
    assert answer.usage.completion_tokens_details.reasoning_tokens in (1, 2)


def test_chat_streaming(app: Any, client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        **scripted(app), stream=True, extra_body={"return_token_ids": True, "stream_options": {"include_usage": True}}
    )
    text = {"content": "", "reasoning_content": "", "arguments": ""}
    names, finishes, ids, order = [], [], [], []
    for chunk in stream:
        if not chunk.choices:
            assert chunk.usage is not None
            continue
        [choice] = chunk.choices
        for key in ("content", "reasoning_content"):
            text[key] += getattr(choice.delta, key, None) or ""
            order += [key] * bool(getattr(choice.delta, key, None))
        for call in choice.delta.tool_calls or ():
            assert call.function is not None and call.index == 0
            if call.function.name:
                assert call.id
                names.append(call.function.name)
            text["arguments"] += call.function.arguments or ""
            order.append("call")
        finishes += [choice.finish_reason] * bool(choice.finish_reason)
        ids += choice.output_ids or []  # type: ignore[attr-defined]
    assert text == {"content": CONTENT, "reasoning_content": "Hm", "arguments": ARGUMENTS}
    assert names == ["get_weather"]
    assert finishes == ["tool_calls"]
    assert list(dict.fromkeys(order)) == ["reasoning_content", "content", "call"] and order[-1] == "content"
    assert len(ids) > 20, "no token ids are lost while text is held back"


def test_length_stays(app: Any, client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(**scripted(app), max_tokens=10)
    assert answer.choices[0].finish_reason == "length"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "choice",
    [
        "required",
        {"type": "function", "function": {"name": "get_weather"}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [WEATHER]}},
    ],
    ids=["required", "named", "allowed"],
)
def test_forced(client: openai.OpenAI, choice: Any, stream: bool) -> None:
    tools = [WEATHER] if choice == "required" else [PING, WEATHER]
    request = {**FORCED, "tools": tools, "tool_choice": choice, "seed": 3}
    if not stream:
        [call] = client.chat.completions.create(**request).choices[0].message.tool_calls or []
        check_call(call)
        return
    arguments, names = "", []
    for chunk in client.chat.completions.create(**request, stream=True):
        for call in chunk.choices[0].delta.tool_calls or ():
            names += [call.function.name] * bool(call.function.name)
            arguments += call.function.arguments or ""
    assert names == ["get_weather"]
    validate(arguments)


def test_refused(client: openai.OpenAI) -> None:
    for wrong, message in (
        ({"tool_choice": {"type": "function", "function": {"name": "nosuch"}}}, "'nosuch'"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "nosuch"}}}]}, "tool 'f'"),
    ):
        with pytest.raises(openai.BadRequestError, match=message):
            client.chat.completions.create(**{**FORCED, **wrong})


@pytest.mark.parametrize("app", ["toolglot_hermes"], indirect=True)
def test_concurrent(client: openai.OpenAI) -> None:
    def ask(seed: int) -> tuple[str, str, str]:
        arguments, name, identity = "", "", ""
        for chunk in client.chat.completions.create(**FORCED, stream=True, seed=seed):
            for call in chunk.choices[0].delta.tool_calls or ():
                assert call.index == 0
                name, identity = name + (call.function.name or ""), identity + (call.id or "")
                arguments += call.function.arguments or ""
        return name, arguments, identity

    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(ask, range(40)))
    for name, arguments, _ in answers:
        assert name == "get_weather"
        validate(arguments)
    assert len({arguments for _, arguments, _ in answers}) > 20
    assert len({identity for _, _, identity in answers}) == 40


def test_responses(app: Any, client: openai.OpenAI) -> None:
    request: dict[str, Any] = {
        "model": NAME,
        "input": say(app.text),
        "tools": [{"type": "function", **WEATHER["function"]}],
    }
    answer = client.responses.create(**request)
    message, call = answer.output
    assert message.content[0].text == CONTENT
    assert (call.name, call.arguments, call.call_id == "") == ("get_weather", ARGUMENTS, False)
    assert answer.usage is not None and answer.usage.output_tokens_details.reasoning_tokens in (1, 2)

    events = list(client.responses.create(**request, stream=True))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    arguments = "".join(event.delta for event in events if event.type == "response.function_call_arguments.delta")
    assert (text, arguments) == (CONTENT, ARGUMENTS)
    assert events[-1].type == "response.completed"


# The model goes on from here, without thinking.
CLOSED = {"role": "assistant", "content": "<think>\n</think>\n\nYes. "}


@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "get_weather"}], ids=["required", "named"])
def test_responses_forced(client: openai.OpenAI, choice: Any) -> None:
    tools: Any = [{"type": "function", **entry["function"]} for entry in (PING, WEATHER)]
    answer = client.responses.create(
        model=NAME,
        input=[{"role": "user", "content": "Hello"}, CLOSED],  # type: ignore[list-item]
        tools=tools if choice != "required" else tools[1:],
        tool_choice=choice,
        max_output_tokens=300,
    )
    calls = [item for item in answer.output if item.type == "function_call"]
    assert calls
    validate(calls[0].arguments)


def test_messages(app: Any) -> None:
    request: dict[str, Any] = {
        "model": NAME,
        "max_tokens": 300,
        "messages": [{"role": "user", "content": say(app.text)}],
        "tools": [{"name": "get_weather", "input_schema": SCHEMA}],
    }
    headers = {"anthropic-version": "2023-06-01"}
    answer = app.post("/v1/messages", headers=headers, json=request).json()
    assert answer["stop_reason"] == "tool_use"
    thinking, text, call = answer["content"]
    assert (thinking["thinking"], text["text"]) == ("Hm", CONTENT)
    assert (call["name"], call["input"]) == ("get_weather", json.loads(ARGUMENTS))

    lines = app.post("/v1/messages", headers=headers, json={**request, "stream": True}).text.split("\n")
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    kinds = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    assert kinds == ["thinking", "text", "tool_use", "text"], "the model's own order"
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(delta.get("partial_json", "") for delta in deltas) == ARGUMENTS
    assert "".join(delta.get("text", "") for delta in deltas) == CONTENT


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "get_weather"}], ids=["any", "tool"])
def test_messages_forced(app: Any, choice: dict[str, str]) -> None:
    tools = [
        {"name": "ping", "input_schema": PING["function"]["parameters"]},
        {"name": "get_weather", "input_schema": SCHEMA},
    ]
    request = {
        "model": NAME,
        "max_tokens": 300,
        "messages": [{"role": "user", "content": "Hello"}, CLOSED],
        "tools": tools[1:] if choice["type"] == "any" else tools,
        "tool_choice": choice,
    }
    answer = app.post("/v1/messages", headers={"anthropic-version": "2023-06-01"}, json=request).json()
    calls = [entry for entry in answer["content"] if entry["type"] == "tool_use"]
    assert calls and calls[0]["name"] == "get_weather"
    jsonschema.validate(calls[0]["input"], SCHEMA)


def test_settings_of_a_program(model: Path) -> None:
    """A program that starts the engine itself gives them as an object, before it does."""

    def asked(settings: Settings | None) -> tuple[Any, list[str]]:
        """The message without streaming, and the pieces of arguments in a stream."""
        use(settings)
        with served(model, "toolglot_hermes") as app:
            client = official(app)
            text = '<tool_call>\n{"name": "nosuch", "arguments": {"city": "A city"}}\n</tool_call>'
            request: Any = {"model": NAME, "messages": [{"role": "user", "content": say(text)}], "tools": [WEATHER]}
            message = client.chat.completions.create(**request).choices[0].message
            deltas = [part.choices[0].delta for part in client.chat.completions.create(**request, stream=True)]
            calls = [call.function for delta in deltas for call in delta.tool_calls or () if call.function]
            return message, [call.arguments for call in calls if call.arguments]

    try:
        dropped, none = asked(None)
        assert "nosuch" in dropped.content and not dropped.tool_calls and none == []
        passed, pieces = asked(Settings(undeclared_tools="pass"))
        assert [call.function.name for call in passed.tool_calls] == ["nosuch"] and len(pieces) > 1
        _, whole = asked(Settings(undeclared_tools="pass", arguments="complete"))
        assert whole == ["".join(pieces)] == ['{"city": "A city"}']
    finally:
        use(None)
