"""Every corpus line through LMDeploy's own ResponseParser gives what the core gives, in every split and at once.

What a line asks of the core is asked of LMDeploy in its own way: reasoning by the reasoning parser, its start by the
chat template, settings by environment variables, earlier calls by the conversation.
"""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import Result, chunkings, corpus
from lmdeploy_driving import ask, complete, joined, stream

from toolglot import core
from toolglot.core import list_dialects


@pytest.mark.parametrize("dialect", list_dialects())
def test_corpus(dialect: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    for line in corpus(dialect):
        asked = ask(dialect, line, tokenizer)
        if asked is None:
            continue  # refused, or not to be had
        monkeypatch.setattr("toolglot.lmdeploy_plugin.response_parser.current", lambda asked=asked: asked.settings)
        wanted = core.parse(line["raw"], dialect, asked.tools, **line.get("options", {}))
        calls = [(call.name, call.arguments) for call in wanted.tool_calls]
        check(asked.parser, line, asked.request, Result(wanted.content, wanted.reasoning, calls))
        count += 1
    assert count >= 10


def check(parser: Any, line: dict[str, Any], request: Any, expected: Result) -> None:
    """One line, streaming and not; the end comes alone or with the last chunk."""
    for at, chunks in enumerate(chunkings(line["raw"], line["id"])):
        emitted = stream(parser(request), chunks, end_alone=at % 2 == 0)
        assert joined(emitted) == expected, (line["id"], chunks)
    assert complete(parser(request), line["raw"]) == expected, line["id"]
