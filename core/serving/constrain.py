"""The structural tag of a request, checked before the model starts, and kept: an agent's requests carry the same tools.

A tag is kept by the text of its tools, so a request that repeats them costs writing that text and looking it up. What
XGrammar refuses although no rule of ours does (a version's own limits) is loosened, argument by argument, for a tool
that does not say ``strict: true``.
"""

from __future__ import annotations

import json
import logging
import marshal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ..spec import Dialect
from ..structural import structural_tag
from ..tools import ToolChoice
from .prompt import Thinking

__all__ = ["Checked", "checked_tag", "clear"]

logger = logging.getLogger("toolglot")

KEPT = 64  # requests
_kept: dict[Any, Checked | None] = {}  # oldest first

Problem = Callable[[str], str | None]  # what XGrammar says against a tag (its text), or None


class Checked(NamedTuple):
    """A tag that compiles: as XGrammar reads it, and as a dict, which is shared and must not be changed."""

    text: str
    tag: dict[str, Any]


def checked_tag(
    dialect: str | Dialect,
    tools: Sequence[Mapping[str, Any]],
    choice: ToolChoice,
    *,
    thinking: Thinking | None,
    parallel_tool_calls: bool,
    problem_of: Problem,
    advice: str = "",
) -> Checked | None:
    """XGrammar's structural tag, or None where nothing is to be constrained.

    With ``thinking`` it covers reasoning: what the prompt has opened must be closed, what it leaves to the model
    may be opened. ``problem_of`` compiles a tag and says what is wrong with it. Raises ValueError, naming the tool
    and ending with ``advice``, when a schema cannot be turned into a grammar.
    """
    reasoning: bool | Literal["optional"] = "optional" if thinking is Thinking.FREE else thinking is Thinking.OPEN
    key = (dialect, _text_of(tools), _text_of(choice), reasoning, parallel_tool_calls, problem_of, advice)
    if key not in _kept:
        found = _checked(dialect, tools, choice, reasoning, parallel_tool_calls, problem_of, advice)
        if len(_kept) >= KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = found
    return _kept[key]


def _text_of(value: Any) -> bytes:
    """What a request says, in a form that is equal only for equal values: in JSON's types 1, 1.0 and true differ."""
    try:
        return marshal.dumps(value, 0)  # a fifth of what JSON costs; version 0 knows no references
    except ValueError:
        return json.dumps(value, default=str).encode()


def _checked(
    dialect: str | Dialect,
    tools: Sequence[Mapping[str, Any]],
    choice: ToolChoice,
    reasoning: bool | Literal["optional"],
    parallel_tool_calls: bool,
    problem_of: Problem,
    advice: str,
) -> Checked | None:
    offered = tools
    for attempt in range(2):
        tag = structural_tag(dialect, offered, choice, reasoning=reasoning, parallel_tool_calls=parallel_tool_calls)
        if tag is None:
            return None
        text = json.dumps(tag, ensure_ascii=False)
        problem = problem_of(text)
        if problem is None:
            return Checked(text, json.loads(text))  # nothing of the request's is kept
        if attempt == 0:
            offered = [_compilable(dialect, tool, problem_of, advice) for tool in tools]
    raise ValueError(f"the tools of this request cannot be turned into a grammar: {problem}")


def clear() -> None:
    """Forget all tags."""
    _kept.clear()


def _compilable(
    dialect: str | Dialect, tool: Mapping[str, Any], problem_of: Problem, advice: str
) -> Mapping[str, Any]:
    """The tool, with arguments that XGrammar cannot describe left free. Raises ValueError where it is strict."""

    def problem_with(parameters: Any) -> str | None:
        function = {**tool["function"], "parameters": parameters}
        tag = structural_tag(dialect, [{"type": "function", "function": function}], "required")
        return problem_of(json.dumps(tag, ensure_ascii=False))

    parameters = tool["function"].get("parameters")
    problem = problem_with(parameters)
    if problem is None:
        return tool
    name = tool["function"]["name"]
    if tool["function"].get("strict") is True or not isinstance(parameters, Mapping):
        raise ValueError(f"tool {name!r}: its parameters cannot be turned into a grammar: {problem}{advice}")
    properties = dict(parameters.get("properties") or {})
    around = {word: value for word, value in parameters.items() if word not in ("properties", "required")}
    free = [key for key, value in properties.items() if problem_with({**around, "properties": {key: value}})]
    loose: dict[str, Any] = {**parameters, "properties": {**properties, **{key: {} for key in free}}}
    if problem_with(loose) is not None:
        loose, free = {"type": "object"}, ["all"]
    logger.warning("XGrammar cannot describe some arguments of a tool, left free; the level DEBUG says which")
    logger.debug("tool %r: XGrammar cannot describe these arguments, left free: %s (%s)", name, free, problem)
    return {**tool, "function": {**tool["function"], "parameters": loose}}
