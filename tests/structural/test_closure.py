"""Closure: what a structural tag lets through, the parser reads back.

Random walks through the grammar that XGrammar compiles from a dialect's tag must parse, under random splits, to
calls whose names are offered and whose arguments meet the schema, with nothing left over. Each walk takes a random
legal character at every step, with a bias to characters that end things, so that walks end.
"""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
import xgrammar

from toolglot.core import ResponseParser, assemble, list_dialects, structural_tag

WALKS = 20
STEPS = 3000
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "book",
            "parameters": {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "maxLength": 12},
                    "seats": {"type": "integer"},
                    "vip": {"type": "boolean"},
                    "tags": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 3},
                    "kind": {"enum": ["a", "b c"]},
                },
                "required": ["title", "seats"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "note",
            "parameters": {"type": "object", "properties": {"text": {"type": "string", "maxLength": 8}}},
        },
    },
    {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}},
]
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
VOCABULARY = [chr(code) for code in range(32, 127)] + ["\n", "\x17", "\t", "｜", "▁", "é", "<eos>"]
END = len(VOCABULARY) - 1
COMPILER = xgrammar.GrammarCompiler(
    xgrammar.TokenizerInfo(VOCABULARY, vocab_size=len(VOCABULARY), stop_token_ids=[END])
)
CHOICES: list[Any] = ["required", {"type": "function", "function": {"name": "book"}},
                      {"type": "function", "function": {"name": "ping"}}]  # fmt: skip


def walk(grammar: xgrammar.CompiledGrammar, rng: random.Random) -> str | None:
    """A random text of the grammar; None when it does not end in time."""
    matcher = xgrammar.GrammarMatcher(grammar)
    mask = xgrammar.allocate_token_bitmask(1, len(VOCABULARY))
    text: list[str] = []
    for _ in range(STEPS):
        matcher.fill_next_token_bitmask(mask)
        words = [int(word) & 0xFFFFFFFF for word in mask[0]]
        legal = [at for at in range(len(VOCABULARY)) if words[at // 32] >> (at % 32) & 1]
        if END in legal and (len(legal) == 1 or rng.random() < 0.3):
            return "".join(text)
        legal = [at for at in legal if at != END]
        ending = [at for at in legal if VOCABULARY[at] in '"<,}])/\n']
        chosen = rng.choice(ending if ending and rng.random() < 0.5 else legal)
        text.append(VOCABULARY[chosen])
        assert matcher.accept_token(chosen)
    return None


def pieces(text: str, rng: random.Random) -> list[str]:
    places = sorted(rng.sample(range(len(text) + 1), min(5, len(text))))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "single"])
@pytest.mark.parametrize("choice", CHOICES, ids=["required", "book", "ping"])
@pytest.mark.parametrize("dialect", list_dialects())
def test_closure(dialect: str, choice: Any, parallel: bool) -> None:
    tag = structural_tag(dialect, TOOLS, choice, parallel_tool_calls=parallel)
    grammar = COMPILER.compile_structural_tag(xgrammar.StructuralTag.model_validate(tag))
    rng = random.Random(f"{dialect} {choice} {parallel}")
    ended = 0
    for _ in range(WALKS):
        text = walk(grammar, rng)
        if text is None:
            continue
        ended += 1
        parser = ResponseParser(dialect, TOOLS, tool_choice=choice, parallel_tool_calls=parallel)
        message = assemble([d for piece in pieces(text, rng) for d in parser.feed(piece)] + parser.finish())
        assert message.content is None and message.reasoning is None, repr(text)
        assert message.tool_calls, repr(text)
        assert parallel or len(message.tool_calls) == 1, repr(text)
        # A grammar cannot count the calls of a conversation.
        assert not parser.anomalies.keys() - {"duplicate_id"}, (repr(text), parser.anomalies)
        for call in message.tool_calls:
            assert call.complete, repr(text)
            jsonschema.validate(json.loads(call.arguments), SCHEMAS[call.name])
    assert ended >= WALKS // 2, f"only {ended} of {WALKS} walks ended"


@pytest.mark.parametrize("reasoning", [True, False, "optional"])
@pytest.mark.parametrize("dialect", list_dialects())
def test_auto_compiles(dialect: str, reasoning: Any) -> None:
    """Free text until an opener, with and without a reasoning section in front."""
    tag = structural_tag(dialect, TOOLS, "auto", reasoning=reasoning)
    COMPILER.compile_structural_tag(xgrammar.StructuralTag.model_validate(tag))


def test_nothing_to_constrain() -> None:
    assert structural_tag("hermes", TOOLS, "none") is None
    assert structural_tag("hermes", [], "auto") is None
