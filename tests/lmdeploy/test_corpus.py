"""Every corpus line through LMDeploy's own ResponseParser gives what the core gives, in every split and at once.

What a line asks of the core is asked of LMDeploy in its own way: reasoning by the reasoning parser, its start by the
chat template, settings by environment variables, earlier calls by the conversation.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from lmdeploy_driving import Result, choose, chunkings, complete, corpus, joined, request_for, stream

from toolglot import core
from toolglot.core import get_dialect, list_dialects
from toolglot.lmdeploy_plugin import settings

# Options that become fields of the request, and those that become environment variables.
FIELDS = {"tool_choice", "parallel_tool_calls"}
VARIABLES = {"undeclared_tools", "reasoning_calls", "arguments"}
# A prompt that ends as the request says.
TEMPLATE = "{{ messages[0].content }}{{ turn }}Yes.<|im_end|>And now?<|im_start|>{{ turn }}{{ opened }}"


def history(calls: int) -> list[dict[str, Any]]:
    """A conversation with so many calls in it."""
    call = {"id": "x", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    past = [{"role": "assistant", "content": "", "tool_calls": [call] * calls}] if calls else []
    return [{"role": "user", "content": "Hello"}, *past, {"role": "user", "content": "Go on"}]


@pytest.mark.parametrize("dialect", list_dialects())
def test_corpus(dialect: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = get_dialect(dialect)
    templated = copy.copy(tokenizer)
    templated.chat_template = TEMPLATE
    count = 0
    for line in corpus(dialect):
        options = dict(line.get("options", {}))
        tools = line["tools"] or []  # LMDeploy knows the tools, or there are none
        if not tools and options.get("tool_choice") not in (None, "none"):
            continue  # refused
        if spec.messages is not None and options.get("reasoning") is False:
            continue  # LMDeploy always splits the channels of this dialect
        wanted = core.parse(line["raw"], dialect, tools, **options)
        fields = {key: options.pop(key) for key in list(options) if key in FIELDS} if tools else {}
        environment = {f"TOOLGLOT_{key}".upper(): options.pop(key) for key in list(options) if key in VARIABLES}
        read = settings.read_settings(environment)
        assert not read.problems
        monkeypatch.setattr("toolglot.lmdeploy_plugin.response_parser.settings", lambda read=read: read)
        opens = options.pop("starts_in_reasoning", spec.start.region == "reasoning")
        arguments = {"turn": spec.start.turn, "opened": spec.reasoning.open if opens and spec.reasoning else ""}
        request = request_for(
            tools,
            messages=history(options.pop("previous_calls", 0)),
            chat_template_kwargs=arguments,
            **fields,
        )
        reasoning = "same" if options.pop("reasoning", True) else None
        assert not set(options) - FIELDS, options
        parser = choose(f"toolglot_{dialect}", reasoning, tokenizer=templated)
        calls = [(call.name, call.arguments) for call in wanted.tool_calls]
        check(parser, line, request, Result(wanted.content, wanted.reasoning, calls))
        count += 1
    assert count >= 10


def check(parser: Any, line: dict[str, Any], request: Any, expected: Result) -> None:
    """One line, streaming and not; the end comes alone or with the last chunk."""
    for at, chunks in enumerate(chunkings(line["raw"], line["id"])):
        emitted = stream(parser(request), chunks, end_alone=at % 2 == 0)
        assert joined(emitted) == expected, (line["id"], chunks)
    assert complete(parser(request), line["raw"]) == expected, line["id"]
