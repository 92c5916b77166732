"""Every corpus line, under every chunking: one result, equal to the expected one to the character."""

from __future__ import annotations

import os

import pytest
from corpus import CorpusLine, all_lines, dialects
from harness import (
    counters,
    cut,
    expected_result,
    make_id,
    new_parser,
    random_splits,
    run,
    run_line,
    to_result,
)

from toolglot.core import list_dialects, parse

LINES = all_lines()
QUICK = os.environ.get("TOOLGLOT_TEST_PROFILE") == "quick"
RANDOM_SPLITS = {"quick": 20, "deep": 200}.get(os.environ.get("TOOLGLOT_TEST_PROFILE", ""), 50)
STEP = 7 if QUICK else 1  # every place of a single split, or every seventh


def test_corpus_is_there() -> None:
    """The loader has checked every line; here: each dialect has a corpus and each corpus a dialect."""
    assert set(dialects()) == set(list_dialects())


@pytest.mark.parametrize("line", LINES, ids=str)
def test_expected(line: CorpusLine) -> None:
    """One chunk: the expected message and counters. `parse` gives the same where it can be called."""
    parser = new_parser(line)
    result = run(parser, [line.raw], line.finish_reason)
    assert result == expected_result(line)
    counted = counters(parser)
    assert {kind: counted.get(kind, 0) for kind in line.anomalies} == dict(line.anomalies)
    if line.finish_reason is None:
        message = parse(line.raw, dialect=line.dialect, tools=line.tools, make_id=make_id, **line.options)
        assert to_result(message) == result


@pytest.mark.parametrize("line", LINES, ids=str)
def test_any_split(line: CorpusLine) -> None:
    """Every single split, one character at a time, and random multi-splits: all the same as one chunk."""
    raw = line.raw
    whole = run_line(line, [raw])
    for place in range(0, len(raw) + 1, STEP):
        assert run_line(line, cut(raw, [place])) == whole, f"split at {place}: {raw[:place]!r} | {raw[place:]!r}"
    assert run_line(line, raw) == whole, "one character at a time"
    for chunks in random_splits(raw, RANDOM_SPLITS, str(line)):
        assert run_line(line, chunks) == whole, f"chunks {chunks!r}"
