"""Driving vLLM's own Parser objects, and adding up what comes out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from engine_cases import FIELDS, Result, taken
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager

from toolglot.core import get_dialect
from toolglot.core.serving.prompt import has_reasoning
from toolglot.core.serving.settings import Settings
from toolglot.core.spec import Dialect

# dialect -> (text of a response, its content): text, a call, text, two calls (the second without arguments).
CALLS = [("get_weather", {"city": "Rome, <b>", "days": 3}), ("ping", {})]
RESPONSES: dict[str, tuple[str, str | None]] = {
    "hermes": (
        "Let me see.\n<tool_call>\n"
        '{"name": "get_weather", "arguments": {"city": "Rome, <b>", "days": 3}}\n</tool_call>'
        ' And <this>.\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
        "Let me see. And <this>.",
    ),
    "qwen3_coder": (
        "Let me see.\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome, <b>\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
        " And <this>.\n\n<tool_call>\n<function=ping>\n</function>\n</tool_call>",
        "Let me see. And <this>.",
    ),
    "deepseek_v31": (
        "Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        '{"city": "Rome, <b>", "days": 3}<｜tool▁call▁end｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "Let me see.",
    ),
    "kimi_k2": (
        "Let me see.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"city": "Rome, <b>", "days": 3}<|tool_call_end|>'
        "<|tool_call_begin|>functions.ping:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>",
        "Let me see.",
    ),
    "llama4_pythonic": ("[get_weather(city='Rome, <b>', days=3), ping()]", None),
    "mistral": (
        'Let me see.[TOOL_CALLS]get_weather[ARGS]{"city": "Rome, <b>", "days": 3}[TOOL_CALLS]ping[ARGS]{}',
        "Let me see.",
    ),
}


def parser_for(
    dialect: str,
    tools: list[Any] | None,
    *,
    reasoning: str | None = None,
    tokenizer: Any = None,
    **template_arguments: Any,
) -> Any:
    """What vLLM builds for `--enable-auto-tool-choice --tool-call-parser toolglot_<dialect>`.

    ``reasoning`` is the name of the reasoning parser; "same" is ours of the same dialect.
    """
    if reasoning == "same":
        reasoning = f"toolglot_{dialect}" if has_reasoning(get_dialect(dialect)) else None
    parser_class = ParserManager.get_parser(
        tool_parser_name=f"toolglot_{dialect}",
        reasoning_parser_name=reasoning,
        enable_auto_tools=True,
        model_name="any",
    )
    assert parser_class is not None
    return parser_class(tokenizer, tools, chat_template_kwargs=template_arguments)


def request_for(tools: list[dict[str, Any]] | None, **fields: Any) -> ChatCompletionRequest:
    """A chat-completions request."""
    body: dict[str, Any] = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], **fields}
    if tools:
        body["tools"] = tools
    return ChatCompletionRequest.model_validate(body)


def parse(dialect: str, text: str, request: Any, prompt: list[int] | None = None, **options: Any) -> Result:
    """The non-streaming path. vLLM shows the prompt by asking whether reasoning is over in it."""
    parser = parser_for(dialect, request.tools, **options)
    if prompt is not None and parser.reasoning_parser is not None:
        parser.is_reasoning_end(prompt)
    reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True)
    return Result(content, reasoning, [(call.name, call.arguments) for call in calls or []])


def stream(
    parser: Any, chunks: Iterable[str], request: Any, *, end_alone: bool = True, prompt: list[int] | None = None
) -> list[Any]:
    """The streaming path: the messages of a response. Its end comes with the last chunk, or alone."""
    steps = [*chunks, ""] if end_alone else list(chunks)
    messages = []
    for at, chunk in enumerate(steps):
        last = at == len(steps) - 1
        message = parser.parse_delta(chunk, [1], request, prompt_token_ids=prompt or [1], finished=last)
        if message is not None:
            messages.append(message)
    return messages


def joined(messages: Iterable[Any]) -> Result:
    """Add up messages as the official client does, checking the form of the call deltas on the way."""
    texts: dict[str, str] = {"content": "", "reasoning": ""}
    names: list[str] = []
    arguments: list[str] = []
    for message in messages:
        texts["content"] += message.content or ""
        texts["reasoning"] += message.reasoning or ""
        for call in message.tool_calls:
            if call.index == len(names):  # the first delta of a call: identity
                assert call.id and call.type == "function" and call.function.name, call
                names.append(call.function.name)
                arguments.append("")
            else:
                assert call.index == len(names) - 1, "calls are sequential"
                assert call.id is None and call.type is None and call.function.name is None, call
            assert call.function.arguments is not None
            arguments[call.index] += call.function.arguments
    return Result(texts["content"] or None, texts["reasoning"] or None, list(zip(names, arguments, strict=True)))


def check_tails(messages: list[Any]) -> None:
    """But for the last message, the end of a call that was open before never comes together with text."""
    for message in messages[:-1]:
        if message.content or message.reasoning:
            assert all(call.function.name for call in message.tool_calls), message


def splits(text: str, seed: int = 0) -> Iterator[list[str]]:
    """Ways to cut a text: not at all, at every character, in two everywhere, at random."""
    yield [text]
    yield list(text)
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]
    dice = random.Random(seed)
    for _ in range(40):
        cuts = sorted(dice.sample(range(1, len(text)), min(len(text) - 1, dice.randint(2, 12))))
        yield [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


# A corpus line, asked of vLLM in its own way.


def prompt_of(dialect: Dialect, opens: bool) -> str:
    """The end of a prompt, behind an earlier turn that has thought and called."""
    reasoning = dialect.reasoning
    earlier = f"{reasoning.open}Earlier{reasoning.close}" if reasoning is not None else ""
    opener = reasoning.open if reasoning is not None else dialect.messages.reasoning if dialect.messages else ""
    opened = opener if opens else ""
    return f"Hello{dialect.start.turn}{earlier}Yes.<|im_end|>And now?{dialect.start.turn}{opened}"


def history(calls: int) -> list[dict[str, Any]]:
    """A conversation with so many calls in it."""
    call = {"id": "x", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    past = [{"role": "assistant", "tool_calls": [call] * calls}] if calls else []
    return [{"role": "user", "content": "Hello"}, *past]


@dataclass
class Asked:
    """A corpus line as a request to vLLM, with the prompt, the options of `parser_for` and the process's settings."""

    tools: list[Any]
    request: Any
    prompt: list[int]
    options: dict[str, Any]
    settings: Settings


def ask(dialect: str, line: dict[str, Any], tokenizer: Any) -> Asked | None:
    """What vLLM is asked for a corpus line; None where it would refuse."""
    options = dict(line.get("options", {}))
    tools = line["tools"] or []  # vLLM knows the tools, or there are none
    if not tools and options.get("tool_choice") not in (None, "none"):
        return None
    fields, read = taken(options, tools)
    request = request_for(tools, **fields, messages=history(options.pop("previous_calls", 0)))
    spec = get_dialect(dialect)
    text = prompt_of(spec, options.pop("starts_in_reasoning", spec.start.region == "reasoning"))
    reasoning = "same" if options.pop("reasoning", True) else None
    assert not set(options) - FIELDS, options
    prompt = tokenizer.encode(text, add_special_tokens=False)
    return Asked(tools, request, prompt, {"reasoning": reasoning, "tokenizer": tokenizer}, read)
