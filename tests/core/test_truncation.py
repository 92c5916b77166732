"""Every corpus line cut at every character.

What is checked, and why it is sound whatever comes after the cut:
- What went out before the end of input is a prefix of what the whole line gives, per channel and per call,
  for the parser cannot know yet that the input will end.
- A call that the whole line has finished by the cut (it said `complete` when the line was fed one character
  at a time) is in the cut response, unchanged.
- Arguments that are copied as written stay a prefix of the whole ones, but for what was ambiguous at the
  end and is released: the beginning of a closer, or of a string that might have held an object. Arguments
  that the parser writes itself are JSON objects, for the parser closes what it opened.
- A control marker shows at most as often as in the whole response. Two cases are exempt because the rules
  ask for it: nothing had gone out before the end, so a dropped block is returned as text; and a block that
  the end of the input refutes, which is counted as one (or noise of a section, held until a call would follow).
- arguments="complete" gives the finished calls of the default mode and no others.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from corpus import CorpusLine, all_lines
from harness import CONTROL_MARKERS, Result, check_deltas, counters, new_parser, to_result
from material import WRITTEN_BY_PARSER

from toolglot.core import assemble

STEP = 5 if os.environ.get("TOOLGLOT_TEST_PROFILE") == "quick" else 1


def behind_common(text: str, other: str) -> str:
    """What is left of ``other`` behind the longest common beginning."""
    same = next((at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(text))
    return other[min(same, len(text)) :]


def finished_at(line: CorpusLine) -> dict[int, int]:
    """For each call that finishes before the end of input: how many characters that took."""
    parser = new_parser(line)
    places: dict[int, int] = {}
    for count, char in enumerate(line.raw, 1):
        for delta in parser.feed(char):
            if delta.kind == "tool_call" and delta.complete:
                places[delta.index] = count
    parser.finish()
    return places


def check_complete_mode(line: CorpusLine, place: int, streamed: Result) -> None:
    """arguments="complete": only finished calls come out, the same as in stream mode."""
    parser = new_parser(line, arguments="complete")
    deltas = [*parser.feed(line.raw[:place]), *parser.finish("length")]
    check_deltas(deltas)
    calls = to_result(assemble(deltas)).calls
    where = f'arguments="complete", cut at {place}: {line.raw[:place]!r}'
    assert all(call.complete for call in calls), where
    if line.options.get("parallel_tool_calls", True):
        wanted = [(call.name, call.arguments) for call in streamed.calls if call.complete]
        assert [(call.name, call.arguments) for call in calls] == wanted, where


@pytest.mark.parametrize("line", all_lines(), ids=str)
def test_cut_anywhere(line: CorpusLine) -> None:
    raw = line.raw
    parser = new_parser(line)
    whole = to_result(assemble([*parser.feed(raw), *parser.finish()]))
    whole_refuted = counters(parser).get("refuted_block", 0)
    whole_noise = counters(parser).get("noise", 0)
    finished = finished_at(line)

    def ours(call: Any) -> bool:
        """Whether the object is written by the parser; a variant of some dialects has JSON in its place."""
        return line.dialect in WRITTEN_BY_PARSER and call.arguments not in raw

    markers = (*CONTROL_MARKERS[line.dialect], "<think>", "</think>")
    for place in range(0, len(raw) + 1, STEP):
        parser = new_parser(line)
        before: list[Any] = list(parser.feed(raw[:place]))
        early = to_result(assemble(before))
        after: list[Any] = list(parser.finish("length"))
        check_deltas([*before, *after])
        result = to_result(assemble([*before, *after]))
        where = f"cut at {place}: {raw[:place]!r}"

        assert (whole.content or "").startswith(early.content or ""), where
        assert (whole.reasoning or "").startswith(early.reasoning or ""), where
        assert len(early.calls) <= len(whole.calls), where
        for index, (call, full) in enumerate(zip(early.calls, whole.calls, strict=False)):
            assert (call.name, call.id) == (full.name, full.id), where
            assert full.arguments.startswith(call.arguments), where
            if call.complete:
                assert call == full, where
            cut_call = result.calls[index]
            if not ours(full) and cut_call.arguments != "{}":
                released = behind_common(full.arguments, cut_call.arguments)
                assert released in ("", '"') or any(m.startswith(released) for m in markers), where
        for index, count in finished.items():
            if count <= place:
                assert result.calls[index] == whole.calls[index], where
        for call, full in zip(result.calls, whole.calls, strict=False):
            if ours(full):
                assert isinstance(json.loads(call.arguments), dict), where
        for call in result.calls:
            assert call.arguments, where
        if line.streams:
            check_complete_mode(line, place, result)
        given_back = not before and not result.calls and result.reasoning is None
        counted = counters(parser)
        released = counted.get("refuted_block", 0) > whole_refuted or counted.get("noise", 0) < whole_noise
        if not given_back and not released:
            for marker in markers:
                assert result.visible.count(marker) <= whole.visible.count(marker), f"{marker} leaks; {where}"
