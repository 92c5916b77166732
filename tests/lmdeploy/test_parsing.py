"""The contract of LMDeploy's ResponseParser, and the nature of its own parsers, untouched."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
import shortuuid
from engine_cases import PING, TOOLS, WEATHER, Result, chunkings
from lmdeploy.serve.openai.protocol import DeltaFunctionCall, DeltaMessage, DeltaToolCall
from lmdeploy.serve.parsers import ResponseParserManager
from lmdeploy.serve.parsers.response_parser import BaseResponseParser
from lmdeploy_driving import choose, complete, joined, request_for, stream

from toolglot import core
from toolglot.core import ConfigurationError
from toolglot.core.deltas import ContentDelta, ReasoningDelta, ToolCallDelta
from toolglot.core.serving.settings import from_environment, use
from toolglot.lmdeploy_plugin import response

HERMES = "toolglot_hermes"
CALL = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
PINGED = ("ping", "{}")
_OWN_ID = f"chatcmpl-tool-{shortuuid.random()}"
ANALYSIS = "<|channel|>analysis<|message|>"


def everywhere(parser: Any, request: Any, text: str, expected: Result) -> None:
    """Whole, per character and at random places, streaming and not."""
    for chunks in chunkings(text, text, 5):
        assert joined(stream(parser(request), chunks)) == expected, chunks
    assert complete(parser(request), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"<think>a{CALL}b</think>c", Result("c", "ab", [PINGED])),
        ("<think>\nHm\n</think>\n\nYes", Result("Yes", "Hm")),
    ],
)
def test_reasoning(text: str, expected: Result, tokenizer: Any) -> None:
    everywhere(choose(HERMES, "same", tokenizer=tokenizer), request_for(TOOLS), text, expected)


# The contract.


def test_first_empty_chunk_is_the_role() -> None:
    parser = choose(HERMES)(request_for(TOOLS))
    [(message, emitted)] = parser.stream_chunk("", [], final=False)
    assert (message.role, message.content, emitted) == ("assistant", "", False)
    assert parser.stream_chunk("", [5], final=False) == []
    assert parser.stream_chunk("", [], final=True) == []


def test_one_chunk_many_channels_in_order(tokenizer: Any) -> None:
    parser = choose(HERMES, "same", tokenizer=tokenizer)(request_for(TOOLS))
    emitted = parser.stream_chunk(f"<think>a{CALL}b</think>c{CALL}{CALL}d", [1], final=True)
    order = ["call" if m.tool_calls else "reasoning" if m.reasoning_content else "content" for m, _ in emitted]
    assert order == ["reasoning", "call", "reasoning", "content", "call", "content"]
    assert [call.index for message, _ in emitted for call in message.tool_calls or ()] == [0, 0, 1, 1, 2, 2]


def test_names_come_from_the_final_request() -> None:
    parser = choose(HERMES)
    named = request_for(TOOLS, tool_choice={"type": "function", "function": {"name": "get_weather"}})
    assert [tool["function"]["name"] for tool in parser(named).request.tools] == ["get_weather"]
    assert complete(parser(named), "Hm " + CALL).calls == []
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [PING]}}
    assert complete(parser(request_for(TOOLS, tool_choice=allowed)), CALL).calls == [PINGED]
    assert complete(parser(request_for(TOOLS, tool_choice="none")), CALL) == Result(CALL)
    assert complete(parser(request_for(None)), CALL) == Result(CALL)
    with pytest.raises(ValueError, match="nosuch"):
        parser(request_for(TOOLS, tool_choice={"type": "function", "function": {"name": "nosuch"}}))


def test_the_request_is_not_changed(tokenizer: Any) -> None:
    request = request_for(TOOLS, stop="x", tool_choice="required")
    before = request.model_dump()
    adjusted = choose("toolglot_kimi_k2", tokenizer=tokenizer)(request).request
    assert request.model_dump() == before
    assert (adjusted.skip_special_tokens, adjusted.spaces_between_special_tokens) == (False, False)
    assert adjusted.stop == ["x"] and adjusted.response_format["type"] == "structural_tag"
    plain = choose(HERMES, tokenizer=tokenizer)(request_for(TOOLS)).request
    assert plain.skip_special_tokens is True and plain.response_format is None


def test_ids_of_calls() -> None:
    """In the form that LMDeploy's own have."""
    parser = choose(HERMES)(request_for(TOOLS))
    ids = [call.id for message, _ in stream(parser, [CALL, CALL]) for call in message.tool_calls or () if call.id]
    assert len(set(ids)) == 2
    letters = shortuuid.get_alphabet()
    assert all(re.fullmatch(f"chatcmpl-tool-[{letters}]{{22}}", made) for made in (*ids, _OWN_ID)), ids


def test_messages_are_what_lmdeploy_would_have_built() -> None:
    """They are made without validation."""
    piece = DeltaToolCall(index=1, type=None, function=DeltaFunctionCall(arguments="{"))
    named = DeltaFunctionCall(name="f", arguments=None)
    opening = DeltaToolCall(index=1, id="x", type="function", function=named)
    for delta, wanted in (
        (ContentDelta("a"), DeltaMessage(role="assistant", content="a")),
        (ReasoningDelta("a"), DeltaMessage(role="assistant", reasoning_content="a")),
        (ToolCallDelta(1, None, None, "{"), DeltaMessage(role="assistant", tool_calls=[piece])),
        (ToolCallDelta(1, "x", "f"), DeltaMessage(role="assistant", tool_calls=[opening])),
    ):
        [(found, _)], [(again, _)] = response._messages([delta]), response._messages([delta])
        assert found == wanted and found is not again
        assert found.model_fields_set == wanted.model_fields_set
        for options in ({}, {"exclude_none": True}, {"exclude_unset": True}):
            assert found.model_dump_json(**options) == wanted.model_dump_json(**options)
        again.content = "b"
        assert again.model_copy(deep=True).content == "b" and found == wanted
    makers = [getattr(response, name) for name in vars(response) if name.startswith("_new_") or "_message" in name]
    assert sum(make.__name__ == "make" for make in makers) == 7


def test_a_parser_serves_again() -> None:
    """The core that was opened with the request serves its first response; another one begins anew."""
    parser = choose(HERMES)(request_for(TOOLS))
    assert parser.stream_chunk("", [], final=False)  # the role comes ahead of everything
    for _ in range(2):
        assert complete(parser, f"Yes.{CALL}") == Result("Yes.", None, [PINGED])


def test_special_tokens_that_are_no_markers(tokenizer: Any) -> None:
    """They are taken out as LMDeploy would have, unless the client wants them; ordinary text that looks so stays."""
    parser = choose("toolglot_kimi_k2", tokenizer=tokenizer)
    stray = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    chunks, ids = ["a<|endof", "text|>b", "<|endoftext|>"], [[1, stray], [2], [3]]
    assert joined(stream(parser(request_for(TOOLS)), chunks, ids)) == Result("ab<|endoftext|>")
    wanted = request_for(TOOLS, skip_special_tokens=False)
    assert joined(stream(parser(wanted), chunks, ids)) == Result("".join(chunks))
    text = "".join(chunks)
    assert complete(parser(request_for(TOOLS)), text, [1, stray, 2, 3]) == Result("ab<|endoftext|>")


@pytest.mark.parametrize(
    ("dialect", "text", "inside"),
    [
        ("hermes", "<think>one two</think>three", "one two"),
        ("hermes", f"<think>one{CALL}two</think>three{CALL}", f"one{CALL}two"),
        ("mistral", "[THINK]one two[/THINK]three", "one two"),
        ("gpt_oss", f"{ANALYSIS}one two<|end|><|start|>assistant<|channel|>final<|message|>ok", "one two"),
    ],
)
def test_reasoning_tokens(dialect: str, text: str, inside: str, tokenizer: Any) -> None:
    parser = choose(f"toolglot_{dialect}", "same", tokenizer=tokenizer)
    ids = tokenizer.encode(text, add_special_tokens=False)
    expected = len(tokenizer.encode(inside, add_special_tokens=False))
    whole = parser(request_for(TOOLS))
    assert whole.reasoning_tokens == 0
    complete(whole, text, ids)
    assert whole.reasoning_tokens == expected
    one = parser(request_for(TOOLS))
    stream(one, [tokenizer.decode([number], skip_special_tokens=False) for number in ids], [[n] for n in ids])
    assert one.reasoning_tokens == expected
    assert choose("toolglot_kimi_k2", tokenizer=tokenizer)(request_for(TOOLS)).reasoning_tokens is None


def test_a_defect_costs_no_response(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("a defect")

    parser = choose(HERMES)(request_for(TOOLS))
    stream_of = [*parser.stream_chunk("One ", [1], final=False)]
    monkeypatch.setattr(core.ResponseParser, "feed", fails)
    monkeypatch.setattr(response.logger, "propagate", False)
    caplog.clear()
    response.logger.addHandler(caplog.handler)
    stream_of += [*parser.stream_chunk("two ", [1], final=False), *parser.stream_chunk(CALL, [1], final=True)]
    response.logger.removeHandler(caplog.handler)
    assert joined(stream_of) == Result("One two " + CALL)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_the_log_says_what_is_not_constrained() -> None:
    """Through LMDeploy's own logger: the root logger has no handler in a server."""
    parameters = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    tool = {"type": "function", "function": {"name": "said_in_the_log", "parameters": parameters}}
    lines: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("lmdeploy").addHandler(handler)
    request = choose(HERMES)(request_for([tool], tool_choice="required")).request
    assert request.response_format["type"] == "structural_tag"
    logging.getLogger("lmdeploy").removeHandler(handler)
    (line,) = [line for line in lines if "not constrained to the letter of its schema" in line]
    assert "said_in_the_log" not in line  # what a request says is for the level DEBUG


def test_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = choose(HERMES)
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    for value, kind in (("auto", None), ("always", "structural_tag"), ("never", None)):
        chosen = from_environment({"TOOLGLOT_STRICT": value})
        monkeypatch.setattr("toolglot.lmdeploy_plugin.constrain.current", lambda chosen=chosen: chosen)
        format_ = parser(request_for(TOOLS)).request.response_format
        assert (format_ and format_["type"]) == kind
        kept = parser(request_for(TOOLS, response_format=schema)).request.response_format
        assert kept["type"] == "json_schema"
        forced = parser(request_for(TOOLS, response_format=schema, tool_choice="required")).request.response_format
        assert forced["type"] == "structural_tag"


def test_a_wrong_setting_stops_the_server(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    monkeypatch.setenv("TOOLGLOT_STRICT", "perhaps")
    use(None)
    try:
        with pytest.raises(ConfigurationError, match="TOOLGLOT_STRICT='perhaps' is none of auto, always, never"):
            choose(HERMES, tokenizer=tokenizer)
    finally:
        monkeypatch.undo()
        use(None)


# What is chosen when the server starts.


def test_lmdeploys_own_nature(tokenizer: Any) -> None:
    """With LMDeploy's own names, or none, or a change of mind, the text takes LMDeploy's own way."""
    text = "The `<tool_call>` tag"  # of which LMDeploy keeps less
    for names in (("qwen3", None), ("qwen3", "default"), (None, "default"), (None, None)):
        choose(HERMES, "same", tokenizer=tokenizer)
        ours = choose(*names, tokenizer=tokenizer)

        class Own(BaseResponseParser):
            pass

        Own.set_parsers(names[1], names[0], tokenizer)
        assert ours.tool_parser_cls is Own.tool_parser_cls and ours.reasoning_parser_cls is Own.reasoning_parser_cls
        for sample in (text, CALL, f"a</think>{CALL}b", ""):
            for chunks in ([sample], list(sample)):
                got, wanted = ours(request_for(TOOLS)), Own(request_for(TOOLS))
                assert [_plain(e) for e in stream(got, chunks)] == [_plain(e) for e in stream(wanted, chunks)]
                assert got.reasoning_tokens == wanted.reasoning_tokens
            got, wanted = ours(request_for(TOOLS)), Own(request_for(TOOLS))
            assert got.request == wanted.request
            assert complete(got, sample) == complete(wanted, sample)


def _plain(emitted: tuple[Any, bool]) -> tuple[Any, bool]:
    message = emitted[0].model_dump()
    for call in message["tool_calls"] or ():
        call["id"] = call["id"] and "generated"
    return message, emitted[1]


def test_mixed_choices(tokenizer: Any) -> None:
    text = f"<think>a</think>{CALL}"
    expected = Result(None, "a", [PINGED])
    assert complete(choose(HERMES, "default", tokenizer=tokenizer)(request_for(TOOLS)), text) == expected
    assert complete(choose("qwen3", HERMES, tokenizer=tokenizer)(request_for(TOOLS)), text) == expected
    alone = choose(None, HERMES, tokenizer=tokenizer)
    assert alone.tool_parser_cls is None and alone(request_for(None)).tool_parser is None
    assert complete(alone(request_for(None)), "<think>a</think>b") == Result("b", "a")
    with pytest.raises(ConfigurationError, match="--reasoning-parser toolglot_mistral"):
        choose("toolglot_mistral", "default", tokenizer=tokenizer)
    with pytest.raises(ConfigurationError, match="leave --reasoning-parser out"):
        choose("toolglot_llama4_pythonic", "default", tokenizer=tokenizer)


def test_a_model_that_does_not_write_the_dialect(tokenizer: Any) -> None:
    class Other:
        def get_vocab(self) -> dict[str, int]:
            return {"a": 1}

    with pytest.raises(ConfigurationError, match="its tokenizer has no"):
        choose("toolglot_kimi_k2", tokenizer=Other())


def test_place_of_gpt_oss(tokenizer: Any) -> None:
    parser = choose("toolglot_gpt_oss", tokenizer=tokenizer, place="gpt-oss")
    text = (
        f"{ANALYSIS}Hm<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather "
        '<|constrain|>json<|message|>{"days": 1}<|call|>'
    )
    everywhere(parser, request_for([WEATHER]), text, Result(None, "Hm", [("get_weather", '{"days": 1}')]))
    own = parser.own
    parser.set_parsers(None, None, tokenizer)
    assert parser.chosen is None and parser.tool_parser_cls is own.tool_parser_cls


def test_place_of_gpt_oss_without_openai_harmony() -> None:
    from toolglot.lmdeploy_plugin.response_parser import in_place_of

    parser = in_place_of(None, "gpt-oss")
    with pytest.raises(ValueError, match="The response parser gpt-oss is not in the parser list"):
        parser.set_parsers("default", "qwen3", None)
    parser.set_parsers(None, HERMES, None)
    assert complete(parser(request_for(TOOLS)), CALL).calls == [PINGED]
    assert ResponseParserManager.get("gpt-oss") is not parser
