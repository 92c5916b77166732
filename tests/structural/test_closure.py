"""Closure: what a structural tag lets through, the parser reads back.

Random walks through the grammar that XGrammar compiles from a dialect's tag parse, under random splits, to what the
grammar meant: offered names, arguments that meet the schema, nothing left over; in `auto` every opener is a call and
the rest is content, exactly.

Every pair of dialect and schema is tried with a seeded pick of choice, reasoning and parallel calls, which changes
with TOOLGLOT_TEST_CLOSURE_SEED; TOOLGLOT_TEST_CLOSURE=full tries every choice with and without reasoning (`make
closure-full`): whether the prompt has opened it or the model may, and whether calls may be parallel, takes turns.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from typing import Any

import jsonschema
import pytest
from schemas import ALL, EXACT, choices, tools_for
from unshown import BLANKS, Uncertain, Unshown
from walks import Failure, Grammar, shrink, splits

from toolglot.core import ResponseParser, assemble, get_dialect, list_dialects
from toolglot.core.spec import Call, Dialect, Push
from toolglot.core.structural import build_tag
from toolglot.core.tools import is_forced

FULL = os.environ.get("TOOLGLOT_TEST_CLOSURE") == "full"
SEED = os.environ.get("TOOLGLOT_TEST_CLOSURE_SEED", "1")
WALKS = 3
REASONING: dict[str, Any] = {"none": False, "open": True, "optional": "optional"}
COMBINATIONS = list(itertools.product(choices(), REASONING, (True, False)))
# Counters that a text of the grammar may leave: for which dialects, and why. Text that was no block is compared.
COUNTED = {
    "duplicate_id": (("cofl", "cohere_command", "kimi_k2"), "the model numbers its calls; the grammar does not count"),
    "noise": (("cofl", "cohere_command"), "a citation's sources are dropped"),
    "refuted_block": (
        ("cofl", "cohere_command", "llama3_json"),
        "text that begins as a citation ends, or as one more object would behind a call without a closer",
    ),
    "stray_marker": (("hunyuan_a13b",), "the prefix of an answer is skipped"),
}


class Case:
    """One tag and what its texts must parse to."""

    def __init__(self, dialect: str, schema: str, choice: str, reasoning: str, parallel: bool) -> None:
        self.name = f"{dialect} / {schema} / {choice} / {reasoning} / {'parallel' if parallel else 'single'}"
        self.dialect: Dialect = get_dialect(dialect)
        self.tools = tools_for(schema)
        self.choice = choices()[choice]
        self.reasoning = REASONING[reasoning]
        self.single = not parallel or choice == "named"
        self.options = {"tool_choice": self.choice, "parallel_tool_calls": parallel, "reasoning": bool(self.reasoning)}
        if self.dialect.messages is None:
            self.options["starts_in_reasoning"] = self.reasoning is True
        self.counted = {kind for kind, (names, _) in COUNTED.items() if dialect in names}
        tag, known = build_tag(
            self.dialect, self.tools, self.choice, reasoning=self.reasoning, parallel_tool_calls=parallel
        )
        assert tag is not None
        self.grammar = Grammar(self.dialect, tag)
        self.loosened = {arguments.name: arguments.loosened for arguments, _ in known if arguments.loosened}
        self.validators = {
            arguments.name: jsonschema.Draft202012Validator(
                {"type": "object"} if arguments.name in self.loosened else tool["function"]["parameters"]
            )
            for tool in self.tools
            for arguments, _ in known
            if arguments.name == tool["function"]["name"]
        }

    def run(self, seed: str) -> int:
        """Walk; returns how many walks ended."""
        rng = random.Random(seed)
        ended = 0
        for _ in range(WALKS):
            tokens = self.grammar.walk(rng)
            if tokens is None:
                continue
            ended += 1
            text = "".join(tokens)
            pieces = splits(text, rng)
            if self.problem_of(text, pieces) is not None:
                smallest, problem = shrink(tokens, self.grammar, self.any_problem)
                raise Failure(f"{seed} ({self.name})", smallest, problem)
        return ended

    def any_problem(self, text: str) -> str | None:
        return self.problem_of(text, [text]) or self.problem_of(text, list(text))

    def problem_of(self, text: str, pieces: list[str]) -> str | None:
        """What is wrong with how the text parses."""
        parser = ResponseParser(self.dialect, self.tools, **self.options)
        deltas = [delta for piece in pieces for delta in parser.feed(piece)] + parser.finish()
        message = assemble(deltas)
        surprises = {kind: count for kind, count in parser.anomalies.items() if kind not in self.counted}
        if surprises:
            return f"anomalies {surprises}, {message}"
        thought, rest = self.behind_reasoning(text)
        if (message.reasoning or "") != thought:
            return f"reasoning {message.reasoning!r}, not {thought!r}"
        try:
            content, least = ("", 1) if is_forced(self.choice) else self.expected(rest)
        except Uncertain:
            return None
        if (message.content or "") != content:
            return f"content {message.content!r}, not {content!r}"
        if len(message.tool_calls) < least or (least == 0 and message.tool_calls):
            return f"{len(message.tool_calls)} calls, at least {least} were written"
        if self.single and len(message.tool_calls) > 1:
            return f"{len(message.tool_calls)} calls, one at most was allowed"
        for call in message.tool_calls:
            if call.name not in self.validators or not call.complete:
                return f"call {call}"
            try:
                self.validators[call.name].validate(json.loads(call.arguments))
            except (ValueError, jsonschema.ValidationError) as error:
                return f"arguments {call.arguments}: {str(error).splitlines()[0]}"
        return None

    # -- what a text means, without the parser --------------------------------------------------------------

    def behind_reasoning(self, text: str) -> tuple[str, str]:
        """The reasoning of a text, without its framing, and the rest."""
        messages, think = self.dialect.messages, self.dialect.reasoning
        if not self.reasoning:
            return "", text
        if messages is not None:
            if not text.startswith(messages.reasoning):
                return "", text
            thought, _, rest = text[len(messages.reasoning) :].partition(messages.turn)
            return thought, rest
        if think is None or (self.reasoning == "optional" and not text.startswith(think.open)):
            return "", text
        if text.startswith(think.open):
            text = _less(text.removeprefix(think.open), think.trim_open[1], front=True)
        thought, _, rest = text.partition(think.close)
        return _less(thought, think.trim_close[0], front=False), _less(rest, think.trim_close[1], front=True)

    def expected(self, text: str) -> tuple[str, int]:
        """The content of a text of `auto`, by the framing rules of docs/rules.md, and the number of calls at least."""
        messages = self.dialect.messages
        if messages is not None:
            if not text.startswith(messages.content):
                return "", 1
            answer = text.removeprefix(messages.content)
            called = messages.turn + messages.call.partition("{name}")[0]
            if called in answer:
                return answer.partition(messages.turn)[0], 1
            end = messages.block.close[0]
            return answer.removesuffix(end) if messages.turn.startswith(end) else answer, 0
        if self.calls_at_start(text) and not self.grammar.begins_with_trigger(text):
            return "", 1
        parts = self.grammar.parts(text)
        content = ""
        unshown = Unshown(self.dialect)
        for at, (is_call, part) in enumerate(parts):
            last = at + 1 == len(parts)
            if is_call:
                unshown.call()
            elif last:
                content += unshown.shown(part, call_follows=False)
            elif at == 0 or part.strip(BLANKS):
                content += unshown.shown(_less(part, self.trim(parts[at + 1][1]), front=False), call_follows=True)
        return content, sum(is_call for is_call, _ in parts)

    def calls_at_start(self, text: str) -> bool:
        """Whether a text begins with a call that only the start of a response may have."""
        return any(
            text.lstrip(" \t\r\n").startswith(marker.text)
            for edge in self.dialect.openers
            for marker in edge.on
            if marker.at == "start" and isinstance(edge.do, (Call, Push))
        )

    def trim(self, call: str) -> int:
        """Newlines before this call that are framing."""
        return max(
            edge.trim[0]
            for edge in self.dialect.openers
            for marker in edge.on
            if call.startswith(marker.text) and isinstance(edge.do, (Call, Push)) and marker.at != "start"
        )


def _less(text: str, newlines: int, *, front: bool) -> str:
    """The text without so many newlines at its front or end."""
    for _ in range(newlines):
        text = text.removeprefix("\n") if front else text.removesuffix("\n")
    return text


def picked(dialect: str, schema: str) -> list[tuple[str, str, bool]]:
    """The combinations to try for a dialect and a schema."""
    if FULL:
        turns = itertools.cycle([("open", True), ("optional", False), ("open", False), ("optional", True)])
        for _ in range(random.Random(f"{SEED} {dialect} {schema}").randrange(4)):
            next(turns)
        found = []
        for choice in choices():
            reasoning, parallel = next(turns)
            found += [(choice, "none", not parallel), (choice, reasoning, parallel)]
        return found
    # The schemas of a dialect go through a shuffled list of all combinations, one after the other.
    order = random.Random(f"{SEED} {dialect}").sample(COMBINATIONS, len(COMBINATIONS))
    return [order[list(ALL).index(schema) % len(order)]]


@pytest.mark.parametrize("schema", ALL)
@pytest.mark.parametrize("dialect", list_dialects())
def test_closure(dialect: str, schema: str) -> None:
    ended = tried = 0
    for choice, reasoning, parallel in picked(dialect, schema):
        case = Case(dialect, schema, choice, reasoning, parallel)
        ended += case.run(f"{SEED} {case.name}")
        tried += WALKS
        if schema in EXACT:
            loosened = {name: notes for name, notes in case.loosened.items()}
            assert not loosened, f"{case.name}: {loosened}"
    assert ended >= tried // 3, f"only {ended} of {tried} walks ended"
