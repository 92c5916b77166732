"""DeepSeek's own prompt encoders, which vLLM brings along, write the calls; the core reads them back."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest

from toolglot.core import assemble, get_dialect
from toolglot.core.response import ResponseParser, prompt_opens_reasoning

ENCODERS = {
    "deepseek_v32": "vllm.tokenizers.deepseek_v32_encoding",
    "deepseek_v4": "vllm.tokenizers.deepseek_v4_encoding",
    "deepseek_v41": "vllm.tokenizers.deepseek_v41_encoding",
}
STRINGS = ["", " ", "\n", " a\n", "null", "7", '{"a": 1}', 'a "q" \\ \t é 東京 😀', "<b>&amp;</b>", "</｜DSML｜x>"]
CALLS: list[list[tuple[str, dict[str, Any]]]] = [
    [("ping", {})],
    [("get_weather", {"city": "Rome", "days": 3}), ("ping", {}), ("get_weather", {"city": "Kyiv"})],
    [("book", {"title": "007", "vip": True, "price": 1.5, "tags": ["[", "}"], "opts": {"name": "x"}, "note": None})],
    [("f", {f"key {at}": text for at, text in enumerate(STRINGS)})],
    [("g", {"zero": 0, "big": 10**30, "tiny": -1e-9, "deep": [[[{"a": [None, True]}]]], "empty": {}})],
]
MODES = [("chat", "", ""), ("chat", "", "On it."), ("thinking", "Let me\n\nsee.", ""), ("thinking", "Hm.", "On it.\n")]


def rendered(dialect: str, mode: str, reasoning: str, content: str, calls: list[Any]) -> tuple[str, str]:
    """The prompt, and the completion that the encoder would have it followed by."""
    encoder = importlib.import_module(ENCODERS[dialect])
    question = [{"role": "user", "content": "Question?"}]
    functions = [
        {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]
    answer = {"role": "assistant", "content": content, "tool_calls": functions}
    answer["reasoning_content" if dialect == "deepseek_v41" else "reasoning"] = reasoning
    prompt = encoder.encode_messages(question, mode)
    whole = encoder.encode_messages([*question, answer], mode)
    assert whole.startswith(prompt)
    stop = get_dialect(dialect).stops[0]
    assert whole.endswith(stop)
    return prompt, whole[len(prompt) : -len(stop)]


@pytest.mark.parametrize("calls", CALLS, ids=["none", "three", "types", "strings", "numbers"])
@pytest.mark.parametrize(("mode", "reasoning", "content"), MODES)
@pytest.mark.parametrize("dialect", sorted(ENCODERS))
def test_read_back(dialect: str, mode: str, reasoning: str, content: str, calls: list[Any]) -> None:
    prompt, text = rendered(dialect, mode, reasoning, content, calls)
    opens = prompt_opens_reasoning(dialect, prompt)
    assert opens == (mode == "thinking")
    for size in (1, 7, len(text)):
        parser = ResponseParser(dialect, starts_in_reasoning=opens)
        deltas = [delta for at in range(0, len(text), size) for delta in parser.feed(text[at : at + size])]
        message = assemble([*deltas, *parser.finish("stop")])
        assert message.reasoning == (reasoning or None)
        assert message.content == (content or None)
        assert [(call.name, json.loads(call.arguments)) for call in message.tool_calls] == calls
        assert all(call.complete for call in message.tool_calls)
        assert not parser.anomalies
