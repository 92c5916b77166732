"""Every corpus line through vLLM's own Parser gives what the core gives, in every split and without streaming.

What a line asks of the core is asked of vLLM in its own way: reasoning by our reasoning parser beside the tool
parser, its start by the prompt, settings by environment variables, earlier calls by the conversation.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from driving import Result, check_tails, corpus, joined, parse, parser_for, request_for, stream

from toolglot import core
from toolglot.core import get_dialect, list_dialects
from toolglot.core.spec import Dialect
from toolglot.vllm_plugin import settings

RANDOM_SPLITS = 20
# Options that become fields of the request, and those that become environment variables.
FIELDS = {"tool_choice", "parallel_tool_calls"}
VARIABLES = {"undeclared_tools", "reasoning_calls", "arguments"}


def chunkings(text: str, identity: str) -> list[list[str]]:
    """Whole, per character, and at random places."""
    dice = random.Random(identity)
    found = [[text], list(text)]
    for _ in range(RANDOM_SPLITS if len(text) > 2 else 0):
        cuts = sorted(dice.sample(range(1, len(text)), min(len(text) - 1, dice.randint(1, 8))))
        found.append([text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)])
    return found


def prompt_of(dialect: Dialect, opens: bool) -> str:
    """The end of a prompt, behind an earlier turn that has thought and called."""
    reasoning = dialect.reasoning
    earlier = f"{reasoning.open}Earlier{reasoning.close}" if reasoning is not None else ""
    opened = reasoning.open if opens and reasoning is not None else ""
    return f"Hello{dialect.start.turn}{earlier}Yes.<|im_end|>And now?{dialect.start.turn}{opened}"


def history(calls: int) -> list[dict[str, Any]]:
    """A conversation with so many calls in it."""
    call = {"id": "x", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    past = [{"role": "assistant", "tool_calls": [call] * calls}] if calls else []
    return [{"role": "user", "content": "Hello"}, *past]


@pytest.mark.parametrize("dialect", list_dialects())
def test_corpus(dialect: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = get_dialect(dialect)
    count = 0
    for line in corpus(dialect):
        options = dict(line.get("options", {}))
        tools = line["tools"] or []  # vLLM knows the tools, or there are none
        choice = options.get("tool_choice")
        if not tools and choice not in (None, "none"):
            continue  # refused
        wanted = core.parse(line["raw"], dialect, tools, **options)
        fields = {key: options.pop(key) for key in list(options) if key in FIELDS} if tools else {}
        environment = {f"TOOLGLOT_{key}".upper(): options.pop(key) for key in list(options) if key in VARIABLES}
        read = settings.read_settings(environment)
        assert not read.problems
        monkeypatch.setattr("toolglot.vllm_plugin.response.settings", lambda read=read: read)
        request = request_for(tools, **fields, messages=history(options.pop("previous_calls", 0)))
        opens = options.pop("starts_in_reasoning", spec.start.region == "reasoning")
        prompt = tokenizer.encode(prompt_of(spec, opens), add_special_tokens=False)
        reasoning = "same" if options.pop("reasoning", True) else None
        assert not options or "tool_choice" in options or "parallel_tool_calls" in options, options
        check(dialect, line, request, prompt, wanted, {"reasoning": reasoning, "tokenizer": tokenizer})
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
