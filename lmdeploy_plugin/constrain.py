"""From a request to the structural tag that constrains its tool calls.

`required`, a named function and `allowed_tools` with mode `required` always constrain; `auto` only under
TOOLGLOT_STRICT=always, or where a tool says `strict: true` and LMDeploy lets that through. LMDeploy enforces
whatever stands in the request's `response_format`; its own parsers do that for `required` only.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from lmdeploy._guided_decoding import ensure_response_format_compilable

from toolglot.core.serving.constrain import checked_tag, say_through
from toolglot.core.serving.prompt import Thinking
from toolglot.core.serving.settings import current
from toolglot.core.spec import Dialect
from toolglot.core.tools import is_forced
from toolglot.lmdeploy_plugin.request import choice_of

__all__ = ["tag_for"]

say_through(logging.getLogger("lmdeploy.toolglot"))


def tag_for(
    dialect: str | Dialect, request: Any, tools: list[dict[str, Any]], thinking: Thinking | None
) -> dict[str, Any] | None:
    """XGrammar's structural tag for this request, checked, or None where nothing is to be constrained.

    With ``thinking`` it covers reasoning (core/serving/constrain.py). Raises ValueError, naming the tool, when a schema
    cannot be turned into a grammar.
    """
    choice = choice_of(request)
    forced = is_forced(choice)
    if not tools or choice == "none" or not (forced or _strict(request, tools)):
        return None
    if isinstance(choice, Mapping) and choice["type"] == "allowed_tools":
        choice = "required" if forced else "auto"  # the tools are the allowed ones already
    exposed = [_exposed(tool) for tool in tools]
    parallel = request.parallel_tool_calls is not False
    checked = checked_tag(
        dialect, exposed, choice, thinking=thinking, parallel_tool_calls=parallel, problem_of=_problem
    )
    return None if checked is None else checked.tag


def _strict(request: Any, tools: list[dict[str, Any]]) -> bool:
    """Whether `auto` constrains. A client's own response format stays: only one of the two can be enforced."""
    given = request.response_format
    if given is not None and getattr(given, "type", "text") != "text":
        return False
    if current().strict in ("always", "never"):
        return current().strict == "always"
    return any(tool["function"].get("strict") is True for tool in tools)


def _exposed(tool: dict[str, Any]) -> dict[str, Any]:
    function = {key: value for key, value in tool["function"].items() if key != "strict" or value is True}
    return {"type": "function", "function": function}


def _problem(tag: str) -> str | None:
    """What XGrammar says against a tag, or None. LMDeploy keeps the answer, and asks the same before it generates."""
    try:
        ensure_response_format_compilable(json.loads(tag))
    except ValueError as error:
        return " ".join(str(error).split())
    return None
