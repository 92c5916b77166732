"""Random texts of a structural tag, as XGrammar lets a model write them that knows nothing: needs `xgrammar`.

The vocabulary is single characters, and as tokens of their own the literals of the tag and every marker of the
dialect, so that texts get to places where characters alone hardly lead. Each step takes one of the legal tokens, with
a bias to what ends things.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

from .errors import ConfigurationError
from .serving.tokens import spellings
from .spec import Dialect

__all__ = ["Sampler"]

STEPS = 1500
PATIENCE = 120  # steps after which a text hurries to its end
CHARACTERS = [chr(code) for code in range(32, 127)] + [*"\n\t\x17éß名前ключø｜▁…", "\u2028", "😀"]
ENDING = ('"', "<", "}", "]", ")", "\n")
EOS = "<end of text>"


class Sampler:
    """A tag, compiled for the vocabulary of its dialect. Raises ConfigurationError where XGrammar is not installed."""

    def __init__(self, dialect: Dialect, tag: dict[str, Any]) -> None:
        try:
            import numpy
            import xgrammar
        except ImportError as error:
            raise ConfigurationError(f"sampling needs the package xgrammar: {error}") from error
        self._numpy, self._xgrammar = numpy, xgrammar
        ends = set(_literals(tag, ("end", "value")))
        own = {*ends, *_literals(tag, ("begin", "separator", "triggers", "excludes"))}
        texts = [text for text in (*own, *spellings(dialect)) if 1 < len(text) <= 200]
        texts.sort()  # a set has no order, and a seed stands for one text
        characters = [*CHARACTERS, *sorted(set(json.dumps(tag, ensure_ascii=False)) - set(CHARACTERS))]
        self.words = list(dict.fromkeys([*characters, *texts]))
        self.tag = tag
        self._literal = len(characters)  # the first that is no single character
        self._end = len(self.words)
        self._info = xgrammar.TokenizerInfo(
            [*self.words, EOS], vocab_size=self._end + 1, stop_token_ids=[self._end]
        )
        self._compiled = self.compile(tag["format"])
        self._ending = numpy.array([word[-1] in ENDING or word in ends for word in self.words] + [False])

    def compile(self, format_: dict[str, Any]) -> Any:
        """A format, compiled for the same vocabulary."""
        compiler = self._xgrammar.GrammarCompiler(self._info, max_threads=1, cache_enabled=False)
        tag = {"type": "structural_tag", "format": format_}
        return compiler.compile_structural_tag(self._xgrammar.StructuralTag.model_validate(tag))

    def walk(self, rng: random.Random) -> list[str] | None:
        """The tokens of a random text; None when it does not end in time."""
        matcher = self._xgrammar.GrammarMatcher(self._compiled)
        mask = self._xgrammar.allocate_token_bitmask(1, self._end + 1)
        tokens: list[str] = []
        end_soon = rng.choice((0.05, 0.3, 0.6))
        for step in range(STEPS):
            legal = self._legal(matcher, mask)
            if legal[self._end] and (legal.sum() == 1 or rng.random() < end_soon or step > PATIENCE):
                return tokens
            legal[self._end] = False
            pool = legal & self._ending
            hurry = 0.9 if step > PATIENCE else 0.45
            at = self._numpy.flatnonzero(pool if pool.any() and rng.random() < hurry else legal)
            longer = at[at >= self._literal]
            chosen = int(rng.choice(longer if len(longer) and rng.random() < 0.3 else at))
            tokens.append(self.words[chosen])
            matcher.accept_token(chosen)
        return None

    def _legal(self, matcher: Any, mask: Any) -> Any:
        matcher.fill_next_token_bitmask(mask)
        octets = mask[0].numpy().view(self._numpy.uint8)
        return self._numpy.unpackbits(octets, bitorder="little")[: self._end + 1].astype(bool)

    def accepts(self, text: str) -> bool:
        """Whether the whole text is one of the tag's."""
        matcher = self._xgrammar.GrammarMatcher(self._compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(self._end))

    def accepts_tokens(self, tokens: Iterable[str]) -> bool:
        """Whether the text is one of the tag's, token by token; what is no word of the vocabulary goes in as text."""
        matcher = self._xgrammar.GrammarMatcher(self._compiled)
        number = {word: at for at, word in enumerate(self.words)}
        taken = all(
            matcher.accept_token(number[token]) if token in number else matcher.accept_string(token)
            for token in tokens
        )
        return bool(taken and matcher.accept_token(self._end))

    def shortest(self, compiled: Any, text: str) -> int | None:
        """The length of the shortest beginning of a text that is a whole text of a grammar."""
        matcher = self._xgrammar.GrammarMatcher(compiled)
        mask = self._xgrammar.allocate_token_bitmask(1, self._end + 1)
        for at, char in enumerate(text):
            if not matcher.accept_string(char):
                return None
            if self._legal(matcher, mask)[self._end]:
                return at + 1
        return None


def _literals(node: Any, keys: tuple[str, ...]) -> Iterator[str]:
    """The literal texts that stand under these keys of a tag."""
    if isinstance(node, list):
        for item in node:
            yield from _literals(item, keys)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in keys:
                yield from [value] if isinstance(value, str) else value
            elif key not in ("json_schema", "grammar"):
                yield from _literals(value, keys)
