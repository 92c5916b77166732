"""Where generation begins: what the prompt says about reasoning.

The end of the prompt decides, the text behind the last turn marker: it has opened a reasoning block, or closed
one, or left it to the model. Earlier turns do not count, whatever tags they hold. Where the prompt itself is not
there to be read, the tokenizer's own chat template is asked what it writes there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from ..response import prompt_opens_reasoning
from ..spec import Dialect, Sink
from .tokens import remembered, special_tokens, spellings

__all__ = [
    "Thinking",
    "has_reasoning",
    "tail_of",
    "template_argument",
    "thinking_of_arguments",
    "thinking_of_template",
    "thinking_of_text",
    "thinking_of_turn",
    "thinking_without_turn",
]

ROLES = ("assistant", "model", "ai")
OFF = frozenset({"", "none", "no_think", "off", "disabled", "false", "0"})  # of an argument that names an effort


class Thinking(Enum):
    """How reasoning stands where generation begins."""

    OPEN = "open"  # the prompt ends inside a reasoning block
    CLOSED = "closed"  # the prompt has closed it, or the answer has begun
    FREE = "free"  # the model may open one


def has_reasoning(dialect: Dialect) -> bool:
    """Whether the dialect has a reasoning channel."""
    return dialect.reasoning is not None or any(region.sink is Sink.REASONING for region in dialect.regions)


def thinking_of_turn(dialect: Dialect, tail: str) -> Thinking:
    """How reasoning stands behind ``tail``, the text of the turn so far."""
    if prompt_opens_reasoning(dialect, tail):
        return Thinking.OPEN
    for role in ROLES:
        tail = tail.removeprefix(role)
    return Thinking.CLOSED if tail.strip() else Thinking.FREE


def tail_of(dialect: Dialect, tokenizer: Any, text: str) -> str | None:
    """The text behind the last turn marker; None when there is none in ``text``."""
    turn = dialect.start.turn
    if turn and turn in text:
        return text.rpartition(turn)[2]
    markers = spellings(dialect)
    ends = [
        text.rfind(token) + len(token)
        for token in special_tokens(tokenizer).values()
        if token in text and not any(token in marker for marker in markers)
    ]
    return text[max(ends) :] if ends else None


def thinking_without_turn(dialect: Dialect, text: str) -> Thinking:
    """The same for a prompt that has no turn marker: only a tag at its very end says something."""
    tags = dialect.reasoning
    if tags is None:
        return Thinking.FREE
    text = text.rstrip()
    return (
        Thinking.OPEN if text.endswith(tags.open)
        else Thinking.CLOSED if text.endswith(tags.close)
        else Thinking.FREE
    )  # fmt: skip


def thinking_of_text(dialect: Dialect, tokenizer: Any, text: str) -> Thinking:
    """How reasoning stands behind ``text``, the prompt or its end."""
    tail = tail_of(dialect, tokenizer, text)
    return thinking_without_turn(dialect, text) if tail is None else thinking_of_turn(dialect, tail)


def template_argument(dialect: Dialect, arguments: Mapping[str, Any]) -> Any:
    """The template argument that switches the dialect's reasoning; None where it is not given."""
    return next((arguments[name] for name in dialect.start.kwargs if name in arguments), None)


def thinking_of_arguments(dialect: Dialect, arguments: Mapping[str, Any]) -> Thinking:
    """What the template's arguments say by themselves, and without them what the template does."""
    value = template_argument(dialect, arguments)
    if value is None:
        return Thinking.OPEN if dialect.start.region == "reasoning" else Thinking.FREE
    return Thinking.CLOSED if str(value or "").lower() in OFF else Thinking.OPEN


def thinking_of_template(
    dialect: Dialect, tokenizer: Any, arguments: Mapping[str, Any], *, needs_turn: bool
) -> Thinking | None:
    """What the tokenizer's chat template leaves at the end of a prompt; None when it cannot be asked.

    With ``needs_turn`` a template that marks no turns says nothing either.
    """
    if tokenizer is None or not getattr(tokenizer, "chat_template", None):
        return None
    known = remembered(tokenizer)
    told = json.dumps(dict(arguments), sort_keys=True, default=str) if arguments else ""
    key = ("template", dialect.name, needs_turn, told)
    if key not in known:
        if len(known) >= 256:
            known.clear()
        known[key] = _render(dialect, tokenizer, arguments, needs_turn)
    found: Thinking | None = known[key]
    return found


def _render(dialect: Dialect, tokenizer: Any, arguments: Mapping[str, Any], needs_turn: bool) -> Thinking | None:
    options = {**arguments, "add_generation_prompt": True, "tokenize": False}
    try:
        text = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], **options)
    except Exception:  # a template may refuse anything
        return None
    if needs_turn and tail_of(dialect, tokenizer, text) is None:
        return None
    return thinking_of_text(dialect, tokenizer, text)
