"""A parser holds no reference to itself: it is freed with its response, and the garbage collector, which stops all
streams of a server while it runs, has nothing to do."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from corpus import CorpusLine, all_lines
from harness import new_parser


@pytest.fixture(scope="module")
def collected() -> Iterator[None]:
    """No automatic collection, and only what is new is looked at."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("dialect", sorted({line.dialect for line in all_lines()}))
def test_no_cycles(dialect: str, finished: bool) -> None:
    gc.collect()
    for line in lines_of(dialect):
        parser = new_parser(line)
        for char in line.raw[: None if finished else -10]:
            parser.feed(char)
        if finished:
            parser.finish(line.finish_reason)
        del parser
        assert gc.collect() == 0, line


def lines_of(dialect: str) -> list[CorpusLine]:
    """Some lines of the corpus, those with most text."""
    return sorted((line for line in all_lines() if line.dialect == dialect), key=lambda line: -len(line.raw))[:3]
