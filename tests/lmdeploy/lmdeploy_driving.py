"""Driving LMDeploy's own ResponseParser objects, and adding up what comes out."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine_cases import FIELDS, Result, taken
from lmdeploy.serve.openai.protocol import ChatCompletionRequest
from lmdeploy.serve.parsers import ResponseParserManager

from toolglot.core import get_dialect
from toolglot.core.serving.prompt import has_reasoning
from toolglot.core.serving.settings import Settings


def choose(
    tool_parser: str | None, reasoning: str | None = None, *, tokenizer: Any = None, place: str = "default"
) -> Any:
    """What `lmdeploy serve api_server --tool-call-parser ... --reasoning-parser ...` chooses: the class.

    As ``reasoning``, "same" is ours of the same dialect, where that has any.
    """
    if reasoning == "same":
        assert tool_parser is not None
        reasoning = tool_parser if has_reasoning(get_dialect(tool_parser.removeprefix("toolglot_"))) else None
    parser = ResponseParserManager.get(place)
    parser.set_parsers(reasoning_parser_name=reasoning, tool_parser_name=tool_parser, tokenizer=tokenizer)
    return parser


def request_for(tools: list[dict[str, Any]] | None, **fields: Any) -> ChatCompletionRequest:
    """A chat-completions request."""
    body: dict[str, Any] = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], **fields}
    if tools:
        body["tools"] = tools
    return ChatCompletionRequest.model_validate(body)


def stream(
    parser: Any, chunks: Iterable[str], ids: Iterable[list[int]] | None = None, *, end_alone: bool = True
) -> list[tuple[Any, bool]]:
    """The streaming path: the messages of a response. Its end comes alone, as in LMDeploy, or with the last chunk."""
    steps = [*chunks, ""] if end_alone else list(chunks)
    tokens = [*ids, []] if ids is not None else [[1]] * (len(steps) - 1) + [[]]
    found = []
    for at, (chunk, numbers) in enumerate(zip(steps, tokens, strict=True)):
        found += parser.stream_chunk(chunk, numbers, final=at == len(steps) - 1)
    return found


def joined(emitted: Iterable[tuple[Any, bool]]) -> Result:
    """Add up messages as the official client does, checking the form of the call deltas on the way."""
    texts: dict[str, str] = {"content": "", "reasoning": ""}
    names: list[str] = []
    arguments: list[str] = []
    for message, has_calls in emitted:
        assert message.role == "assistant"
        assert has_calls == bool(message.tool_calls)
        carried = [message.content is not None, message.reasoning_content is not None, bool(message.tool_calls)]
        assert sum(carried) == 1, "one channel a message"
        texts["content"] += message.content or ""
        texts["reasoning"] += message.reasoning_content or ""
        for call in message.tool_calls or ():
            if call.index == len(names):  # the first delta of a call: identity
                assert call.id and call.type == "function" and call.function.name, call
                names.append(call.function.name)
                arguments.append("")
            else:
                assert call.index == len(names) - 1, "calls are sequential"
                assert call.id is None and call.type is None and call.function.name is None, call
                assert call.function.arguments
            arguments[call.index] += call.function.arguments or ""
    return Result(texts["content"] or None, texts["reasoning"] or None, list(zip(names, arguments, strict=True)))


def complete(parser: Any, text: str, ids: list[int] | None = None) -> Result:
    """The non-streaming path."""
    content, calls, reasoning = parser.parse_complete(text, ids)
    return Result(content, reasoning, [(call.function.name, call.function.arguments) for call in calls or ()])


# A corpus line, asked of LMDeploy in its own way.

# A prompt that ends as the request says.
TEMPLATE = "{{ messages[0].content }}{{ turn }}Yes.<|im_end|>And now?<|im_start|>{{ turn }}{{ opened }}"


def history(calls: int) -> list[dict[str, Any]]:
    """A conversation with so many calls in it."""
    call = {"id": "x", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    past = [{"role": "assistant", "content": "", "tool_calls": [call] * calls}] if calls else []
    return [{"role": "user", "content": "Hello"}, *past, {"role": "user", "content": "Go on"}]


@dataclass
class Asked:
    """A corpus line as a request to LMDeploy, with the parsers chosen and the process's settings."""

    tools: list[Any]
    request: Any
    parser: Any
    settings: Settings


def ask(dialect: str, line: dict[str, Any], tokenizer: Any) -> Asked | None:
    """What LMDeploy is asked for a corpus line; None where it would refuse, or where reasoning cannot be kept."""
    spec = get_dialect(dialect)
    options = dict(line.get("options", {}))
    tools = line["tools"] or []  # LMDeploy knows the tools, or there are none
    if not tools and options.get("tool_choice") not in (None, "none"):
        return None
    if spec.messages is not None and options.get("reasoning") is False:
        return None  # LMDeploy always splits the channels of this dialect
    fields, read = taken(options, tools)
    opens = options.pop("starts_in_reasoning", spec.start.region == "reasoning")
    opener = spec.reasoning.open if spec.reasoning else spec.messages.reasoning if spec.messages else ""
    arguments = {"turn": spec.start.turn, "opened": opener if opens else ""}
    messages = history(options.pop("previous_calls", 0))
    reasoning = "same" if options.pop("reasoning", True) else None
    assert not set(options) - FIELDS, options
    templated = copy.copy(tokenizer)
    templated.chat_template = TEMPLATE
    request = request_for(tools, messages=messages, chat_template_kwargs=arguments, **fields)
    return Asked(tools, request, choose(f"toolglot_{dialect}", reasoning, tokenizer=templated), read)
