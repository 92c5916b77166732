"""Every corpus line through vLLM's own Parser gives what the core gives, in every split and without streaming.

What a line asks of the core is asked of vLLM in its own way: reasoning by our reasoning parser beside the tool
parser, its start by the prompt, settings by environment variables, earlier calls by the conversation.
"""

from __future__ import annotations

from typing import Any

import pytest
from driving import ask, check_tails, joined, parse, parser_for, stream
from engine_cases import Result, chunkings, corpus

from toolglot import core
from toolglot.core import list_dialects


@pytest.mark.parametrize("dialect", list_dialects())
def test_corpus(dialect: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    for line in corpus(dialect):
        asked = ask(dialect, line, tokenizer)
        if asked is None:
            continue  # refused
        monkeypatch.setattr("toolglot.vllm_plugin.response.current", lambda asked=asked: asked.settings)
        wanted = core.parse(line["raw"], dialect, asked.tools, **line.get("options", {}))
        check(dialect, line, asked.request, asked.prompt, wanted, asked.options)
        count += 1
    assert count >= 10


def check(
    dialect: str, line: dict[str, Any], request: Any, prompt: list[int], wanted: Any, options: dict[str, Any]
) -> None:
    """One line, streaming and not."""
    calls = [(call.name, call.arguments) for call in wanted.tool_calls]
    expected = Result(wanted.content, wanted.reasoning, calls)
    for chunks in chunkings(line["raw"], line["id"]):
        messages = stream(parser_for(dialect, request.tools, **options), chunks, request, prompt=prompt)
        assert joined(messages) == expected, (line["id"], chunks)
        check_tails(messages)
    if calls or expected.content != line["raw"]:
        expected.content = expected.content if (expected.content or "").strip() else None  # vLLM's own rule
    assert parse(dialect, line["raw"], request, prompt, **options) == expected, line["id"]
