"""Special tokens, and what vLLM's engine does to the text: held-back tails, steps of many tokens, cuts."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from driving import RESPONSES, joined, parser_for, request_for
from engine_cases import PING, TOOLS, Result
from vllm.parser.parser_manager import ParserManager

from toolglot.core import get_dialect
from toolglot.core.serving.tokens import StrayFilter, missing_markers, without_stray
from toolglot.vllm_plugin.response import metrics

KIMI_CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}"
    "<|tool_call_end|><|tool_calls_section_end|>"
)
STRAY = "<|python_start|>"
SPELLED = "<|eom|>"  # by ordinary tokens


def prepared(dialect: str, tokenizer: Any, **fields: Any) -> tuple[Any, Any]:
    """A request as vLLM has adjusted it, and a parser for its response."""
    request = request_for(fields.pop("tools", TOOLS), **fields)
    options: dict[str, Any] = {"reasoning": "same", "tokenizer": tokenizer}
    parser = parser_for(dialect, request.tools, **options)
    if request.tool_choice != "none" or parser.reasoning_parser is not None:
        parser.adjust_request(request)
    return request, parser_for(dialect, request.tools, **options)


def run(parser: Any, request: Any, ids: list[int], tokenizer: Any, *, held: int = 0, step: int = 1) -> Result:
    """A stream as the engine makes it: `held` characters of text stay behind the ids, as under stop strings."""
    skip = request.skip_special_tokens is not False  # None in 0.33: the default
    messages = []
    shown = 0
    for at in range(0, len(ids), step):
        last = at + step >= len(ids)
        text = tokenizer.decode(ids[: at + step], skip_special_tokens=skip)
        end = len(text) if last else max(shown, len(text) - held)
        message = parser.parse_delta(
            text[shown:end], ids[at : at + step], request, prompt_token_ids=[5], finished=last
        )
        shown = end
        messages.extend([message] if message else [])
    return joined(messages)


def token_ids(tokenizer: Any, *parts: str) -> list[int]:
    """Ids of the parts; SPELLED is written with ordinary tokens."""
    ids: list[int] = []
    for part in parts:
        pieces = [part[:2], part[2:]] if part == SPELLED else [part]
        for piece in pieces:
            ids += tokenizer.encode(piece, add_special_tokens=False)
    return ids


@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize("held", [0, 1, 7, 40])
def test_stray_special_tokens_do_not_leak(tokenizer: Any, held: int, step: int) -> None:
    request, parser = prepared("kimi_k2", tokenizer)
    assert request.skip_special_tokens is False
    ids = token_ids(tokenizer, "I ", STRAY, "see", SPELLED, ".", KIMI_CALL, STRAY, "Done.", "<|im_end|>", "<|im_end|>")
    assert run(parser, request, ids, tokenizer, held=held, step=step) == Result(
        f"I see{SPELLED}.Done.", None, [("ping", "{}")]
    )


def test_stray_special_tokens_without_streaming(tokenizer: Any) -> None:
    request, parser = prepared("kimi_k2", tokenizer)
    text = f"I {STRAY}see.{KIMI_CALL}{STRAY}Done.<|im_end|>"
    _, content, calls = parser.parse(text, request, enable_auto_tools=True)
    assert (content, len(calls)) == ("I see.Done.", 1)


def test_special_tokens_that_the_client_wants(tokenizer: Any) -> None:
    request, parser = prepared("kimi_k2", tokenizer, skip_special_tokens=False)
    ids = token_ids(tokenizer, "I ", STRAY, "see.", KIMI_CALL)
    assert run(parser, request, ids, tokenizer) == Result(f"I {STRAY}see.", None, [("ping", "{}")])
    assert parser.parse(f"a{STRAY}", request, enable_auto_tools=True)[1] == f"a{STRAY}"


@pytest.mark.parametrize("dialect", ["hermes", "glm45"])
def test_plain_markers_need_nothing(tokenizer: Any, dialect: str) -> None:
    request, _ = prepared(dialect, tokenizer)
    assert request.skip_special_tokens is not False


def test_tool_choice_none_hides_the_special_markers_of_calls(tokenizer: Any) -> None:
    """As vLLM does, also where the markers of reasoning are special and have to stay."""
    request, parser = prepared("mistral", tokenizer, tool_choice="none")
    assert request.skip_special_tokens is False
    ids = token_ids(tokenizer, "[THINK]", "Hm", "[/THINK]", "Hi ", "[TOOL_CALLS]", "ping")
    assert run(parser, request, ids, tokenizer) == Result("Hi ping", "Hm")


@pytest.mark.parametrize("held", [0, 12])
@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize("dialect", sorted(RESPONSES))
def test_text_behind_the_ids(tokenizer: Any, dialect: str, step: int, held: int) -> None:
    text, content = RESPONSES[dialect]
    request, parser = prepared(dialect, tokenizer)
    result = run(parser, request, token_ids(tokenizer, text, "<|im_end|>"), tokenizer, held=held, step=step)
    assert result.content == content
    assert [name for name, _ in result.calls] == ["get_weather", "ping"]


@pytest.mark.parametrize("held", [0, 3, 30])
def test_stop_strings_cost_no_reasoning(tokenizer: Any, held: int) -> None:
    """vLLM's own parsers lose reasoning here, and show the closer."""
    request, parser = prepared("hermes", tokenizer)
    ids = token_ids(tokenizer, "<think>abcdefgh</think>ijkl")
    assert run(parser, request, ids, tokenizer, held=held) == Result("ijkl", "abcdefgh")


def test_a_cut_at_every_token(tokenizer: Any) -> None:
    """A length cut keeps what was complete, and no marker shows."""
    ids = token_ids(tokenizer, "<think>Hm</think>I see.", KIMI_CALL, "Done.")
    for length in range(1, len(ids)):
        request, parser = prepared("kimi_k2", tokenizer)
        result = run(parser, request, ids[:length], tokenizer)
        assert "I see.Done.".startswith(result.content or "")
        assert result.calls in ([], [("ping", ""), *[]], [("ping", "{}")], [("ping", "{")])


def test_parallel_tool_calls_false(tokenizer: Any) -> None:
    for dialect, (text, _) in RESPONSES.items():
        request, parser = prepared(dialect, tokenizer, parallel_tool_calls=False)
        result = run(parser, request, token_ids(tokenizer, text), tokenizer)
        assert [name for name, _ in result.calls] == ["get_weather"]


def test_several_choices(tokenizer: Any) -> None:
    """Choices are streamed at the same time, each by its own parser."""
    request, _ = prepared("hermes", tokenizer, n=2)
    text = RESPONSES["hermes"][0]
    parsers = [parser_for("hermes", request.tools, reasoning="same", tokenizer=tokenizer) for _ in range(2)]
    found: list[list[Any]] = [[], []]
    for at, char in enumerate(text):
        for parser, messages in zip(parsers, found, strict=True):
            message = parser.parse_delta(char, [7], request, prompt_token_ids=[5], finished=at == len(text) - 1)
            messages.extend([message] if message else [])
    assert joined(found[0]) == joined(found[1])
    assert len(joined(found[0]).calls) == 2


def test_ids_are_the_same_when_a_stream_is_replayed(tokenizer: Any) -> None:
    request, _ = prepared("hermes", tokenizer, tools=[PING])
    call = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>\n'
    replays = []
    for _ in range(2):
        parser = parser_for("hermes", request.tools, reasoning="same", tokenizer=tokenizer)
        message = parser.parse_delta(call * 2, [7], request, prompt_token_ids=[5], finished=True)
        replays.append([call.id for call in message.tool_calls])
    assert replays[0] == replays[1]
    assert len(set(replays[0])) == 2


# Start-up


def test_a_tokenizer_without_the_markers_is_refused() -> None:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    other = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
    # From 0.32 on vLLM builds a parser before it serves, to see whether it can; older versions at the first request.
    early = "tokenizer" in inspect.signature(ParserManager.get_parser).parameters
    options = {"enable_auto_tools": True, "model_name": "any", **({"tokenizer": other} if early else {})}
    for names in ({"tool_parser_name": "toolglot_kimi_k2"}, {"reasoning_parser_name": "toolglot_kimi_k2"}):
        with pytest.raises(TypeError if early else ValueError, match=r"kimi_k2.*<\|tool_calls_section_begin\|>"):
            ParserManager.get_parser(**names, **options)(other)
    for dialect in ("hermes", "qwen3_coder", "llama4_pythonic"):
        ParserManager.get_parser(tool_parser_name=f"toolglot_{dialect}", **options)(other)


@pytest.mark.parametrize("dialect", [*RESPONSES, "gpt_oss"])
def test_the_markers_are_found(tokenizer: Any, dialect: str) -> None:
    assert missing_markers(tokenizer, get_dialect(dialect)) == []


# The filter itself


def test_filter() -> None:
    stray = {1: "<x>", 2: "<yy>"}
    for text in ("a<x>b<yy>c", "<x><yy>", "<x", "<<x>"):
        for cut in range(len(text) + 1):
            filtered = StrayFilter(stray)
            ids = [1, 2] if "yy" in text else [1]
            out = filtered.feed(text[:cut], ids) + filtered.feed(text[cut:], []) + filtered.finish()
            assert out == without_stray(text, stray)[0]
    assert StrayFilter(stray).feed("<x>", [7]) == "<x>"


# Counting


def test_what_is_dropped_is_counted_and_said_once(tokenizer: Any, monkeypatch: Any, caplog: Any) -> None:
    import logging

    from prometheus_client import REGISTRY

    def value(kind: str) -> float:
        labels = {"engine": "vllm", "dialect": "kimi_k2", "kind": kind}
        return REGISTRY.get_sample_value("toolglot_anomalies_total", labels) or 0

    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)
    monkeypatch.setattr(metrics, "_seen", set())
    before = value("undeclared_tool"), value("special_token")
    for _ in range(2):
        request, parser = prepared("kimi_k2", tokenizer)
        text = f"Hi{STRAY}{KIMI_CALL.replace('ping', 'secret_tool')}"
        assert run(parser, request, token_ids(tokenizer, text), tokenizer) == Result("Hi")
    assert (value("undeclared_tool"), value("special_token")) == (before[0] + 2, before[1] + 2)
    ours = {id(record): record for record in caplog.records if record.name == "vllm.toolglot"}
    assert len([record for record in ours.values() if "undeclared_tool" in record.getMessage()]) == 1
    assert "secret" not in caplog.text
