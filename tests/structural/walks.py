"""Random walks through a compiled grammar, what they must parse to, and how a failing one is made smaller.

The vocabulary of a walk is single characters, and as tokens of their own the literals of the tag and every marker of
the dialect, so that walks get to places where characters alone hardly lead. Each step takes one of the legal tokens,
with a bias to what ends things.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
import xgrammar

from toolglot.core.serving.tokens import spellings
from toolglot.core.spec import Dialect

STEPS = 1500
PATIENCE = 120  # steps after which a walk hurries to its end
CHARACTERS = [chr(code) for code in range(32, 127)] + [*"\n\t\x17éß名前ключø｜▁…", "\u2028", "😀"]
ENDING = ('"', "<", "}", "]", ")", "\n")
EOS = "<end of text>"


def literals(node: Any) -> Iterator[str]:
    """The literal texts of a tag."""
    if isinstance(node, list):
        for item in node:
            yield from literals(item)
    elif isinstance(node, dict):
        for key in ("begin", "end", "value", "separator"):
            if isinstance(node.get(key), str):
                yield node[key]
        yield from (text for key in ("triggers", "excludes") for text in node.get(key, ()))
        for key, value in node.items():
            if key not in ("json_schema", "grammar"):
                yield from literals(value)


class Grammar:
    """A tag, compiled for the vocabulary of its dialect."""

    def __init__(self, dialect: Dialect, tag: dict[str, Any]) -> None:
        texts = [text for text in (*literals(tag), *spellings(dialect)) if 1 < len(text) <= 200]
        characters = [*CHARACTERS, *sorted(set(json.dumps(tag, ensure_ascii=False)) - set(CHARACTERS))]
        self.words = list(dict.fromkeys([*characters, *texts]))
        self._literal = len(characters)  # the first that is no single character
        self.end = len(self.words)
        self._info = xgrammar.TokenizerInfo(
            [*self.words, EOS], vocab_size=self.end + 1, stop_token_ids=[self.end]
        )
        self.tag = tag
        self._compiled = self._compile(tag["format"])
        self._size = xgrammar.get_bitmask_shape(1, self.end + 1)[1]
        self._ending = numpy.array([word[-1] in ENDING for word in self.words] + [False])

    def _compile(self, format_: dict[str, Any]) -> xgrammar.CompiledGrammar:
        compiler = xgrammar.GrammarCompiler(self._info, max_threads=1, cache_enabled=False)
        tag = {"type": "structural_tag", "format": format_}
        return compiler.compile_structural_tag(xgrammar.StructuralTag.model_validate(tag))

    def walk(self, rng: random.Random) -> list[str] | None:
        """The tokens of a random text; None when it does not end in time."""
        matcher = xgrammar.GrammarMatcher(self._compiled)
        mask = xgrammar.allocate_token_bitmask(1, self.end + 1)
        tokens: list[str] = []
        end_soon = rng.choice((0.05, 0.3, 0.6))
        for step in range(STEPS):
            matcher.fill_next_token_bitmask(mask)
            legal = numpy.unpackbits(mask[0].numpy().view(numpy.uint8), bitorder="little")[: self.end + 1].astype(bool)
            if legal[self.end] and (legal.sum() == 1 or rng.random() < end_soon or step > PATIENCE):
                return tokens
            legal[self.end] = False
            pool = legal & self._ending
            hurry = 0.9 if step > PATIENCE else 0.45
            at = numpy.flatnonzero(pool if pool.any() and rng.random() < hurry else legal)
            longer = at[at >= self._literal]
            chosen = int(rng.choice(longer if len(longer) and rng.random() < 0.3 else at))
            tokens.append(self.words[chosen])
            assert matcher.accept_token(chosen)
        return None

    def accepts(self, text: str) -> bool:
        """Whether the whole text is one of the grammar's."""
        matcher = xgrammar.GrammarMatcher(self._compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(self.end))

    # -- what is free text in it ----------------------------------------------------------------------------

    @cached_property
    def _triggered(self) -> dict[str, Any] | None:
        return next(_find(self.tag["format"], "triggered_tags"), None)

    @cached_property
    def _call(self) -> xgrammar.CompiledGrammar:
        assert self._triggered is not None
        tags = {"type": "tags_with_separator", "tags": self._triggered["tags"], "separator": "", "at_least_one": True}
        return self._compile({**tags, "stop_after_first": True})

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
                size = self._length_of_call(text)
                found.append((True, text[:size]))
                text = text[size:]
        return found

    def _length_of_call(self, text: str) -> int:
        matcher = xgrammar.GrammarMatcher(self._call)
        mask = xgrammar.allocate_token_bitmask(1, self.end + 1)
        for at, char in enumerate(text):
            assert matcher.accept_string(char), f"an opener without a call: {text!r}"
            matcher.fill_next_token_bitmask(mask)
            if int(mask[0][self.end // 32]) >> (self.end % 32) & 1:
                return at + 1
        raise AssertionError(f"a call without an end: {text!r}")


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
    problem = problem_of("".join(tokens))
    assert problem is not None
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
