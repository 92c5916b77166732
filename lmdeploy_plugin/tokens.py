"""What a tokenizer knows about a dialect's markers: special tokens, and the reasoning tokens of a response.

LMDeploy removes special tokens from the text. Where a dialect's markers are special it must not, and then all the
others stay in the text as well. They are taken out here, by their ids, so that the same text spelled by ordinary
tokens stays.
"""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from toolglot.core.spec import Dialect

__all__ = ["ReasoningCounter", "StrayFilter", "is_special", "missing_markers", "special_tokens", "spellings", "strays"]

_special: WeakKeyDictionary[Any, dict[int, str]] = WeakKeyDictionary()


def _texts(value: Any) -> Iterable[str]:
    """All strings in a dialect's data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name))


@lru_cache(maxsize=256)
def spellings(dialect: Dialect, calls: bool = True) -> tuple[str, ...]:
    """The markers' texts; without ``calls`` those only that separate reasoning from content."""
    if not calls and dialect.messages is None:
        return tuple(_texts(dialect.reasoning))
    parts = (dialect.openers, dialect.regions, dialect.reasoning, dialect.messages)
    return tuple(dict.fromkeys(text for text in _texts(parts) if text))


def special_tokens(tokenizer: Any) -> dict[int, str]:
    """Id -> text of the tokens that a detokenizer leaves out."""
    if tokenizer is None:
        return {}
    found = _special.get(tokenizer)
    if found is None:
        added = getattr(tokenizer, "added_tokens_decoder", None) or {}
        found = {number: str(token) for number, token in added.items() if getattr(token, "special", False)}
        texts = getattr(tokenizer, "all_special_tokens", ())
        found.update(zip(getattr(tokenizer, "all_special_ids", ()), map(str, texts), strict=False))
        _special[tokenizer] = found
    return found


def _is_marker(token: str, dialect: Dialect, calls: bool) -> bool:
    return any(token in text for text in spellings(dialect, calls))


def is_special(tokenizer: Any, dialect: Dialect, calls: bool) -> bool:
    """Whether LMDeploy would remove markers of the dialect from the text."""
    if tokenizer is None:
        return dialect.keep_special and (calls or dialect.messages is not None)
    return any(_is_marker(token, dialect, calls) for token in special_tokens(tokenizer).values())


def strays(tokenizer: Any, dialect: Dialect, calls: bool) -> dict[int, str]:
    """Id -> text of the special tokens that are no markers of the dialect."""
    special = special_tokens(tokenizer)
    return {number: text for number, text in special.items() if not _is_marker(text, dialect, calls)}


def missing_markers(tokenizer: Any, dialect: Dialect) -> list[str]:
    """Markers that can only be single tokens and that the tokenizer does not have.

    A dialect whose opener may also be ordinary text needs no token.
    """
    markers = [marker for edge in dialect.openers for marker in edge.on]
    if not dialect.keep_special or not all(marker.consume for marker in markers):
        return []
    texts = [marker.text for marker in markers]
    if dialect.messages is not None:
        texts = [marker.text for region in dialect.regions for edge in region.edges for marker in edge.on]
    vocabulary = tokenizer.get_vocab()
    tokens = dict.fromkeys(re.match(r"<\|.*?\|>|.*", text, re.DOTALL).group() for text in texts)  # type: ignore[union-attr]
    return [token for token in tokens if token not in vocabulary]


class StrayFilter:
    """Takes stray special tokens out of a stream. The text lags behind the ids, so they are awaited in order."""

    def __init__(self, stray: Mapping[int, str]) -> None:
        self._stray = stray
        self._due: deque[str] = deque()
        self._held = ""
        self.removed = 0

    def feed(self, text: str, ids: Sequence[int]) -> str:
        """The text of one engine step without the tokens that are none of the dialect's."""
        stray = self._stray
        if not stray.keys().isdisjoint(ids):
            self._due.extend(stray[number] for number in ids if number in stray)
        if not self._due:
            return text
        text = self._held + text
        self._held = ""
        out = []
        while self._due:
            token = self._due[0]
            before, found, after = text.partition(token)
            if not found:
                keep = next((n for n in range(len(token) - 1, 0, -1) if text.endswith(token[:n])), 0)
                self._held = text[len(text) - keep :]
                out.append(text[: len(text) - keep])
                return "".join(out)
            self.removed += 1
            self._due.popleft()
            out.append(before)
            text = after
        out.append(text)
        return "".join(out)

    def finish(self) -> str:
        """What was held back: the beginning of a token that did not come."""
        held, self._held = self._held, ""
        return held


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
