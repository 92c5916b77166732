"""The structural tag of a request, checked before the model starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..spec import Dialect
from ..structural import structural_tag
from ..tools import ToolChoice
from .prompt import Thinking

__all__ = ["checked_tag"]


def checked_tag(
    dialect: str | Dialect,
    tools: Sequence[Mapping[str, Any]],
    choice: ToolChoice,
    *,
    thinking: Thinking | None,
    parallel_tool_calls: bool,
    problem_of: Callable[[dict[str, Any]], str | None],
    advice: str = "",
) -> dict[str, Any] | None:
    """XGrammar's structural tag, or None where nothing is to be constrained.

    With ``thinking`` it covers reasoning: what the prompt has opened must be closed, what it leaves to the model
    may be opened. ``problem_of`` compiles a tag and says what is wrong with it. Raises ValueError, naming the tool
    and ending with ``advice``, when a schema cannot be turned into a grammar.
    """
    reasoning: bool | Literal["optional"] = "optional" if thinking is Thinking.FREE else thinking is Thinking.OPEN
    tag = structural_tag(dialect, tools, choice, reasoning=reasoning, parallel_tool_calls=parallel_tool_calls)
    problem = None if tag is None else problem_of(tag)
    if problem is not None:
        raise ValueError(_blame(dialect, tools, problem, problem_of, advice))
    return tag


def _blame(
    dialect: str | Dialect,
    tools: Sequence[Mapping[str, Any]],
    problem: str,
    problem_of: Callable[[dict[str, Any]], str | None],
    advice: str,
) -> str:
    """The message for a tag that does not compile, with the first tool whose schema is the reason."""
    for tool in tools:
        alone = structural_tag(dialect, [tool], "required")
        reason = None if alone is None else problem_of(alone)
        if reason is not None:
            name = tool["function"]["name"]
            return f"tool {name!r}: its parameters cannot be turned into a grammar: {reason}{advice}"
    return f"the tools of this request cannot be turned into a grammar: {problem}"
