"""Defects put into the plugin: they cost no other stream anything, and the text of their own stream is complete. And
nothing that a user or a model wrote is logged above the debug level, whatever happens.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import openai
import pytest
from engine_cases import Result, tool
from lmdeploy_driving import choose, complete, joined, request_for, stream
from lmdeploy_serving import NAME, official, served
from lmdeploy_standin import say

from toolglot import core
from toolglot.core import list_dialects, structural
from toolglot.core.serving import constrain
from toolglot.lmdeploy_plugin import response

SENTINEL = "Qz7Sentinel"
SECRET = tool(f"{SENTINEL}_tool", {f"{SENTINEL}_key": {"type": "string"}})
CALL = (
    f'<tool_call>\n{{"name": "{SENTINEL}_tool", "arguments": {{"{SENTINEL}_key": "{SENTINEL}"}}}}\n</tool_call>'
)
CALLED = (f"{SENTINEL}_tool", f'{{"{SENTINEL}_key": "{SENTINEL}"}}')


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.LogCaptureFixture]:
    """All that is logged, by LMDeploy, the plugin and the core (LMDeploy's logger does not propagate)."""
    loggers = [logging.getLogger("lmdeploy"), logging.getLogger("lmdeploy.toolglot")]
    monkeypatch.setattr(response.metrics, "_seen", set())
    structural._warn.cache_clear()  # what is said once is to be said here
    constrain.clear()
    caplog.set_level(logging.INFO)
    for logger in loggers:
        logger.addHandler(caplog.handler)
        monkeypatch.setattr(logger, "level", logging.INFO)
    yield caplog
    for logger in loggers:
        logger.removeHandler(caplog.handler)


def break_feed(monkeypatch: pytest.MonkeyPatch, when: Callable[[str], bool]) -> None:
    """Let the core fail on some text, with a message that quotes it."""
    original = core.ResponseParser.feed
    texts: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def broken(self: Any, text: str, *more: Any) -> Any:
        seen = texts[self] = texts.get(self, "") + text
        if when(seen):
            raise ValueError(f"a defect at {seen!r}")
        return original(self, text, *more)

    monkeypatch.setattr(core.ResponseParser, "feed", broken)


@pytest.mark.parametrize("reasoning", [None, "same"])
def test_other_streams_go_on(reasoning: str | None, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams step by step in turn; every third one meets a defect."""
    break_feed(monkeypatch, lambda text: "BOOM" in text)
    parser = choose("toolglot_hermes", reasoning, tokenizer=tokenizer)
    parsers, texts = [], []
    emitted: list[list[Any]] = []
    for number in range(30):
        parsers.append(parser(request_for([SECRET])))
        texts.append(f"Stream {number}{' BOOM' if number % 3 == 0 else ''}.\n{CALL} End {number} <tool")
        emitted.append([])
    for at in range(max(map(len, texts)) + 1):
        for one, text, found in zip(parsers, texts, emitted, strict=True):
            if at <= len(text):
                found.extend(one.stream_chunk(text[at : at + 1], [1], final=at == len(text)))
    for number, (text, found) in enumerate(zip(texts, emitted, strict=True)):
        expected = Result(f"Stream {number}. End {number} <tool", None, [CALLED])
        assert joined(found) == (Result(text) if number % 3 == 0 else expected)


@pytest.fixture(scope="module")
def app(model: Path) -> Iterator[Any]:
    """LMDeploy's app on the stand-in engine."""
    with served(model, "toolglot_hermes") as client:
        yield client


@pytest.mark.parametrize("part", ["Response.feed", "Response._ended", "_message"])
def test_the_server_outlives_a_defect(app: Any, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anywhere in the plugin, also beyond its safety net: a response may fail, the others and the server do not.

    There are more faulty requests than the engine has places: none may stay taken.
    """
    name, _, method = part.rpartition(".")
    owner = getattr(response, name) if name else response
    original = getattr(owner, method)

    def broken(*arguments: Any) -> Any:
        if any("BOOM" in str(getattr(one, "text", one)) for one in arguments) or (
            method == "_ended" and "BOOM" in seen.get(arguments[0], "")
        ):
            raise ValueError("a defect")
        return original(*arguments)

    seen: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
    feed = response.Response.feed

    def listening(self: Any, text: str, *more: Any) -> Any:
        seen[self] = seen.get(self, "") + text
        return feed(self, text, *more)

    if method != "feed":
        monkeypatch.setattr(response.Response, "feed", listening)
    monkeypatch.setattr(owner, method, broken)
    client = official(app)

    def ask(number: int) -> str | None:
        faulty = " BOOM" if number % 2 else ""
        text = f"Stream {number}{faulty} is."
        out = ""
        try:
            messages = [{"role": "user", "content": say(text)}]
            for chunk in client.chat.completions.create(model=NAME, messages=messages, tools=[SECRET], stream=True):
                out += "".join(choice.delta.content or "" for choice in chunk.choices)
        except (openai.OpenAIError, ValueError):  # the test's client raises what the app does
            return None if faulty else "failed"
        return out if faulty or out == text else f"wrong: {out!r}"

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(ask, range(100)))  # 50 are faulty, and 48 have a place
    assert all(result == f"Stream {number} is." for number, result in enumerate(results) if number % 2 == 0), results
    assert ask(1000) == "Stream 1000 is."


@pytest.mark.parametrize("defect", [False, True], ids=["well", "defect"])
@pytest.mark.parametrize("dialect", list_dialects())
def test_nothing_of_a_user_is_logged(
    dialect: str, defect: bool, tokenizer: Any, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In tools, arguments, undeclared names, broken blocks; also where the message of an exception quotes it."""
    from written import written

    if defect:
        break_feed(monkeypatch, lambda text: len(text) > 40)
    call = written(dialect)
    properties = {
        call.key: {"type": "string", "description": SENTINEL},
        f"{SENTINEL}_unique": {"type": "array", "uniqueItems": True},  # no grammar says that
    }
    parser = choose(f"toolglot_{dialect}", "same", tokenizer=tokenizer)
    request = request_for([tool(f"{SENTINEL}_tool", properties)], tool_choice="required")
    texts = (
        call.call(f"{SENTINEL}_tool", SENTINEL),
        call.call(f"{SENTINEL}_undeclared", SENTINEL) + SENTINEL,
        call.bare(f"{SENTINEL}_tool", f"{{[{SENTINEL}"),
        call.call(f"{SENTINEL}_tool", SENTINEL)[:-8] + SENTINEL,
        call.call(f"{SENTINEL} tool", SENTINEL) * 2,
    )
    for text in texts:
        joined(stream(parser(request), [text[at : at + 5] for at in range(0, len(text), 5)]))
        complete(parser(request), text)
    assert log.records or not defect
    assert SENTINEL not in log.text
