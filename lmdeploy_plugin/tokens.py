"""Counting the reasoning tokens of a response, which LMDeploy asks a response parser for."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from toolglot.core.spec import Dialect

__all__ = ["ReasoningCounter"]


def _tags(dialect: Dialect) -> tuple[str, str] | None:
    """What opens reasoning and what ends it."""
    if dialect.reasoning is not None:
        return dialect.reasoning.open, dialect.reasoning.close
    if dialect.messages is not None:
        end = re.match(r"<\|.*?\|>", dialect.messages.turn)
        return dialect.messages.reasoning, end.group() if end is not None else dialect.messages.turn
    return None


class ReasoningCounter:
    """Counts the tokens between the reasoning tags, calls among them included. A tag may be several tokens."""

    def __init__(self, dialect: Dialect, tokenizer: Any, inside: bool) -> None:
        tags = _tags(dialect)
        assert tags is not None
        self._open, self._close = (_encoded(tokenizer, tag) for tag in tags)
        self._inside = inside
        self._recent: deque[int] = deque(maxlen=max(len(self._open), len(self._close)))
        self.count = 0

    def feed(self, ids: Iterable[int]) -> None:
        """Account for the tokens of one engine step."""
        recent = self._recent
        for number in ids:
            recent.append(number)
            if number == self._close[-1] and self._ends_with(self._close):
                self.count -= (len(self._close) - 1) * self._inside
                self._inside = False
            elif number == self._open[-1] and self._ends_with(self._open):
                self.count -= (len(self._open) - 1) * self._inside
                self._inside = True
            else:
                self.count += self._inside

    def _ends_with(self, tag: Sequence[int]) -> bool:
        return len(tag) == 1 or list(self._recent)[-len(tag) :] == list(tag)


@lru_cache(maxsize=64)
def _encoded(tokenizer: Any, tag: str) -> tuple[int, ...]:
    number = tokenizer.get_vocab().get(tag)
    return (number,) if number is not None else tuple(tokenizer.encode(tag, add_special_tokens=False))
