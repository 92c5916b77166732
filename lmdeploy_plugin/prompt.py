"""Where generation begins: what the prompt leaves open about reasoning.

LMDeploy builds a response parser before the prompt. What the prompt will end with is told by the tokenizer's chat
template, asked with the request's own template arguments; by the last message when the model is to continue it; by
the ids when the request brings its prompt as ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

from toolglot.core import prompt_opens_reasoning
from toolglot.core.spec import Dialect, Sink
from toolglot.lmdeploy_plugin.tokens import special_tokens, spellings

__all__ = ["Thinking", "has_reasoning", "thinking_of_request", "thinking_of_template"]

TAIL = 1024  # tokens of a prompt given as ids that are looked at
ROLES = ("assistant", "model", "ai")
_templates: WeakKeyDictionary[Any, dict[tuple[str, str], Thinking | None]] = WeakKeyDictionary()


class Thinking(Enum):
    """How reasoning stands where generation begins."""

    OPEN = "open"  # the prompt ends inside a reasoning block
    CLOSED = "closed"  # the prompt has closed it, or the answer has begun
    FREE = "free"  # the model may open one


def has_reasoning(dialect: Dialect) -> bool:
    """Whether the dialect has a reasoning channel."""
    return dialect.reasoning is not None or any(region.sink is Sink.REASONING for region in dialect.regions)


def thinking_of_request(dialect: Dialect, tokenizer: Any, request: Any, arguments: Mapping[str, Any]) -> Thinking:
    """How reasoning stands, by the best evidence there is."""
    messages = request.messages
    if not messages and request.input_ids and tokenizer is not None:
        return _of_tail(dialect, tokenizer, tokenizer.decode(request.input_ids[-TAIL:], skip_special_tokens=False))
    if isinstance(messages, list) and messages and messages[-1].get("role") == "assistant":
        content = messages[-1].get("content")  # the model goes on from here
        return _of_turn(dialect, content if isinstance(content, str) else "")
    return thinking_of_template(dialect, tokenizer, arguments)


def thinking_of_template(dialect: Dialect, tokenizer: Any, arguments: Mapping[str, Any]) -> Thinking:
    """What the chat template leaves at the end of a prompt; where there is none, what the arguments say."""
    if tokenizer is not None and getattr(tokenizer, "chat_template", None):
        known = _templates.setdefault(tokenizer, {})
        key = (dialect.name, json.dumps(dict(arguments), sort_keys=True, default=str))
        if key not in known:
            if len(known) >= 256:
                known.clear()
            known[key] = _render(dialect, tokenizer, arguments)
        found = known[key]
        if found is not None:
            return found
    value = next((arguments[name] for name in dialect.start.kwargs if name in arguments), None)
    return Thinking.FREE if value is None else Thinking.OPEN if value else Thinking.CLOSED


def _render(dialect: Dialect, tokenizer: Any, arguments: Mapping[str, Any]) -> Thinking | None:
    options = {**arguments, "add_generation_prompt": True, "tokenize": False}
    try:
        text = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], **options)
    except Exception:  # a template may refuse anything
        return None
    return _of_tail(dialect, tokenizer, text)


def _of_tail(dialect: Dialect, tokenizer: Any, text: str) -> Thinking:
    """The text behind the last turn marker decides: earlier turns do not count, whatever tags they hold."""
    turn = dialect.start.turn
    if turn and turn in text:
        return _of_turn(dialect, text.rpartition(turn)[2])
    markers = spellings(dialect)
    ends = [
        text.rfind(token) + len(token)
        for token in special_tokens(tokenizer).values()
        if token in text and not any(token in marker for marker in markers)
    ]
    if ends:
        return _of_turn(dialect, text[max(ends) :])
    tags = dialect.reasoning  # no turn marker at all: only a tag at the very end says something
    text = text.rstrip()
    if tags is None or not text.endswith((tags.open, tags.close)):
        return Thinking.FREE
    return Thinking.OPEN if text.endswith(tags.open) else Thinking.CLOSED


def _of_turn(dialect: Dialect, tail: str) -> Thinking:
    """How reasoning stands behind ``tail``, the text of the turn so far."""
    if prompt_opens_reasoning(dialect, tail):
        return Thinking.OPEN
    for role in ROLES:
        tail = tail.removeprefix(role)
    return Thinking.CLOSED if tail.strip() else Thinking.FREE
