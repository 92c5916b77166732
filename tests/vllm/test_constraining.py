"""Before generation: what the plugin does to a request, through vLLM's own adjust_request."""

from __future__ import annotations

import json
import logging
from typing import Any

import jsonschema
import pytest
import xgrammar
from driving import RESPONSES, joined, parse, parser_for, request_for, stream
from engine_cases import PING, TOOLS, WEATHER, tool
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest

from toolglot.core import get_dialect, list_dialects
from toolglot.core.serving.prompt import has_reasoning
from toolglot.vllm_plugin.compat import can_begin_at_once

NAMED = {"type": "function", "function": {"name": "ping"}}
STRICT = tool("strict", {"n": {"type": "integer"}}, strict=True)


def adjusted(dialect: str, request: Any, prompt: list[int] | None = None, **options: Any) -> Any:
    """The request after vLLM prepared it with our parser; it is changed in place."""
    parser = parser_for(dialect, request.tools, **options)
    if prompt is not None:
        parser.reasoning_parser.set_prompt_token_ids(prompt)
    parser.adjust_request(request)
    return request


def tag_of(request: Any) -> dict[str, Any] | None:
    """The structural tag on a request."""
    outputs = request.structured_outputs
    if outputs is None or outputs.structural_tag is None:
        return None
    tag: dict[str, Any] = json.loads(outputs.structural_tag)
    return tag


def accepts(tag: dict[str, Any], text: str) -> bool:
    """Whether a tag lets a whole text through."""
    info = xgrammar.TokenizerInfo([chr(code).encode() for code in range(128)] + [b"<eos>"], stop_token_ids=[128])
    compiled = xgrammar.GrammarCompiler(info).compile_grammar(xgrammar.Grammar.from_structural_tag(tag))
    matcher = xgrammar.GrammarMatcher(compiled)
    return bool(matcher.accept_string(text) and matcher.accept_token(128))


def call(name: str, arguments: str) -> str:
    """A hermes call."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize("choice", ["required", NAMED], ids=["required", "named"])
@pytest.mark.parametrize("dialect", sorted(RESPONSES))
def test_a_forced_call_is_constrained(dialect: str, choice: Any) -> None:
    request = adjusted(dialect, request_for(TOOLS, tool_choice=choice))
    assert tag_of(request) is not None
    assert request.response_format is None
    assert (request.skip_special_tokens is False) is get_dialect(dialect).keep_special


def begins_at_once(request: Any) -> bool:
    """Whether the grammar begins at the first token (the attribute's name in 0.24, and since)."""
    return bool(getattr(request, "_grammar_from_parser", getattr(request, "_grammar_from_tool_parser", False)))


THOUGHT = "Hm, <b>.\n</think>\n\n"


@pytest.mark.parametrize(
    ("end", "accepted"),
    [("<think>\n", {"open"}), ("", {"free", "none"}), ("<think>\n\n</think>\n\n", {"none"})],
    ids=["open", "free", "closed"],
)
@pytest.mark.parametrize("choice", ["required", NAMED], ids=["required", "named"])
def test_a_forced_call_with_thinking(tokenizer: Any, choice: Any, end: str, accepted: set[str]) -> None:
    """The grammar holds the reasoning that the prompt has begun or left to the model, and begins at once."""
    prompt = tokenizer.encode(f"<|im_start|>assistant\n{end}", add_special_tokens=False)
    request = request_for(TOOLS, tool_choice=choice)
    tag = tag_of(adjusted("hermes", request, prompt, reasoning="same", tokenizer=tokenizer))
    assert tag is not None
    assert begins_at_once(request) is (accepted != {"none"})
    one = call("ping", "{}")
    assert accepts(tag, one) is ("none" in accepted)
    assert accepts(tag, "<think>\n" + THOUGHT + one) is (accepted != {"none"})
    assert accepts(tag, THOUGHT + one) is ("open" in accepted)
    assert not accepts(tag, "pong")
    assert not accepts(tag, THOUGHT + "pong")


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("dialect", sorted(set(RESPONSES) | {"gpt_oss"}))
def test_forced_calls_of_every_dialect_with_thinking(dialect: str, thinking: bool, tokenizer: Any) -> None:
    request = request_for(TOOLS, tool_choice="required")
    spec = get_dialect(dialect)
    tail = (spec.reasoning.open if thinking else spec.reasoning.open + spec.reasoning.close) if spec.reasoning else ""
    prompt = tokenizer.encode(f"<|im_start|>assistant\n{tail}", add_special_tokens=False)
    options = {"reasoning": "same", "tokenizer": tokenizer}
    assert tag_of(adjusted(dialect, request, prompt if has_reasoning(spec) else None, **options)) is not None


def test_thinking_switched_off(tokenizer: Any) -> None:
    """The prompt is not shown here before 0.33, so the template is asked."""
    request = request_for(TOOLS, tool_choice="required")
    options = {"reasoning": "same", "tokenizer": tokenizer, "enable_thinking": False}
    tag = tag_of(adjusted("hermes", request, **options))
    assert tag is not None and not begins_at_once(request)
    assert not accepts(tag, "<think>\n" + THOUGHT + call("ping", "{}"))


@pytest.mark.parametrize("enforced", ["0", "1"])
@pytest.mark.parametrize("choice", ["required", NAMED, "auto"], ids=["required", "named", "auto"])
def test_strict_tool_calling(monkeypatch: pytest.MonkeyPatch, enforced: str, choice: Any) -> None:
    """Forced calls are constrained whatever VLLM_ENFORCE_STRICT_TOOL_CALLING says; vLLM reads it twice."""
    from vllm.parser.abstract_parser import DelegatingParser

    from toolglot.vllm_plugin import tool_parser

    monkeypatch.setenv("VLLM_ENFORCE_STRICT_TOOL_CALLING", enforced)
    made = tool_parser._make("Fresh", "hermes")
    parser = type("Parser", (DelegatingParser,), {"tool_parser_cls": made})
    request = request_for(TOOLS, tool_choice=choice)
    instance = parser(None, request.tools)
    instance.adjust_request(request)
    assert (tag_of(request) is not None) is (choice != "auto")
    text = call("ping", "{}")
    calls = instance.parse(text, request, enable_auto_tools=True)[2]
    assert [found.name for found in calls] == ["ping"]


def test_required() -> None:
    tag = tag_of(adjusted("hermes", request_for(TOOLS, tool_choice="required")))
    assert tag is not None
    assert accepts(tag, call("get_weather", '{"city": "Rome", "days": 3}'))
    assert not accepts(tag, "Rome")
    assert not accepts(tag, call("get_weather", '{"city": "Rome", "days": "3"}'))
    assert not accepts(tag, call("nosuch", "{}"))


def test_named() -> None:
    tag = tag_of(adjusted("hermes", request_for(TOOLS, tool_choice=NAMED)))
    assert tag is not None
    assert accepts(tag, call("ping", "{}"))
    assert not accepts(tag, call("get_weather", '{"city": "Rome", "days": 3}'))


def test_one_call_only() -> None:
    one = call("ping", "{}")
    for parallel in (True, False):
        request = request_for([PING], tool_choice="required", parallel_tool_calls=parallel)
        tag = tag_of(adjusted("hermes", request))
        assert tag is not None
        assert accepts(tag, one)
        assert accepts(tag, one + "\n" + one) is parallel


@pytest.mark.parametrize("dialect", list_dialects())
def test_auto_is_free_where_no_tool_is_strict(dialect: str) -> None:
    request = adjusted(dialect, request_for(TOOLS))
    assert tag_of(request) is None
    assert (request.skip_special_tokens is False) is get_dialect(dialect).keep_special


def test_auto_with_a_strict_tool() -> None:
    tag = tag_of(adjusted("hermes", request_for([STRICT, WEATHER])))
    assert tag is not None
    assert accepts(tag, "Just text.")
    assert accepts(tag, "Well.\n" + call("strict", '{"n": 1}'))
    assert not accepts(tag, call("strict", '{"n": "1"}'))
    assert accepts(tag, call("get_weather", '{"anything": true}'))


def test_strict_false_leaves_arguments_free() -> None:
    loose = tool("loose", {"n": {"type": "integer"}}, strict=False)
    tag = tag_of(adjusted("hermes", request_for([loose], tool_choice="required")))
    assert tag is not None
    assert accepts(tag, call("loose", '{"m": "1"}'))


def test_tool_choice_none() -> None:
    request = adjusted("kimi_k2", request_for(TOOLS, tool_choice="none"))
    assert tag_of(request) is None
    assert request.skip_special_tokens is not False


def test_the_clients_own_constraint_stays_with_auto() -> None:
    request = adjusted("hermes", request_for(TOOLS, structured_outputs={"choice": ["yes", "no"]}))
    assert request.structured_outputs.choice == ["yes", "no"]


def test_a_bad_schema_names_the_tool() -> None:
    bad = tool("bad", {"n": {"$ref": "#/$defs/nowhere"}})
    with pytest.raises(ValueError, match=r"tool 'bad'.*\$defs"):
        adjusted("hermes", request_for([PING, bad], tool_choice="required"))


def test_missing_tag_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where vLLM does not ask for the tag (older versions, strict calling switched off), we set it."""
    from vllm.parser.abstract_parser import DelegatingParser

    monkeypatch.setattr(DelegatingParser, "_apply_structural_tag", lambda self, request: request)
    request = request_for(TOOLS, tool_choice="required", response_format={"type": "json_object"})
    tag = tag_of(adjusted("hermes", request))
    assert tag is not None
    assert accepts(tag, call("ping", "{}"))
    assert request.response_format is None


def test_responses_api() -> None:
    flat = [{"type": "function", "name": "ping", "parameters": {"type": "object", "properties": {}}}]
    body = {"model": "any", "input": "Hello", "tools": flat}
    for choice in ("required", {"type": "function", "name": "ping"}):
        tag = tag_of(adjusted("hermes", ResponsesRequest.model_validate({**body, "tool_choice": choice})))
        assert tag is not None
        assert accepts(tag, call("ping", "{}"))
        assert not accepts(tag, "pong")


def test_responses_api_allowed_tools() -> None:
    """vLLM itself does not constrain this choice."""
    flat = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in ("ping", "pong")]
    choice = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "pong"}]}
    body = {"model": "any", "input": "Hello", "tools": flat, "tool_choice": choice}
    tag = tag_of(adjusted("hermes", ResponsesRequest.model_validate(body)))
    assert tag is not None
    assert accepts(tag, call("pong", "{}"))
    assert not accepts(tag, call("ping", "{}"))


def test_responses_api_allowed_tools_auto() -> None:
    flat = [
        {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}, "strict": True}
        for name in ("ping", "pong")
    ]
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "pong"}]}
    body = {"model": "any", "input": "Hello", "tools": flat, "tool_choice": choice}
    tag = tag_of(adjusted("hermes", ResponsesRequest.model_validate(body)))
    assert tag is not None
    assert accepts(tag, "Hi")
    assert accepts(tag, call("pong", "{}"))
    assert not accepts(tag, call("ping", "{}"))


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_responses_api_allowed_tools_are_parsed(mode: str) -> None:
    """Without streaming vLLM would not ask the tool parser."""
    flat = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in ("ping", "pong")]
    choice = {"type": "allowed_tools", "mode": mode, "tools": [{"type": "function", "name": "pong"}]}
    body = {"model": "any", "input": "Hello", "tools": flat, "tool_choice": choice}
    request = adjusted("hermes", ResponsesRequest.model_validate(body))
    assert request.tool_choice == mode
    text = call("ping", "{}") + call("pong", "{}")
    assert parse("hermes", text, request).calls == [("pong", "{}")]
    messages = stream(parser_for("hermes", request.tools), text, request)
    assert joined(messages).calls == [("pong", "{}")]


def test_responses_api_with_thinking(tokenizer: Any) -> None:
    """vLLM 0.32 cannot begin a grammar at once here: it begins it behind the closer."""
    flat = [{"type": "function", "name": "ping", "parameters": {"type": "object", "properties": {}}}]
    body = {"model": "any", "input": "Hello", "tools": flat, "tool_choice": "required"}
    request = ResponsesRequest.model_validate(body)
    tag = tag_of(adjusted("hermes", request, reasoning="same", tokenizer=tokenizer))
    assert tag is not None
    at_once = hasattr(request, "_grammar_from_parser")
    assert accepts(tag, "<think>\n" + THOUGHT + call("ping", "{}")) is at_once
    assert accepts(tag, call("ping", "{}"))


def test_a_choice_that_cannot_be_met_is_refused() -> None:
    choice = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "nosuch"}]}
    flat = [{"type": "function", "name": "ping", "parameters": {"type": "object", "properties": {}}}]
    body = {"model": "any", "input": "Hello", "tools": flat, "tool_choice": choice}
    with pytest.raises(ValueError, match="nosuch"):
        adjusted("hermes", ResponsesRequest.model_validate(body))


def test_the_examples_schema_is_what_the_tests_think() -> None:
    jsonschema.validate({"city": "Rome", "days": 3}, WEATHER["function"]["parameters"])


LIST = tool("take", {"items": {"type": "array", "items": {"type": "integer"}}})


@pytest.mark.parametrize("choice", ["required", "auto"])
@pytest.mark.parametrize("linked", [True, False], ids=["with our reasoning parser", "without"])
@pytest.mark.parametrize("end", ["<think>\n", "", "<think>\n\n</think>\n\n"], ids=["open", "free", "closed"])
def test_typed_values_go_out_live_only_where_the_tag_is_enforced(
    tokenizer: Any, choice: str, linked: bool, end: str
) -> None:
    """An array is sent piece by piece under our own tag, from the first token on; else when it closes."""
    prompt = tokenizer.encode(f"<|im_start|>assistant\n{end}", add_special_tokens=False)
    request = request_for([LIST], tool_choice=choice)
    options = {"reasoning": "same", "tokenizer": tokenizer} if linked else {}
    adjusted("qwen3_coder", request, prompt if linked else None, **options)
    text = "<tool_call>\n<function=take>\n<parameter=items>\n[1, 2, 3]\n</parameter>\n</function>\n</tool_call>"
    if linked and end == "<think>\n":
        text = "Hm.\n</think>\n\n" + text
    parser = parser_for("qwen3_coder", request.tools, **options)
    messages = stream(parser, list(text), request, prompt=prompt)
    result = joined(messages)
    assert result.calls == [("take", '{"items": [1, 2, 3]}')]
    pieces = [call.function.arguments for message in messages for call in message.tool_calls if call.function.arguments]
    live = any(piece.endswith("2") for piece in pieces)
    assert live is (linked and choice == "required" and can_begin_at_once(request)), pieces


def test_the_log_says_what_is_not_constrained() -> None:
    """Through vLLM's own logger, once: the root logger has no handler in a server."""
    parameters = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    tool = {"type": "function", "function": {"name": "said_in_the_log", "parameters": parameters}}
    lines: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("vllm").addHandler(handler)
    for _ in range(2):
        assert tag_of(adjusted("hermes", request_for([tool], tool_choice="required"))) is not None
    logging.getLogger("vllm").removeHandler(handler)
    (line,) = [line for line in lines if "not constrained to the letter of its schema" in line]
    assert "said_in_the_log" not in line  # what a request says is for the level DEBUG
