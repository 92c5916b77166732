"""Reasoning: one core for the response beside our own tool parser, and a parser of its own elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from driving import check_tails, joined, parse, parser_for, request_for, splits, stream
from engine_cases import PING, TOOLS, Result
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParserManager

from toolglot.core import get_dialect, list_dialects
from toolglot.core.serving.prompt import Thinking, has_reasoning
from toolglot.vllm_plugin.prompt import Prompt

THINKERS = [name for name in list_dialects() if has_reasoning(get_dialect(name))]
PING_CALL = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
# Reasoning, a call in it, reasoning again, content, a call, content.
MIXED = f"<think>\nabc\n{PING_CALL} def\n</think>\n\ndone\n{PING_CALL} tail"
MIXED_RESULT = Result("done tail", "abc def", [("ping", "{}"), ("ping", "{}")])
TURN = "<|im_start|>assistant\n"


def encoded(tokenizer: Any, text: str) -> list[int]:
    """Token ids of a text."""
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    return ids


def kinds(messages: list[Any]) -> list[str]:
    """What the messages carry, in order, repetitions left out."""
    found: list[str] = []
    for message in messages:
        for kind, value in (
            ("reasoning", message.reasoning),
            ("content", message.content),
            ("call", message.tool_calls),
        ):
            if value and found[-1:] != [kind]:
                found.append(kind)
    return found


def test_names() -> None:
    assert {"hermes", "gpt_oss", "kimi_k3"} <= set(THINKERS)
    assert not {"functiongemma", "llama4_pythonic", "phi4_mini"} & set(THINKERS)
    for name in THINKERS:
        assert ReasoningParserManager.get_reasoning_parser(f"toolglot_{name}").dialect == name
    with pytest.raises(KeyError, match="toolglot_hermes"):
        ReasoningParserManager.get_reasoning_parser("nosuch")


def test_order_is_kept(tokenizer: Any) -> None:
    request = request_for(TOOLS)
    options = {"reasoning": "same", "tokenizer": tokenizer}
    assert parse("hermes", MIXED, request, **options) == MIXED_RESULT
    for chunks in splits(MIXED):
        messages = stream(parser_for("hermes", request.tools, **options), chunks, request)
        assert joined(messages) == MIXED_RESULT, chunks
        check_tails(messages)
    messages = stream(parser_for("hermes", request.tools, **options), list(MIXED), request)
    assert kinds(messages) == ["reasoning", "call", "reasoning", "content", "call", "content"]


def test_include_reasoning_false(tokenizer: Any) -> None:
    request = request_for(TOOLS, include_reasoning=False)
    parser = parser_for("hermes", request.tools, reasoning="same", tokenizer=tokenizer)
    wanted = Result(MIXED_RESULT.content, None, MIXED_RESULT.calls)
    assert joined(stream(parser, list(MIXED), request)) == wanted


def test_tool_choice_none(tokenizer: Any) -> None:
    request = request_for(TOOLS, tool_choice="none")
    wanted = Result(f"done\n{PING_CALL} tail", f"abc\n{PING_CALL} def", [])
    options = {"reasoning": "same", "tokenizer": tokenizer}
    assert parse("hermes", MIXED, request, **options) == wanted
    assert joined(stream(parser_for("hermes", request.tools, **options), list(MIXED), request)) == wanted


def test_responses_api(tokenizer: Any) -> None:
    flat = [{"type": "function", "name": "ping", "parameters": {"type": "object", "properties": {}}}]
    request = ResponsesRequest.model_validate({"model": "any", "input": "Hello", "tools": flat})
    parser = parser_for("hermes", request.tools, reasoning="same", tokenizer=tokenizer)
    assert joined(stream(parser, list(MIXED), request)) == MIXED_RESULT


def test_choices_do_not_share_state(tokenizer: Any) -> None:
    """Before 0.33 one object parses all choices of a response that is not streamed."""
    request = request_for(TOOLS)
    parser = parser_for("hermes", request.tools, reasoning="same", tokenizer=tokenizer)
    for text, wanted in ((MIXED, "done tail"), ("Hi", "Hi"), (MIXED, "done tail")):
        assert parser.parse(text, request, enable_auto_tools=True)[1] == wanted


@pytest.mark.parametrize(
    ("end", "thinking"),
    [("<think>\n", "open"), ("<think>\n\n</think>\n\n", "closed"), ("", "free"), ("Well, ", "closed")],
)
@pytest.mark.parametrize("length", [0, 1000, 20_000])
def test_the_last_turn_of_the_prompt_decides(tokenizer: Any, end: str, thinking: str, length: int) -> None:
    """Whatever an earlier turn holds; vLLM's own parsers take its `</think>` for the end of this one."""
    text = f"{TURN}<think>Hm</think>Yes<|im_end|>\n<|im_start|>user\n{'word ' * length}<|im_end|>\n{TURN}{end}"
    prompt = Prompt(get_dialect("hermes"), tokenizer, None)
    assert prompt.of_ids(encoded(tokenizer, text)) is Thinking(thinking)


def test_a_foreign_turn_marker(tokenizer: Any) -> None:
    """A prompt without the dialect's own turn marker: the last special token that is no marker will do."""
    prompt = Prompt(get_dialect("kimi_k2"), tokenizer, None)
    for end, thinking in (("", "free"), ("<think>", "open"), ("<think></think>", "closed")):
        assert prompt.of_ids(encoded(tokenizer, f"<think></think>x{TURN}{end}")) is Thinking(thinking)


def test_without_the_prompt_the_template_is_asked(tokenizer: Any) -> None:
    hermes = get_dialect("hermes")
    assert Prompt(hermes, tokenizer, {}).thinking is Thinking.FREE
    assert Prompt(hermes, tokenizer, {"enable_thinking": False}).thinking is Thinking.CLOSED
    assert Prompt(get_dialect("qwen3_coder"), None, {"enable_thinking": True}).thinking is Thinking.OPEN
    assert Prompt(hermes, None, {}).thinking is Thinking.FREE


def test_the_prompt_opens_reasoning(tokenizer: Any) -> None:
    request = request_for(TOOLS)
    prompt = encoded(tokenizer, f"Hello<|im_end|>\n{TURN}<think>\n")
    text = f"abc</think>done{PING_CALL}"
    wanted = Result("done", "abc", [("ping", "{}")])
    options = {"reasoning": "same", "tokenizer": tokenizer}
    assert parse("hermes", text, request, prompt, **options) == wanted
    for chunks in splits(text):
        messages = stream(parser_for("hermes", request.tools, **options), chunks, request, prompt=prompt)
        assert joined(messages) == wanted


# The engine's gate


def test_end_of_reasoning_for_the_engine(tokenizer: Any) -> None:
    parser = ReasoningParserManager.get_reasoning_parser("toolglot_hermes")(tokenizer=tokenizer)
    ids = encoded(tokenizer, "<think>abc</think>done")
    end = ids.index(encoded(tokenizer, "</think>")[0])
    told = [parser.is_reasoning_end_streaming(ids[: at + 1], iter([ids[at]])) for at in range(len(ids))]
    assert told == [at == end for at in range(len(ids))]
    assert parser.is_reasoning_end(encoded(tokenizer, f"{TURN}<think></think>"))
    assert not parser.is_reasoning_end(encoded(tokenizer, f"<think></think>{TURN}<think>"))
    assert not parser.is_reasoning_end(encoded(tokenizer, f"<think></think>{TURN}"))
    off = type(parser)(tokenizer, chat_template_kwargs={"enable_thinking": False})
    assert not off.is_reasoning_end(encoded(tokenizer, f"{TURN}<think>"))


def test_a_closer_of_several_tokens(tokenizer: Any) -> None:
    parser = ReasoningParserManager.get_reasoning_parser("toolglot_gpt_oss")(tokenizer)
    closer = encoded(tokenizer, "<|channel|>final<|message|>")
    ids = [*encoded(tokenizer, "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant"), *closer]
    assert len(closer) > 2
    told = [parser.is_reasoning_end_streaming(ids[: at + 1], [ids[at]]) for at in range(len(ids))]
    assert told == [False] * (len(ids) - 1) + [True]


def test_the_cost_of_the_gate_does_not_grow(tokenizer: Any) -> None:
    class Counted(list[int]):
        reads = 0

        def __iter__(self) -> Any:
            raise AssertionError("all ids were read")

    parser = ReasoningParserManager.get_reasoning_parser("toolglot_hermes")(tokenizer)
    assert not parser.is_reasoning_end_streaming(Counted(range(1000)), [5])


def test_reasoning_tokens(tokenizer: Any) -> None:
    parser = ReasoningParserManager.get_reasoning_parser("toolglot_hermes")(tokenizer)
    body = encoded(tokenizer, f"abc{PING_CALL}def")
    ids = [*encoded(tokenizer, "<think>"), *body, *encoded(tokenizer, "</think>done")]
    for length in range(len(ids) + 1):  # as continuous usage does
        counted = parser.count_reasoning_tokens(ids[:length])
        assert counted == max(0, min(length - 1, len(body)))
    parser.extract_reasoning("Hi", request_for(TOOLS))
    parser.is_reasoning_end(encoded(tokenizer, f"{TURN}<think>"))
    assert parser.count_reasoning_tokens(encoded(tokenizer, "abc</think>done")) == len(encoded(tokenizer, "abc"))


# Alone


@pytest.mark.parametrize(
    ("text", "opened", "wanted"),
    [
        ("<think>\nabc\n</think>\n\ndone <think>x</think>", False, ("abc", "done <think>x</think>")),
        ("abc</think>\n<done", True, ("abc", "<done")),
        ("no thought <think>", False, (None, "no thought <think>")),
        ("<thin", False, (None, "<thin")),
        ("<think>cut </thi", False, ("cut </thi", None)),
        (f"<think>abc {PING_CALL}</think>{PING_CALL}", False, (f"abc {PING_CALL}", PING_CALL)),
        ("", False, (None, None)),
    ],
)
def test_alone(tokenizer: Any, text: str, opened: bool, wanted: tuple[str | None, str | None]) -> None:
    parser_class = ParserManager.get_parser(reasoning_parser_name="toolglot_hermes", model_name="any")
    assert parser_class is not None
    request = request_for(None)
    prompt = encoded(tokenizer, TURN + ("<think>" if opened else ""))
    parser = parser_class(tokenizer, None)
    parser.is_reasoning_end(prompt)
    assert parser.parse(text, request)[:2] == wanted
    for chunks in splits(text) if text else [[""]]:
        result = joined(stream(parser_class(tokenizer, None), chunks, request, prompt=prompt))
        assert (result.reasoning, result.content) == wanted, chunks


@pytest.mark.parametrize("builtin", ["hermes", "qwen3_coder"])
def test_beside_a_builtin_tool_parser(tokenizer: Any, builtin: str) -> None:
    parser_class = ParserManager.get_parser(
        tool_parser_name=builtin,
        reasoning_parser_name="toolglot_hermes",
        enable_auto_tools=True,
        model_name="any",
    )
    assert parser_class is not None
    call = PING_CALL if builtin == "hermes" else "<tool_call>\n<function=ping>\n</function>\n</tool_call>"
    text = f"<think>\nabc\n</think>\n\ndone\n{call}"
    request = request_for(TOOLS)
    reasoning, content, calls = parser_class(tokenizer, request.tools).parse(text, request, enable_auto_tools=True)
    assert (reasoning, (content or "").strip(), [call.name for call in calls or []]) == ("abc", "done", ["ping"])
    ids = encoded(tokenizer, text)
    parser = parser_class(tokenizer, request.tools)
    messages = []
    for at, token in enumerate(ids):
        piece = tokenizer.decode([token], skip_special_tokens=False)
        message = parser.parse_delta(piece, [token], request, prompt_token_ids=[1], finished=at == len(ids) - 1)
        messages.extend([message] if message else [])
    assert "".join(message.reasoning or "" for message in messages) == "abc"
    assert "".join(message.content or "" for message in messages).strip() == "done"
    names = [call.function.name for message in messages for call in message.tool_calls]
    assert [name for name in names if name] == ["ping"]


def test_another_dialects_tool_parser_is_not_linked(tokenizer: Any) -> None:
    text = '<think>abc</think>[TOOL_CALLS]ping[ARGS]{"a": 1}'
    request = request_for([PING])
    options = {"reasoning": "toolglot_hermes", "tokenizer": tokenizer}
    wanted = Result(None, "abc", [("ping", '{"a": 1}')])
    assert parse("mistral", text, request, **options) == wanted
    for chunks in splits(text):
        assert joined(stream(parser_for("mistral", request.tools, **options), chunks, request)) == wanted


def test_a_defect_becomes_text(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    from toolglot import core

    def broken(self: Any, text: str) -> list[Any]:
        raise RuntimeError("defect")

    monkeypatch.setattr(core.ResponseParser, "feed", broken)
    monkeypatch.setattr("toolglot.core.serving.prompt.prompt_opens_reasoning", lambda dialect, tail: False)
    request = request_for(TOOLS)
    for reasoning in ("same", "toolglot_kimi_k2"):
        options = {"reasoning": reasoning, "tokenizer": tokenizer}
        assert parse("hermes", "1 2 3", request, **options) == Result("1 2 3")
        parser = parser_for("hermes", request.tools, **options)
        assert joined(stream(parser, list("1 2 3"), request)) == Result("1 2 3")
