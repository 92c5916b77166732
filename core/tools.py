"""The request's tools: checked before generation starts, and reduced to the names a response may call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .errors import ConfigurationError

ToolChoice = Literal["auto", "none", "required"] | Mapping[str, Any]


def _is_mapping(value: object) -> bool:
    return type(value) is dict or isinstance(value, Mapping)  # the ABC check costs ten times the type's


def tool_functions(tools: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Name -> function of every OpenAI function tool. The Responses API's flat form is accepted too.

    Raises ConfigurationError naming the entry that is no tool. Tools of other types are left out: they have no
    function to call.
    """
    if type(tools) is not list and (isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Sequence)):
        raise ConfigurationError(f"tools must be a list of OpenAI tool dicts, not {type(tools).__name__}")
    functions: dict[str, Mapping[str, Any]] = {}
    for at, tool in enumerate(tools):
        if not _is_mapping(tool):
            raise ConfigurationError(f"tools[{at}] is not an OpenAI tool dict but {type(tool).__name__}")
        kind = tool.get("type", "function")
        if kind != "function":
            if not isinstance(kind, str):
                raise ConfigurationError(f"tools[{at}].type must be a string, not {type(kind).__name__}")
            continue
        function = tool.get("function", tool if "name" in tool else None)
        if not _is_mapping(function):
            raise ConfigurationError(
                f'tools[{at}] has no "function": expected {{"type": "function", "function": {{"name": ..., '
                f'"parameters": ...}}}}, got keys {sorted(map(str, tool))}'
            )
        name = function.get("name")
        if not isinstance(name, str) or not name:
            raise ConfigurationError(f"tools[{at}].function.name must be a non-empty string, not {name!r}")
        parameters = function.get("parameters")
        if parameters is not None and not _is_mapping(parameters) and not isinstance(parameters, bool):
            raise ConfigurationError(
                f"tools[{at}].function.parameters (of {name}) must be a JSON schema object, not "
                f"{type(parameters).__name__}"
            )
        functions[name] = function
    return functions


def chosen_functions(
    tools: Sequence[Mapping[str, Any]] | None, tool_choice: ToolChoice | None
) -> dict[str, Mapping[str, Any]] | None:
    """The functions a response may call under ``tool_choice``: None when the tools are not known, empty for "none".

    Raises ConfigurationError for a choice that no tool can meet.
    """
    functions = None if tools is None else tool_functions(tools)
    if tool_choice is None or tool_choice == "auto":
        return functions
    if tool_choice == "none":
        return {}
    if tool_choice == "required":
        if not functions:
            raise ConfigurationError('tool_choice="required" needs at least one function tool')
        return functions
    if not isinstance(tool_choice, Mapping):
        raise ConfigurationError(
            f'tool_choice must be "auto", "none", "required" or a dict that names a function, not {tool_choice!r}'
        )
    names = _named(tool_choice)
    if functions is None:
        return {name: {"name": name} for name in names}
    for name in names:
        if name not in functions:
            raise ConfigurationError(f"tool_choice names {name!r}, which is not among the tools: {sorted(functions)}")
    return {name: functions[name] for name in names}


def _named(choice: Mapping[str, Any]) -> list[str]:
    """Names in a tool choice: ``{"type": "function", "function": {"name"}}``, flat, or ``allowed_tools``."""
    if choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools", choice)
        entries = allowed.get("tools") if isinstance(allowed, Mapping) else None
        if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
            raise ConfigurationError("tool_choice of type allowed_tools needs a non-empty list of tools")
        return [_name_of(entry, f"tool_choice.tools[{at}]") for at, entry in enumerate(entries)]
    return [_name_of(choice, "tool_choice")]


def _name_of(entry: Any, where: str) -> str:
    function = entry.get("function", entry) if isinstance(entry, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{where} does not name a function: {entry!r}")
    return name


def is_forced(tool_choice: ToolChoice | None) -> bool:
    """Whether the response must hold a call."""
    if isinstance(tool_choice, Mapping):
        if tool_choice.get("type") != "allowed_tools":
            return True
        allowed = tool_choice.get("allowed_tools", tool_choice)
        return isinstance(allowed, Mapping) and allowed.get("mode") == "required"
    return tool_choice == "required"
