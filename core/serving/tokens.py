"""What a tokenizer knows about a dialect's markers, and the removal of special tokens that are none of them.

An engine removes special tokens from the text. Where a dialect's markers are special it must not, and then all the
others stay in the text as well. They are taken out here, as the engine would have: by their ids where it tells
them, so that the same text spelled by ordinary tokens stays; else by their text.
"""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import ConfigurationError
from ..registry import get_dialect
from ..spec import Dialect, Goto, Variants
from ..table import leads_to_call

__all__ = [
    "StrayFilter",
    "as_spelled",
    "check_tokenizer",
    "fitted",
    "is_special",
    "missing_markers",
    "remembered",
    "special_tokens",
    "spellings",
    "stray_tokens",
    "without_stray",
]

_remembered: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def remembered(tokenizer: Any) -> dict[Any, Any]:
    """What is known about a tokenizer already; asking it costs more than a response."""
    try:
        return _remembered.setdefault(tokenizer, {})
    except TypeError:  # it cannot be a key
        return {}


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
        return tuple(_texts((dialect.reasoning, dialect.answer)))
    parts = (dialect.openers, dialect.regions, dialect.reasoning, dialect.answer, dialect.messages)
    return tuple(dict.fromkeys(text for text in _texts(parts) if text))


def special_tokens(tokenizer: Any) -> dict[int, str]:
    """Id -> text of the tokens that a detokenizer leaves out."""
    if tokenizer is None:
        return {}
    known = remembered(tokenizer)
    found: dict[int, str] | None = known.get("special")
    if found is None:
        added = getattr(tokenizer, "added_tokens_decoder", None) or {}
        found = {number: str(token) for number, token in added.items() if getattr(token, "special", False)}
        texts = getattr(tokenizer, "all_special_tokens", ())
        found.update(zip(getattr(tokenizer, "all_special_ids", ()), map(str, texts), strict=False))
        known["special"] = found
    return found


def _is_marker(token: str, dialect: Dialect, calls: bool) -> bool:
    return any(token in text for text in spellings(dialect, calls))


def is_special(tokenizer: Any, dialect: Dialect, calls: bool) -> bool:
    """Whether the engine would remove markers of the dialect from the text."""
    if tokenizer is None:
        return dialect.keep_special and (calls or dialect.messages is not None)
    known = remembered(tokenizer)
    key = ("is special", dialect.name, calls)
    if key not in known:
        known[key] = any(_is_marker(token, dialect, calls) for token in special_tokens(tokenizer).values())
    found: bool = known[key]
    return found


def stray_tokens(tokenizer: Any, dialect: Dialect, calls: bool) -> dict[int, str]:
    """Id -> text of the special tokens that are no markers of the dialect."""
    if tokenizer is None:
        return {}
    known = remembered(tokenizer)
    key = ("stray", dialect.name, calls)
    found: dict[int, str] | None = known.get(key)
    if found is None:
        special = special_tokens(tokenizer)
        found = {number: text for number, text in special.items() if not _is_marker(text, dialect, calls)}
        known[key] = found
    return found


def missing_markers(tokenizer: Any, dialect: Dialect) -> list[str]:
    """Markers that can only be single tokens and that the tokenizer does not have.

    A dialect whose opener may also be ordinary text needs no token. Tags of channels differ among checkpoints.
    """
    edges = [edge for edge in dialect.openers if not isinstance(edge.do, Goto)]
    markers = [marker for edge in edges for marker in edge.on if not marker.plain or leads_to_call(dialect, edge)]
    if not dialect.keep_special or any(marker.plain or not marker.consume for marker in markers):
        return []
    texts = [marker.text for marker in markers]
    if dialect.messages is not None:
        within = [marker for region in dialect.regions for edge in region.edges for marker in edge.on]
        texts = [marker.text for marker in within if marker.control]
    vocabulary = tokenizer.get_vocab()
    tokens = dict.fromkeys(re.match(r"<\|.*?\|>|.*", text, re.DOTALL).group() for text in texts)  # type: ignore[union-attr]
    return [token for token in tokens if token not in vocabulary]


def check_tokenizer(tokenizer: Any, dialect: Dialect) -> None:
    """Raise ConfigurationError for a tokenizer that cannot write the dialect."""
    if tokenizer is None or not hasattr(tokenizer, "get_vocab"):
        return
    missing = missing_markers(tokenizer, dialect)
    if missing:
        raise ConfigurationError(
            f"dialect {dialect.name!r} is not what this model writes: its tokenizer has no {', '.join(missing)}"
        )


def as_spelled(dialect: Dialect, tokenizer: Any) -> Dialect:
    """The dialect with the markers as this tokenizer has them, where checkpoints differ in that."""
    if dialect.variants is None or tokenizer is None or not hasattr(tokenizer, "get_vocab"):
        return dialect
    known = remembered(tokenizer)
    key = ("spelled", dialect.name)
    if key not in known:
        known[key] = _spelled(dialect, dialect.variants, tokenizer.get_vocab())
    found: Dialect = known[key]
    return found


def fitted(name: str, tokenizer: Any) -> Dialect:
    """The dialect of that name as this tokenizer spells it. Raises ConfigurationError where it cannot write it."""
    known = remembered(tokenizer)
    key = ("fitted", name)
    found: Dialect | None = known.get(key)
    if found is None:
        found = as_spelled(get_dialect(name), tokenizer)
        check_tokenizer(tokenizer, found)
        known[key] = found
    return found


def _spelled(dialect: Dialect, variants: Variants, vocabulary: Collection[str]) -> Dialect:
    if dialect.openers[0].on[0].text in vocabulary:
        return dialect
    before, _, after = variants.marker.partition("{suffix}")
    for token in sorted(vocabulary):
        suffix = token[len(before) : len(token) - len(after)]
        if token.startswith(before) and token.endswith(after) and suffix[:1] in ("", ":"):
            return variants.of(suffix)
    return dialect


MANY = 16  # ids of one step that are not looked at before they have to be


class StrayFilter:
    """Takes stray special tokens out of a stream. The text lags behind the ids, so they are awaited in order."""

    def __init__(self, stray: Mapping[int, str]) -> None:
        self._stray = stray
        self._holds_none = stray.keys().isdisjoint
        self._firsts: set[str] = set()  # characters with which one begins, once they are asked for
        self._unread: list[Sequence[int]] = []  # ids of steps in whose text no stray token stood
        self._due: deque[str] = deque()
        self._held = ""
        self.removed = 0

    def feed(self, text: str, ids: Sequence[int]) -> str:
        """The text of one engine step without the tokens that are none of the dialect's."""
        if not self._due and not self._unread and len(ids) <= MANY and self._holds_none(ids):
            return text
        stray = self._stray
        if (len(ids) > MANY or self._unread) and not self._due and not self._may_hold(text):
            self._unread.append(ids)
            return text
        if self._unread:
            for earlier in self._unread:
                if not self._holds_none(earlier):
                    self._due.extend(stray[number] for number in earlier if number in stray)
            self._unread.clear()
        if not self._holds_none(ids):
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

    def _may_hold(self, text: str) -> bool:
        self._firsts = self._firsts or {token[0] for token in self._stray.values()}
        return any(map(text.__contains__, self._firsts))

    def finish(self) -> str:
        """What was held back: the beginning of a token that did not come."""
        held, self._held = self._held, ""
        return held


def without_stray(text: str, stray: Mapping[int, str]) -> tuple[str, int]:
    """A whole response without stray special tokens, and how many there were."""
    if not stray:
        return text, 0
    return _pattern(tuple(stray.values())).subn("", text)


@lru_cache(maxsize=64)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))
