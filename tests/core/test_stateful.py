"""A parser as a state machine: any order of chunks, ends and new responses, two parsers at a time.

After every step the contract must hold for what has come out so far, and it must be a part of what would come out if
the input ended here. At the end each response is what it is in one chunk, so neither parser saw the other's text.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from corpus import all_lines, std_tools
from harness import CONTROL_MARKERS, DeltaCheck, Result, make_id, run, to_result
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from soup import COMMON, FIXED, OWN, PER_CHARACTER
from test_fuzz import OPTIONS

from toolglot.core import ConfigurationError, ResponseParser, assemble, list_dialects

RUNS = {"quick": 1, "deep": 400}.get(os.environ.get("TOOLGLOT_TEST_PROFILE", "default"), 3)
STEPS = 20


class Response:
    """One response on its way, with all that was put in and came out."""

    def __init__(self, dialect: str, options: dict[str, Any]) -> None:
        self.open = lambda: ResponseParser(dialect, std_tools(), make_id=make_id, **options)
        self.parser = self.open()
        self.text = ""
        self.deltas: list[Any] = []
        self.check = DeltaCheck()
        self.before = Result(None, None, ())
        self.over = False

    def take(self, deltas: list[Any]) -> None:
        for delta in deltas:
            self.check.take(delta)
        self.deltas += deltas


def check_grown(early: Result, late: Result) -> None:
    """Nothing is taken back: texts and arguments only grow, a finished call stays as it is."""
    assert (late.content or "").startswith(early.content or ""), (early, late)
    assert (late.reasoning or "").startswith(early.reasoning or ""), (early, late)
    assert len(early.calls) <= len(late.calls), (early, late)
    for call, full in zip(early.calls, late.calls, strict=False):
        assert (call.name, call.id) == (full.name, full.id), (call, full)
        assert full.arguments.startswith(call.arguments), (call, full)
        assert not call.complete or call == full, (call, full)


def machine(dialect: str) -> type[RuleBasedStateMachine]:
    """The state machine of a dialect."""
    raws = [line.raw for line in all_lines() if line.dialect == dialect]
    chunk = st.one_of(
        st.sampled_from([*CONTROL_MARKERS[dialect], *OWN[dialect], *COMMON]),
        st.sampled_from(raws),
        st.text(max_size=8),
    )
    which = st.integers(0, 1)

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.responses = [Response(dialect, {}), Response(dialect, {})]
            self.touched = self.responses[0]

        def _of(self, which: int) -> Response:
            self.touched = self.responses[which]
            return self.touched

        @rule(which=which, text=chunk)
        def feed(self, which: int, text: str) -> None:
            response = self._of(which)
            if response.over:
                with pytest.raises(ConfigurationError):
                    response.parser.feed(text or "x")
                return
            response.text += text
            response.take(response.parser.feed(text))

        @rule(which=which, text=st.sampled_from(raws), size=st.integers(1, 5), data=st.data())
        def feed_small(self, which: int, text: str, size: int, data: st.DataObject) -> None:
            """A part of a corpus line in small chunks."""
            if self._of(which).over:
                return
            text = text[: data.draw(st.integers(0, min(len(text), 300)))]
            for at in range(0, len(text), size):
                self.feed(which, text[at : at + size])

        @rule(which=which, reason=st.sampled_from([None, "stop", "length"]))
        def finish(self, which: int, reason: str | None) -> None:
            response = self._of(which)
            deltas = response.parser.finish(reason)
            assert not response.over or deltas == []
            response.take(deltas)
            if not response.over:
                response.over = True
                assert to_result(assemble(response.deltas)) == run(response.open(), [response.text], reason)

        @precondition(lambda self: any(response.over for response in self.responses))
        @rule(options=OPTIONS)
        def next_response(self, options: dict[str, Any]) -> None:
            """A new response in the place of a finished one; the other goes on."""
            at = next(at for at, response in enumerate(self.responses) if response.over)
            self.responses[at] = self.touched = Response(dialect, options)

        @invariant()
        def holds(self) -> None:
            response = self.touched
            now = to_result(assemble(response.deltas))
            check_grown(response.before, now)
            response.before = now
            assert response.parser.examined <= PER_CHARACTER * len(response.text) + FIXED
            if not response.over:
                check_grown(now, run(response.open(), [response.text]))

        def teardown(self) -> None:
            for which in (0, 1):
                self.finish(which, None)

    return Machine


@pytest.mark.parametrize("dialect", list_dialects())
def test_any_order(dialect: str) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine(dialect), settings=settings(max_examples=RUNS, stateful_step_count=STEPS)
    )
