"""From a request of LMDeploy to what the core wants to know, and to what the engine is to be told.

Chat Completions, Responses and Messages all arrive as a ChatCompletionRequest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolglot.core import ConfigurationError
from toolglot.core.tools import ToolChoice

__all__ = ["choice_of", "exposed_tools", "keep_special_tokens", "previous_calls", "template_arguments"]


def choice_of(request: Any) -> ToolChoice:
    """The request's tool choice as the core takes it."""
    choice = request.tool_choice
    if isinstance(choice, str):
        return "none" if choice == "none" else "required" if choice == "required" else "auto"
    found: Mapping[str, Any] = choice.model_dump()
    return found


def exposed_tools(request: Any) -> list[dict[str, Any]]:
    """The tools that the final request shows to the model: the named one, the allowed ones, or all.

    Raises ConfigurationError for a choice of a tool that is not there.
    """
    choice = choice_of(request)
    tools = [_wrapped(tool.function) for tool in request.tools or ()]
    if not isinstance(choice, Mapping):
        return tools
    if choice["type"] == "function":
        wanted = [choice["function"]["name"]]
    else:
        entries = [entry.get("function", entry) for entry in choice["allowed_tools"]["tools"]]
        wanted = [entry["name"] for entry in entries if isinstance(entry, Mapping) and entry.get("name")]
        if not tools:  # as LMDeploy has it: the choice brings its tools along
            return [{"type": "function", "function": dict(entry)} for entry in entries if entry.get("name") in wanted]
    there = [tool["function"]["name"] for tool in tools]
    for name in wanted:
        if name not in there:
            raise ConfigurationError(f"tool_choice names {name!r}, which is not among the tools: {there}")
    return [tool for tool in tools if tool["function"]["name"] in wanted]


def _wrapped(function: Any) -> dict[str, Any]:
    """A tool as chat templates are written for it; LMDeploy's own parsers hand them the bare function."""
    there = {**vars(function), **(function.model_extra or {})}  # getattr is slow for a field that there is not
    fields = {"name": function.name}
    for key in ("description", "parameters", "strict"):
        value = there.get(key)
        if value is not None:
            fields[key] = value
    return {"type": "function", "function": fields}


def template_arguments(request: Any) -> dict[str, Any]:
    """What the chat template will be rendered with, as LMDeploy puts it together."""
    arguments = dict(request.chat_template_kwargs or {})
    if request.enable_thinking is not None and arguments.get("enable_thinking") is None:
        arguments["enable_thinking"] = request.enable_thinking
    if request.reasoning_effort is not None:
        arguments.setdefault("reasoning_effort", request.reasoning_effort)
    return {name: value for name, value in arguments.items() if value is not None}


def previous_calls(request: Any) -> int:
    """How many tool calls the conversation holds already; some dialects number their ids through."""
    messages = request.messages if isinstance(request.messages, list) else []
    assistant = [message for message in messages if message.get("role") == "assistant"]
    return sum(len(calls) for message in assistant if isinstance(calls := message.get("tool_calls"), list))


def keep_special_tokens() -> dict[str, Any]:
    """The changes to a request that let special tokens through to the parser, as they were written."""
    return {"skip_special_tokens": False, "spaces_between_special_tokens": False}
