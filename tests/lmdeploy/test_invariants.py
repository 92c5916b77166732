"""What LMDeploy's description of its parser layer asks of every parser (docs, "Parser design", section on tests): the
stream adds up to the complete result and both are what is expected, wherever the text is cut. Its own parsers hold it
at token boundaries of the tokenizers they know; ours at every boundary of every real tokenizer there is, and at every
character.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from engine_cases import PING, TOOLS, WEATHER, Result, corpus
from lmdeploy.messages import GenerationConfig
from lmdeploy.serve.core.chat_runner import ChatRunner
from lmdeploy_driving import ask, choose, complete, joined, request_for, stream
from real_tokenizers import TOKENIZERS, pieces

from toolglot import core
from toolglot.core import get_dialect, list_dialects

ROME = '{"city": "Rím 🌧", "days": 2}'


def xml(name: str, arguments: str) -> str:
    pairs = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in json.loads(arguments).items())
    return f"<tool_call>\n<function={name}>\n{pairs}</function>\n</tool_call>"


def kimi(name: str, arguments: str) -> str:
    return (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{arguments}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    )


def deepseek(name: str, arguments: str) -> str:
    return (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>"
    )


WRITE = {
    "hermes": lambda name, arguments: f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>',
    "qwen3_coder": xml,
    "kimi_k2": kimi,
    "deepseek_v31": deepseek,
}
ROMED, PINGED = ("get_weather", ROME), ("ping", "{}")


def cases(dialect: str) -> Iterator[tuple[str, str, Result]]:
    """What the description lists, as texts of one dialect."""
    write = WRITE[dialect]
    rome, ping, other = write("get_weather", ROME), write("ping", "{}"), write("nosuch", '{"a": 1}')
    keeps = get_dialect(dialect).reasoning.calls == "resume"  # type: ignore[union-attr]
    yield "text only", "Ahoj, světe. <b>", Result("Ahoj, světe. <b>")
    yield "a call", rome, Result(None, None, [ROMED])
    yield "no arguments", ping, Result(None, None, [PINGED])
    yield "text around", f"Yes.{rome}No.", Result("Yes.No.", None, [ROMED])
    yield "several calls", f"{rome}{ping}\n{rome}\n\n{ping}", Result(None, None, [ROMED, PINGED] * 2)
    yield "an unknown name between", f"{rome}{other}{ping}", Result(None, None, [ROMED, PINGED])
    yield "newlines behind the last call", f"{ping}\n\n", Result("\n\n", None, [PINGED])
    yield "thoughts, text, a call", f"<think>Hm</think>Yes.{rome}", Result("Yes.", "Hm", [ROMED])
    thought = ("c", "ab") if keeps else ("bc", "a")
    yield "a call in thoughts", f"<think>a{rome}b</think>c", Result(*thought, [ROMED])
    yield "an unknown call in thoughts", f"<think>a{other}b</think>c", Result("c", "ab")
    rest = (None, "ab") if keeps else ("b", "a")
    yield "thoughts that do not end", f"<think>a{rome}\n{ping}b", Result(*rest, [ROMED, PINGED])


def more(dialect: str) -> Iterator[tuple[str, str, Result]]:
    """What only some formats can write, and texts that end too soon."""
    if dialect == "hermes":
        first = f'<tool_call>\n{{"arguments": {ROME}, "name": "get_weather"}}\n</tool_call>'
        yield "arguments before the name", first, Result(None, None, [ROMED])
        yield "cut in a string", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rí', Result(
            None, None, [("get_weather", '{"city": "Rí')]
        )
        twice = '{"city": "a", "city": "b"}'
        yield "a key twice", WRITE[dialect]("get_weather", twice), Result(None, None, [("get_weather", twice)])
        broken = "<tool_call>\n{oops}\n</tool_call>"
        yield "no call", f"{broken}Yes.", Result(f"{broken}Yes.")
    if dialect == "qwen3_coder":
        open_ = "<tool_call>\n<function=get_weather>\n"
        yield "cut in a string", f"{open_}<parameter=city>\nRí", Result(None, None, [("get_weather", '{"city": "Rí"}')])
        yield "cut behind the name", open_, Result(None, None, [("get_weather", "{}")])
        pair = "<parameter=city>\na\n</parameter>\n"
        twice = f"{open_}{pair}{pair}</function>\n</tool_call>"
        yield "a key twice", twice, Result(None, None, [("get_weather", '{"city": "a", "city": "a"}')])
    if dialect in ("kimi_k2", "deepseek_v31"):
        text = WRITE[dialect]("get_weather", ROME)
        cut = text[: text.index("days")]
        yield "cut in the arguments", cut, Result(None, None, [("get_weather", ROME[: ROME.index("days")])])


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("dialect", WRITE)
def test_at_every_token(dialect: str, name: str, tokenizer: Any) -> None:
    """Each token a chunk; and in two chunks, at every boundary."""
    parser = choose(f"toolglot_{dialect}", "same", tokenizer=tokenizer)
    request = request_for(TOOLS)
    for title, text, expected in (*cases(dialect), *more(dialect)):
        tokens = pieces(name, text)
        assert joined(stream(parser(request), tokens)) == expected, title
        for at in range(1, len(tokens)):
            chunks = ["".join(tokens[:at]), "".join(tokens[at:])]
            assert joined(stream(parser(request), chunks)) == expected, (title, chunks)


@pytest.mark.parametrize("dialect", WRITE)
def test_at_every_character(dialect: str, tokenizer: Any) -> None:
    """The same for characters, and without streaming."""
    parser = choose(f"toolglot_{dialect}", "same", tokenizer=tokenizer)
    request = request_for(TOOLS)
    for title, text, expected in (*cases(dialect), *more(dialect)):
        assert complete(parser(request), text) == expected, title
        assert joined(stream(parser(request), text)) == expected, title
        for at in range(1, len(text)):
            chunks = [text[:at], text[at:]]
            assert joined(stream(parser(request), chunks)) == expected, (title, chunks)


@pytest.mark.parametrize("dialect", list_dialects())
def test_the_corpus_token_by_token(dialect: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in corpus(dialect):
        asked = ask(dialect, line, tokenizer)
        if asked is None:
            continue
        monkeypatch.setattr("toolglot.lmdeploy_plugin.response_parser.current", lambda asked=asked: asked.settings)
        wanted = core.parse(line["raw"], dialect, asked.tools, **line.get("options", {}))
        calls = [(call.name, call.arguments) for call in wanted.tool_calls]
        expected = Result(wanted.content, wanted.reasoning, calls)
        for name in TOKENIZERS:
            chunks = pieces(name, line["raw"])
            assert joined(stream(asked.parser(asked.request), chunks)) == expected, (line["id"], name)


def test_markers_of_several_tokens() -> None:
    """What this is about: there are such tokenizers, and those with the markers as one token."""
    assert "<tool_call>" in pieces("qwen3.6", "a<tool_call>b") and "<think>" in pieces("qwen3.6", "a<think>b")
    for name, text in (
        ("qwen2.5", "<tool_call>"),
        ("qwen3.6, markers spelled", "</think>"),
        ("qwen3.6", "</parameter>"),
        ("deepseek", "<|tool_call_begin|>"),
    ):
        assert text not in pieces(name, f"a{text}b")
    assert "<｜tool▁sep｜>" in pieces("deepseek", "a<｜tool▁sep｜>b")


# The transport: an engine step of several deltas.


def test_one_step_of_many_channels(tokenizer: Any) -> None:
    """LMDeploy's ChatRunner puts token ids, log probabilities and the finish reason on the last delta of a step."""
    parser = choose("toolglot_hermes", "same", tokenizer=tokenizer)(request_for([WEATHER, PING], return_token_ids=True))
    text = f"<think>a</think>b{WRITE['hermes']('ping', '{}')}c"
    logprobs = [{number: -0.5} for number in range(4)]

    async def steps() -> Any:
        common = {"input_token_len": 1, "cached_tokens": 0, "routed_experts": None, "cache_block_ids": None}
        for response, ids, reason in ((text, [0, 1, 2, 3], None), ("", [], "stop")):
            yield SimpleNamespace(
                response=response, token_ids=ids, finish_reason=reason, logprobs=logprobs if ids else None,
                generate_token_len=4, **common,
            )  # fmt: skip

    async def run() -> list[Any]:
        runner = ChatRunner(parser.request, parser, GenerationConfig(), None, steps(), None)

        async def close() -> None:
            pass

        runner.close = close
        return [chunk async for chunk in runner.stream()]

    *chunks, end = asyncio.run(run())
    messages = [chunk.delta_message for chunk in chunks]
    order = ["call" if m.tool_calls else "text" if m.content else "thought" for m in messages]
    assert order == ["thought", "text", "call", "text"]
    assert [chunk.token_ids for chunk in chunks] == [[], [], [], [0, 1, 2, 3]]
    assert [chunk.logprobs for chunk in chunks] == [None, None, None, logprobs]
    assert [chunk.finish_reason for chunk in (*chunks, end)] == [None] * 4 + ["tool_calls"]
