"""`parallel_tool_calls`: a response may hold several calls, or one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from toolglot.core import get_dialect, list_dialects, structural_tag

TOOLS = [{"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}]


def repeats(node: Any) -> Iterator[bool]:
    """For each place of the tag where calls stand in a row: whether another one may follow."""
    if isinstance(node, dict):
        if "stop_after_first" in node:
            yield not node["stop_after_first"]
        for value in node.values():
            yield from repeats(value)
    elif isinstance(node, list):
        for value in node:
            yield from repeats(value)


@pytest.mark.parametrize("choice", ["required", "auto"])
@pytest.mark.parametrize("dialect", list_dialects())
def test_parallel(dialect: str, choice: str) -> None:
    several = structural_tag(dialect, TOOLS, choice, parallel_tool_calls=True)
    single = structural_tag(dialect, TOOLS, choice, parallel_tool_calls=False)
    if get_dialect(dialect).messages is None:  # there a call ends the turn
        assert any(repeats(several))
    assert not any(repeats(single))
