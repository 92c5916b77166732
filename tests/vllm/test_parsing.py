"""Parsing through vLLM's own Parser objects: streaming in every split and non-streaming give one result."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from driving import CALLS, RESPONSES, check_tails, joined, parse, parser_for, request_for, splits, stream
from engine_cases import TOOLS, Result
from vllm.parser.abstract_parser import DelegatingParser

from toolglot import core


@pytest.mark.parametrize("dialect", sorted(RESPONSES))
def test_example(dialect: str) -> None:
    text, content = RESPONSES[dialect]
    request = request_for(TOOLS)
    whole = parse(dialect, text, request)
    assert whole.content == content
    assert [(name, json.loads(arguments)) for name, arguments in whole.calls] == CALLS
    for chunks in splits(text):
        for end_alone in (True, False):
            messages = stream(parser_for(dialect, request.tools), chunks, request, end_alone=end_alone)
            assert joined(messages) == whole, chunks
            check_tails(messages)


def test_ids() -> None:
    request = request_for(TOOLS)
    text = RESPONSES["hermes"][0]
    calls = [call for message in stream(parser_for("hermes", None), [text], request) for call in message.tool_calls]
    ids = [call.id for call in calls if call.id]
    assert len(set(ids)) == 2
    assert all(identity.startswith("chatcmpl-tool-") for identity in ids)


def test_ids_of_the_dialect_go_on_through_the_conversation() -> None:
    past = {"role": "assistant", "tool_calls": [_past_call(f"functions.ping:{n}") for n in (0, 1)]}
    request = request_for(TOOLS, messages=[{"role": "user", "content": "Hello"}, past])
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>ping<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>"
    )
    (message,) = stream(parser_for("kimi_k2", request.tools), [text], request)
    assert message.tool_calls[0].id == "functions.ping:2"


def _past_call(identity: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": "ping", "arguments": "{}"}}


def test_text_behind_a_call_waits_for_the_next_message() -> None:
    text = RESPONSES["hermes"][0]
    messages = stream(parser_for("hermes", None), [text], request_for(TOOLS))
    assert [(bool(m.content), [c.index for c in m.tool_calls]) for m in messages] == [
        (True, [0]),
        (True, [1]),
    ]
    assert messages[1].content == " And <this>."


def test_the_end_of_an_open_call_comes_without_text() -> None:
    """Consumers of the Responses and Messages APIs lose it otherwise."""
    text = RESPONSES["hermes"][0]
    cut = text.index("Rome") + 2
    messages = stream(parser_for("hermes", None), [text[:cut], text[cut:]], request_for(TOOLS))
    assert [(m.content, [(c.index, c.function.name) for c in m.tool_calls]) for m in messages] == [
        ("Let me see.", [(0, "get_weather")]),
        (None, [(0, None)]),
        (" And <this>.", [(1, "ping")]),
    ]


def test_each_call_has_one_entry_in_a_message() -> None:
    text = RESPONSES["deepseek_v31"][0]
    messages = stream(parser_for("deepseek_v31", None), [text], request_for(TOOLS))
    assert [call.index for call in messages[0].tool_calls] == [0, 1]


def test_held_back_text_comes_at_the_end() -> None:
    messages = stream(parser_for("hermes", None), ["done <tool"], request_for(TOOLS))
    assert joined(messages).content == "done <tool"


def test_undeclared_tools_are_dropped() -> None:
    text = "Hm.\n" + '<tool_call>\n{"name": "rm", "arguments": {}}\n</tool_call>'
    assert parse("hermes", text, request_for(TOOLS)) == Result("Hm.")


def test_named_choice_accepts_that_function_only() -> None:
    choice = {"type": "function", "function": {"name": "ping"}}
    result = parse("hermes", RESPONSES["hermes"][0], request_for(TOOLS, tool_choice=choice))
    assert [name for name, _ in result.calls] == ["ping"]


def test_tool_choice_none_leaves_the_text_alone() -> None:
    text = RESPONSES["hermes"][0]
    request = request_for(TOOLS, tool_choice="none")
    assert parse("hermes", text, request) == Result(text)
    for chunks in ([text], list(text)):
        assert joined(stream(parser_for("hermes", request.tools), chunks, request)) == Result(text)


def test_no_tools_leaves_the_text_alone() -> None:
    text = RESPONSES["hermes"][0]
    request = request_for(None)
    assert parse("hermes", text, request) == Result(text)
    assert joined(stream(parser_for("hermes", None), list(text), request)) == Result(text)


def test_one_object_parses_several_choices() -> None:
    text, content = RESPONSES["hermes"]
    request = request_for(TOOLS)
    parser = parser_for("hermes", request.tools)
    for _ in range(2):
        _, found, calls = parser.parse(text, request, enable_auto_tools=True)
        assert (found, len(calls)) == (content, 2)


def test_thinking_without_a_reasoning_parser_is_content() -> None:
    text = "<think>\nWell\n</think>\n\nHi"
    assert parse("hermes", text, request_for(TOOLS)) == Result(text)


@pytest.mark.parametrize("reasoning", ["qwen3", "deepseek_r1"])
def test_beside_a_builtin_reasoning_parser(reasoning: str, tokenizer: Any) -> None:
    request = request_for(TOOLS)
    text = '<think>Hmm.</think>Here:\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    parser = parser_for("hermes", request.tools, reasoning=reasoning, tokenizer=tokenizer)
    ids = tokenizer.encode(text, add_special_tokens=False)
    prompt = tokenizer.encode("Hello", add_special_tokens=False)
    messages = []
    for at, token in enumerate(ids):
        last = at == len(ids) - 1
        message = parser.parse_delta(
            tokenizer.decode([token]), [token], request, prompt_token_ids=prompt, finished=last
        )
        messages.extend([message] if message else [])
    result = joined(messages)
    assert (result.content, result.calls) == ("Here:", [("ping", "{}")])
    assert (result.reasoning or "").replace("<think>", "") == "Hmm."


def test_a_defect_becomes_text(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """If the core ever fails, the response goes on as text, complete, and it is said once, for whom."""
    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)

    def broken(self: Any, text: str) -> list[Any]:
        if "2" in text:
            raise RuntimeError("defect")
        return original(self, text)

    original = core.ResponseParser.feed
    monkeypatch.setattr(core.ResponseParser, "feed", broken)
    request = request_for(TOOLS)
    assert parse("hermes", "1 2 3", request) == Result("1 2 3")
    caplog.clear()
    assert joined(stream(parser_for("hermes", request.tools), list("1 2 3"), request)) == Result("1 2 3")
    (record,) = {id(record): record for record in caplog.records}.values()
    assert "dialect hermes" in record.getMessage() and request.request_id in record.getMessage()


def test_parser_is_vllms_own() -> None:
    assert isinstance(parser_for("hermes", None), DelegatingParser)


def test_messages_are_what_vllm_would_have_built() -> None:
    """They are made without validation, which costs several times what parsing does."""
    from toolglot.core.deltas import ContentDelta, ReasoningDelta, ToolCallDelta
    from toolglot.vllm_plugin.compat import protocol
    from toolglot.vllm_plugin.messages import Outbox, _moulds

    engine = protocol()
    piece = engine.DeltaToolCall(index=1, function=engine.DeltaFunctionCall(arguments="{"))
    named = engine.DeltaFunctionCall(name="f", arguments="")
    opening = engine.DeltaToolCall(index=1, id="x", type="function", function=named)
    for delta, wanted in (
        (ToolCallDelta(1, "x", "f"), engine.DeltaMessage(tool_calls=[opening])),
        (ContentDelta("a"), engine.DeltaMessage(content="a")),
        (ReasoningDelta("a"), engine.DeltaMessage(reasoning="a")),
        (ToolCallDelta(1, None, None, "{"), engine.DeltaMessage(tool_calls=[piece])),
    ):
        found = Outbox().step([delta])
        assert found == wanted
        assert found.model_fields_set == wanted.model_fields_set
        for unset in (True, False):
            assert found.model_dump_json(exclude_unset=unset) == wanted.model_dump_json(exclude_unset=unset)
        again = Outbox().step([delta])
        assert again is not found and again.tool_calls is not found.tool_calls
        again.content = "b"
        assert again.model_copy(deep=True).content == "b" and found.content == wanted.content
    assert all(make.__name__ == "make" for make in _moulds())


def test_messages_that_are_kept_in_another_way() -> None:
    """Then the class itself is called."""
    from pydantic import BaseModel, PrivateAttr

    from toolglot.core.serving.moulds import mould

    class Counted(BaseModel):
        text: str
        number: int = 0
        _seen: int = PrivateAttr(default=0)

    make = mould(Counted(text="x"), "text")
    assert make.__name__ == "usual"
    assert make("a") == Counted(text="a") and make("a").model_fields_set == {"text"}
