"""Where generation begins: what the prompt says about reasoning.

The end of the prompt decides, the text behind the last turn marker: it has opened a reasoning block, or closed
one, or left it to the model. Earlier turns do not count, whatever tags they hold. Where vLLM does not show the
prompt to a parser (before 0.33 without streaming in some cases), the tokenizer's own chat template is asked
what it writes there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from toolglot.core import prompt_opens_reasoning
from toolglot.core.spec import Dialect, Sink
from toolglot.vllm_plugin.tokens import remembered, special_tokens, spellings

__all__ = ["Prompt", "Thinking", "has_reasoning"]

FIRST_TAIL = 64
LONGEST_TAIL = 4096
ROLES = ("assistant", "model", "ai")


class Thinking(Enum):
    """How reasoning stands where generation begins."""

    OPEN = "open"  # the prompt ends inside a reasoning block
    CLOSED = "closed"  # the prompt has closed it, or the answer has begun
    FREE = "free"  # the model may open one


def has_reasoning(dialect: Dialect) -> bool:
    """Whether the dialect has a reasoning channel."""
    return dialect.reasoning is not None or any(region.sink is Sink.REASONING for region in dialect.regions)


def thinking_at(dialect: Dialect, tail: str) -> Thinking:
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
    markers = spellings(dialect, True)
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


class Prompt:
    """What is known about the prompt of one request."""

    def __init__(self, dialect: Dialect, tokenizer: Any, template_arguments: Mapping[str, Any] | None) -> None:
        self._dialect = dialect
        self._tokenizer = tokenizer
        self._arguments = dict(template_arguments or {})
        self._told: Thinking | None = None

    def tell(self, ids: Sequence[int]) -> None:
        """The prompt itself, as vLLM has it."""
        self._told = self.of_ids(ids)

    @property
    def thinking(self) -> Thinking:
        """How reasoning stands where generation begins, by the best evidence there is."""
        return self._told or self._of_template() or self._of_arguments()

    def of_ids(self, ids: Sequence[int]) -> Thinking:
        """How reasoning stands behind these token ids. Only as many are decoded as the last turn needs."""
        size = min(FIRST_TAIL, len(ids))
        while size:
            text = self._tokenizer.decode(list(ids[-size:]), skip_special_tokens=False)
            tail = tail_of(self._dialect, self._tokenizer, text)
            if tail is not None or size == len(ids) or size >= LONGEST_TAIL:
                if tail is None:
                    return thinking_without_turn(self._dialect, text)
                return thinking_at(self._dialect, tail)
            size = min(4 * size, len(ids))
        return Thinking.FREE

    def switched_off(self) -> bool:
        """Whether the request turned thinking off in so many words."""
        return self._argument() is False

    def _argument(self) -> Any:
        return next((self._arguments[name] for name in self._dialect.start.kwargs if name in self._arguments), None)

    def _of_arguments(self) -> Thinking:
        value = self._argument()
        return Thinking.FREE if value is None else Thinking.OPEN if value else Thinking.CLOSED

    def _of_template(self) -> Thinking | None:
        """What the tokenizer's chat template leaves at the end of a prompt; None when it cannot be asked."""
        if self._tokenizer is None or not getattr(self._tokenizer, "chat_template", None):
            return None
        known = remembered(self._tokenizer)
        key = ("template", self._dialect.name, json.dumps(self._arguments, sort_keys=True, default=str))
        if key not in known:
            if len(known) >= 256:
                known.clear()
            known[key] = self._render()
        found: Thinking | None = known[key]
        return found

    def _render(self) -> Thinking | None:
        arguments = {**self._arguments, "add_generation_prompt": True, "tokenize": False}
        try:
            text = self._tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], **arguments)
        except Exception:  # a template may refuse anything
            return None
        tail = tail_of(self._dialect, self._tokenizer, text)
        return None if tail is None else thinking_at(self._dialect, tail)
