"""The part of fuzzing that runs every time: what was found, what coverage has kept, and seeded mutations of that.

A million characters for each payload grammar, ten million with TOOLGLOT_TEST_PROFILE=deep; run.py does more.
"""

from __future__ import annotations

import json
import logging
import os
import random
from pathlib import Path

import pytest
from target import GRAMMARS, Case, decode, kept, mutated, seeds

CHARACTERS = {"quick": 100_000, "deep": 10_000_000}.get(os.environ.get("TOOLGLOT_TEST_PROFILE", "default"), 1_000_000)
FOUND = (Path(__file__).parent / "found.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Else there is a line in the log for every response that lost something."""
    logging.getLogger("toolglot").setLevel(logging.ERROR)


def check(case: Case) -> None:
    try:
        case.check()
    except Exception as error:
        raise AssertionError(f"a line for found.jsonl: {case.to_json()}") from error


@pytest.mark.parametrize("line", FOUND)
def test_found(line: str) -> None:
    """Inputs that once broke a rule."""
    Case(**json.loads(line)).check()


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_kept(grammar: str) -> None:
    for case in kept(grammar):
        check(case)


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_mutations(grammar: str) -> None:
    dice = random.Random(grammar)
    start = seeds(grammar)
    tried = 0
    while tried < CHARACTERS:
        case = decode(mutated(dice.choice(start), dice), grammar)
        tried += len(case.text)
        check(case)
