"""Defects put into the plugin: they cost no other stream anything, and the text of their own stream is complete. And
nothing that a user or a model wrote is logged above the debug level, whatever happens.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from driving import joined, parse, parser_for, request_for, stream
from engine_cases import Result, tool

from toolglot import core
from toolglot.core import list_dialects, structural
from toolglot.core.serving import constrain
from toolglot.vllm_plugin import response

SENTINEL = "Qz7Sentinel"
SECRET = tool(f"{SENTINEL}_tool", {f"{SENTINEL}_key": {"type": "string", "description": SENTINEL}})
CALL = (
    f'<tool_call>\n{{"name": "{SENTINEL}_tool", "arguments": {{"{SENTINEL}_key": "{SENTINEL}"}}}}\n</tool_call>'
)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """All that is logged, by vLLM, the plugin and the core (vLLM's logger does not propagate)."""
    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)
    monkeypatch.setattr(response.metrics, "_seen", set())
    structural._warn.cache_clear()  # what is said once is to be said here
    constrain.clear()
    caplog.set_level(logging.INFO)
    return caplog


def break_core(monkeypatch: pytest.MonkeyPatch, method: str, when: Callable[[str], bool]) -> None:
    """Let a method of the core fail on some text, with a message that quotes it."""
    original = getattr(core.ResponseParser, method)
    texts: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def broken(self: Any, text: str | None = None, *more: Any) -> Any:
        seen = texts[self] = texts.get(self, "") + (text or "")
        if when(seen):
            raise ValueError(f"a defect at {seen!r}")
        return original(self, text, *more) if text is not None else original(self)

    if method == "finish":
        feed = core.ResponseParser.feed

        def listening(self: Any, text: str, *more: Any) -> Any:
            texts[self] = texts.get(self, "") + text
            return feed(self, text, *more)

        monkeypatch.setattr(core.ResponseParser, "feed", listening)
    monkeypatch.setattr(core.ResponseParser, method, broken)


@pytest.mark.parametrize("method", ["feed", "finish"])
@pytest.mark.parametrize("reasoning", [None, "same"])
def test_other_streams_go_on(
    method: str, reasoning: str | None, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streams step by step in turn; every third one meets a defect."""
    break_core(monkeypatch, method, lambda text: "BOOM" in text)
    request = request_for([SECRET])
    parsers, texts = [], []
    messages: list[list[Any]] = []
    for number in range(30):
        parsers.append(parser_for("hermes", request.tools, reasoning=reasoning, tokenizer=tokenizer))
        texts.append(f"Stream {number}{' BOOM' if number % 3 == 0 else ''}.\n{CALL} End {number} <tool")
        messages.append([])
    for at in range(max(map(len, texts)) + 1):
        for parser, text, found in zip(parsers, texts, messages, strict=True):
            if at <= len(text):
                message = parser.parse_delta(
                    text[at : at + 1], [1], request, prompt_token_ids=[1], finished=at == len(text)
                )
                found.extend([message] if message is not None else [])
    call = (f"{SENTINEL}_tool", f'{{"{SENTINEL}_key": "{SENTINEL}"}}')
    for number, (text, found) in enumerate(zip(texts, messages, strict=True)):
        expected = Result(f"Stream {number}. End {number} <tool", None, [call])
        if number % 3 == 0:
            expected = Result(text) if method == "feed" else Result(text.replace(f"\n{CALL}", ""), None, [call])
        assert joined(found) == expected


@pytest.mark.parametrize("part", ["_outbox.step", "open_core", "strays"])
def test_other_parts_of_the_plugin(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails before the core, or behind it, fails in its own stream only."""
    request = request_for([SECRET])
    good = parser_for("hermes", request.tools)
    found = stream_part(good, CALL[:30], request)
    with monkeypatch.context() as patch:

        def broken(*_: Any, **__: Any) -> Any:
            raise ValueError("a defect")

        target = "Outbox.step" if part == "_outbox.step" else part
        patch.setattr(f"toolglot.vllm_plugin.response.{target}", broken)
        bad = parser_for("hermes", request.tools)
        if part == "_outbox.step":
            with pytest.raises(ValueError, match="a defect"):  # vLLM ends this one response with an error
                stream_part(bad, "Hi", request)
        else:
            assert joined(stream(bad, ["Hi ", CALL], request)) == Result("Hi " + CALL)
    found += [*stream_part(good, CALL[30:], request), *stream_part(good, "", request, finished=True)]
    assert [name for name, _ in joined(found).calls] == [f"{SENTINEL}_tool"]


def stream_part(parser: Any, text: str, request: Any, finished: bool = False) -> list[Any]:
    message = parser.parse_delta(text, [1], request, prompt_token_ids=[1], finished=finished)
    return [message] if message is not None else []


def test_reasoning_alone_loses_nothing_to_a_defect(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the core held back when it failed goes out as well."""
    from vllm.reasoning import ReasoningParserManager

    break_core(monkeypatch, "feed", lambda text: "BOOM" in text)
    parser = ReasoningParserManager.get_reasoning_parser("toolglot_hermes")(tokenizer)
    parser.is_reasoning_end(tokenizer.encode("Hello<think>", add_special_tokens=False))
    text = "<think>Hm </thin BOOM</think> rest"
    out = ""
    for char in text:
        message = parser.extract_reasoning_streaming("", "", char, [], [], [1])
        out += ((message.reasoning or "") + (message.content or "")) if message is not None else ""
    message = parser.finish_streaming()
    out += ((message.reasoning or "") + (message.content or "")) if message is not None else ""
    assert out.removeprefix("<think>") == text.removeprefix("<think>")


@pytest.mark.parametrize("defect", [False, True], ids=["well", "defect"])
@pytest.mark.parametrize("dialect", list_dialects())
def test_nothing_of_a_user_is_logged(
    dialect: str, defect: bool, tokenizer: Any, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In tools, arguments, undeclared names, broken blocks; also where the message of an exception quotes it."""
    from written import written

    if defect:
        break_core(monkeypatch, "feed", lambda text: len(text) > 40)
    call = written(dialect)
    properties = {
        call.key: {"type": "string", "description": SENTINEL},
        f"{SENTINEL}_unique": {"type": "array", "uniqueItems": True},  # no grammar says that
    }
    offered = [tool(f"{SENTINEL}_tool", properties)]
    request = request_for(offered, tool_choice="required")
    options = {"reasoning": "same", "tokenizer": tokenizer}
    texts = (
        call.call(f"{SENTINEL}_tool", SENTINEL),
        call.call(f"{SENTINEL}_undeclared", SENTINEL) + SENTINEL,
        call.bare(f"{SENTINEL}_tool", f"{{[{SENTINEL}"),
        call.call(f"{SENTINEL}_tool", SENTINEL)[:-8] + SENTINEL,
        call.call(f"{SENTINEL} tool", SENTINEL) * 2,
    )
    parser_for(dialect, request.tools, **options).adjust_request(request.model_copy(deep=True))
    for text in texts:
        chunks = [text[at : at + 5] for at in range(0, len(text), 5)]
        joined(stream(parser_for(dialect, request.tools, **options), chunks, request, prompt=[1]))
        parse(dialect, text, request, [1], **options)
    assert log.records or not defect
    assert SENTINEL not in log.text
