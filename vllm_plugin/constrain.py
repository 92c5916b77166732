"""From a request to the structural tag that constrains its tool calls.

`required`, a named function and `allowed_tools` with mode `required` always constrain; `auto` only where a
tool says `strict: true` or the server was started with a strictness level. The arguments of a tool are held
to its schema, except where it says `strict: false`, or where `auto` constrains for another tool's sake.
"""

from __future__ import annotations

import logging
from typing import Any

from toolglot.core.serving.constrain import Checked, checked_tag, say_through
from toolglot.core.serving.prompt import Thinking
from toolglot.core.spec import Dialect
from toolglot.core.tools import is_forced
from toolglot.vllm_plugin.request import choice_of, tools_of

__all__ = ["tag_for"]

say_through(logging.getLogger("vllm.toolglot"))

# vLLM's ToolStrictLevel, by value: the class is not there in every version.
LEVEL_FUNCTION = 1
LEVEL_PARAMETER = 2


def tag_for(
    dialect: str | Dialect, request: Any, strict_level: int = 0, thinking: Thinking | None = None
) -> Checked | None:
    """XGrammar's structural tag for this request, checked, or None where nothing is to be constrained.

    With ``thinking`` it covers reasoning (core/serving/constrain.py). Raises ValueError, naming the tool, when a schema
    cannot be turned into a grammar.
    """
    tools = tools_of(request.tools)
    choice = choice_of(request)
    forced = is_forced(choice)
    if not tools or choice == "none":
        return None
    some_strict = any(tool["function"].get("strict") is True for tool in tools)
    if not forced and strict_level < LEVEL_FUNCTION and not some_strict:
        return None
    parallel = getattr(request, "parallel_tool_calls", None) is not False
    exposed = [_with_level(tool, forced, strict_level) for tool in tools]
    return checked_tag(
        dialect,
        exposed,
        choice,
        thinking=thinking,
        parallel_tool_calls=parallel,
        problem_of=_problem,
        advice='. Correct the schema, or set "strict": false on the function to leave its arguments free.',
    )


def _with_level(tool: dict[str, Any], forced: bool, strict_level: int) -> dict[str, Any]:
    """The tool with its schema, or with any arguments allowed where they are not to be constrained."""
    strict = tool["function"].get("strict")
    constrained = strict is True or strict_level >= LEVEL_PARAMETER or (forced and strict is None)
    function = {key: value for key, value in tool["function"].items() if key != "strict" or value is True}
    if not constrained:
        function["parameters"] = {"type": "object", "additionalProperties": True}
    return {"type": "function", "function": function}


def _problem(tag: str) -> str | None:
    """What XGrammar says against a tag, or None."""
    from xgrammar import Grammar

    try:
        Grammar.from_structural_tag(tag)
    except Exception as error:
        return " ".join(str(error).split())
    return None
