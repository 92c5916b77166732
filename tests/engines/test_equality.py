"""A model writes the same in every engine, so a client gets the same: calls, content, reasoning, also ids that the
model wrote. Every corpus line goes through the parser objects that vLLM builds and those that LMDeploy builds, under
the same splits. The exceptions are rows of the tables in docs/vllm.md and docs/lmdeploy.md, and are looked up there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import driving
import lmdeploy_driving
import pytest
from engine_cases import chunkings, corpus

from toolglot.core import get_dialect, list_dialects

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
GENERATED = "chatcmpl-tool-"
# Where the two differ: the document, and the row that says so.
BLANKS = ("vllm.md", "Without streaming, content of nothing but blanks becomes null beside calls or dropped text")
CHANNELS = ("lmdeploy.md", "`gpt_oss` without a reasoning parser: the analysis channel is reasoning")


def test_the_exceptions_are_in_the_tables() -> None:
    for document, row in (BLANKS, CHANNELS):
        assert f"| {row}" in (DOCS / document).read_text(encoding="utf-8")


def ids(messages: Iterable[Any]) -> list[str]:
    """The ids of the calls; those that an engine makes up are all the same."""
    found = [call.id for message in messages for call in message.tool_calls or () if call.id]
    return [GENERATED if identity.startswith(GENERATED) else identity for identity in found]


@pytest.mark.parametrize("dialect", list_dialects())
def test_equality(dialect: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    for line in corpus(dialect):
        first = driving.ask(dialect, line, tokenizer)
        second = lmdeploy_driving.ask(dialect, line, tokenizer)
        if first is None or second is None:
            split = get_dialect(dialect).messages is not None and line["options"].get("reasoning") is False
            assert split or (first is None and second is None), line["id"]  # CHANNELS, or refused by both
            continue
        monkeypatch.setattr("toolglot.vllm_plugin.response.current", lambda first=first: first.settings)
        monkeypatch.setattr(
            "toolglot.lmdeploy_plugin.response_parser.current", lambda second=second: second.settings
        )
        compare(dialect, line, first, second)
        count += 1
    assert count >= 10


def compare(dialect: str, line: dict[str, Any], first: driving.Asked, second: lmdeploy_driving.Asked) -> None:
    """One line: streaming in many splits, and not streaming."""
    for at, chunks in enumerate(chunkings(line["raw"], line["id"], 6)):
        alone = at % 2 == 0
        parser = driving.parser_for(dialect, first.request.tools, **first.options)
        ones = driving.stream(parser, chunks, first.request, prompt=first.prompt, end_alone=alone)
        emitted = lmdeploy_driving.stream(second.parser(second.request), chunks, end_alone=alone)
        one, other = driving.joined(ones), lmdeploy_driving.joined(emitted)
        assert (one.content, one.reasoning, one.calls) == (other.content, other.reasoning, other.calls), line["id"]
        assert ids(ones) == ids(message for message, _ in emitted), line["id"]
    one = driving.parse(dialect, line["raw"], first.request, first.prompt, **first.options)
    other = lmdeploy_driving.complete(second.parser(second.request), line["raw"])
    if one.content is None and (other.calls or other.content != line["raw"]) and not (other.content or "").strip():
        other = replace(other, content=None)  # BLANKS
    assert (one.content, one.reasoning, one.calls) == (other.content, other.reasoning, other.calls), line["id"]
