"""Where generation begins: what is known about the prompt of one request.

Where vLLM does not show the prompt to a parser (before 0.33 without streaming in some cases), the tokenizer's own
chat template is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolglot.core.serving.prompt import (
    Thinking,
    tail_of,
    template_argument,
    thinking_of_arguments,
    thinking_of_template,
    thinking_of_turn,
    thinking_without_turn,
)
from toolglot.core.spec import Dialect

__all__ = ["Prompt"]

FIRST_TAIL = 64
LONGEST_TAIL = 4096


class Prompt:
    """What is known about the prompt of one request."""

    def __init__(self, dialect: Dialect, tokenizer: Any, template_arguments: Mapping[str, Any] | None) -> None:
        self._dialect = dialect
        self._tokenizer = tokenizer
        self._arguments = dict(template_arguments or {})
        self._told: Thinking | None = None
        self._ids: tuple[Sequence[int] | None, int] = (None, 0)  # what told it, and its length then

    def tell(self, ids: Sequence[int]) -> None:
        """The prompt itself, as vLLM has it: it says so twice before a stream."""
        said, size = self._ids
        if ids is said and len(ids) == size:
            return
        self._told = self.of_ids(ids)
        self._ids = (ids, len(ids))

    @property
    def thinking(self) -> Thinking:
        """How reasoning stands where generation begins, by the best evidence there is."""
        return (
            self._told
            or thinking_of_template(self._dialect, self._tokenizer, self._arguments, needs_turn=True)
            or thinking_of_arguments(self._dialect, self._arguments)
        )

    def of_ids(self, ids: Sequence[int]) -> Thinking:
        """How reasoning stands behind these token ids. Only as many are decoded as the last turn needs."""
        size = min(FIRST_TAIL, len(ids))
        while size:
            text = self._tokenizer.decode(list(ids[-size:]), skip_special_tokens=False)
            tail = tail_of(self._dialect, self._tokenizer, text)
            if tail is not None or size == len(ids) or size >= LONGEST_TAIL:
                if tail is None:
                    return thinking_without_turn(self._dialect, text)
                return thinking_of_turn(self._dialect, tail)
            size = min(4 * size, len(ids))
        return Thinking.FREE

    def switched_off(self) -> bool:
        """Whether the request turned thinking off in so many words."""
        return template_argument(self._dialect, self._arguments) is False
