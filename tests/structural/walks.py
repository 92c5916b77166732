"""Walks of a tag: where their free text and their calls are, how a failing one is made smaller, how they are cut."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolglot.core.sampling import Sampler


class Grammar(Sampler):
    """A compiled tag that tells free text from calls, without the parser."""

    @cached_property
    def _triggered(self) -> dict[str, Any] | None:
        return next(_find(self.tag["format"], "triggered_tags"), None)

    @cached_property
    def _call(self) -> Any:
        assert self._triggered is not None
        tags = {"type": "tags_with_separator", "tags": self._triggered["tags"], "separator": "", "at_least_one": True}
        return self.compile({**tags, "stop_after_first": True})

    def begins_with_trigger(self, text: str) -> bool:
        """Whether a text begins with an opener that may stand anywhere."""
        return self._triggered is not None and text.startswith(tuple(self._triggered["triggers"]))

    def parts(self, text: str) -> list[tuple[bool, str]]:
        """A text of `auto` cut into free text (False) and calls (True), as the grammar has it."""
        if self._triggered is None:
            return [(False, text)] if text else []
        found: list[tuple[bool, str]] = []
        while text:
            places = [at for trigger in self._triggered["triggers"] if (at := text.find(trigger)) >= 0]
            start = min(places, default=len(text))
            if start:
                found.append((False, text[:start]))
            text = text[start:]
            if text:
                size = self.shortest(self._call, text)
                assert size is not None, f"an opener without a call: {text!r}"
                found.append((True, text[:size]))
                text = text[size:]
        return found


def _find(node: Any, kind: str) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for item in node:
            yield from _find(item, kind)
    elif isinstance(node, dict):
        if node.get("type") == kind:
            yield node
        for value in node.values():
            yield from _find(value, kind)


@dataclass
class Failure(Exception):
    """A walk that does not parse to what it should."""

    seed: str
    text: str
    problem: str

    def __str__(self) -> str:
        return f"{self.problem}\nseed: {self.seed}\nsmallest text: {self.text!r}"


def shrink(tokens: list[str], grammar: Grammar, problem_of: Callable[[str], str | None]) -> tuple[str, str]:
    """A smaller text of the grammar that still fails, and what is wrong with it: tokens are left out while it does."""
    problem = problem_of("".join(tokens)) or "only under one split, see the seed"
    size = len(tokens) // 2
    while size:
        at = 0
        while at < len(tokens):
            fewer = tokens[:at] + tokens[at + size :]
            text = "".join(fewer)
            found = problem_of(text) if grammar.accepts(text) else None
            if found is None:
                at += size
            else:
                tokens, problem = fewer, found
        size //= 2
    return "".join(tokens), problem


def splits(text: str, rng: random.Random) -> list[str]:
    """The text in random pieces."""
    if rng.random() < 0.2:
        return list(text)
    places = sorted(rng.sample(range(len(text) + 1), min(rng.choice((1, 3, 8, 30)), len(text) + 1)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
