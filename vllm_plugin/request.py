"""Reading a vLLM request: its function tools, its tool choice, the calls already in the conversation.

Chat completions and the Responses API describe the same things with different classes; both become the plain
OpenAI dicts that the core takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from toolglot.core.tools import ToolChoice

__all__ = [
    "AllowedTools",
    "choice_of",
    "is_allowed_tools",
    "keep_special_tokens",
    "keeps_special_tokens",
    "previous_calls",
    "request_id",
    "tools_of",
    "wants_format",
]


def tools_of(tools: Iterable[Any] | None) -> list[dict[str, Any]]:
    """The function tools among `tools` as chat-completions dicts; other kinds are not the parser's affair."""
    found = []
    for tool in tools or ():
        function = getattr(tool, "function", None)
        if function is None:
            if getattr(tool, "type", None) != "function":
                continue
            function = tool  # Responses API: the fields lie on the tool itself
        entry: dict[str, Any] = {"name": function.name}
        for key in ("description", "parameters", "strict"):
            value = getattr(function, key, None)
            if value is not None:
                entry[key] = value
        found.append({"type": "function", "function": entry})
    return found


class AllowedTools(str):
    """An `allowed_tools` choice that vLLM takes for its mode, `auto` or `required`.

    Without streaming vLLM asks no tool parser where it does not know the choice, so calls would be lost.
    """

    __slots__ = ("choice",)
    choice: Any  # vLLM's object

    @classmethod
    def of(cls, choice: Any) -> AllowedTools:
        """Made from vLLM's object."""
        made = cls(choice.mode)
        made.choice = choice
        return made


def is_allowed_tools(choice: Any) -> bool:
    """Whether it is vLLM's object of an `allowed_tools` choice."""
    return getattr(choice, "type", None) == "allowed_tools"


def choice_of(request: Any) -> ToolChoice:
    """The request's tool choice in the chat-completions form."""
    choice = getattr(request, "tool_choice", None)
    if isinstance(choice, AllowedTools):
        choice = choice.choice
    if not getattr(request, "tools", None):
        return "none"
    if choice is None:
        return "auto"
    if isinstance(choice, str):
        return cast("ToolChoice", choice)
    if is_allowed_tools(choice):
        allowed = [{"type": "function", "function": {"name": name}} for name in _names(choice.tools)]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": allowed}}
    named = getattr(choice, "function", choice)
    return {"type": "function", "function": {"name": named.name}}


def _names(tools: Iterable[Any]) -> list[str]:
    """The function names in the tool list of an `allowed_tools` choice."""
    names = []
    for tool in tools:
        entry = tool if isinstance(tool, dict) else tool.model_dump()
        if entry.get("type", "function") == "function":
            names.append(entry.get("name") or entry.get("function", {}).get("name", ""))
    return [name for name in names if name]


def previous_calls(request: Any) -> int:
    """How many tool calls the conversation holds already; some dialects number their ids through."""
    items = getattr(request, "messages", None)
    if items is None:
        items = getattr(request, "input", None)
    if not isinstance(items, (list, tuple)):
        return 0
    count = 0
    for item in items:
        if _field(item, "type") == "function_call":
            count += 1
        elif _field(item, "role") == "assistant":
            calls = _field(item, "tool_calls")
            count += len(calls) if isinstance(calls, (list, tuple)) else 0
    return count


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def request_id(request: Any) -> str:
    """vLLM's id of a request, "" where there is none."""
    found = getattr(request, "request_id", None)
    return found if isinstance(found, str) else ""


# Whether the client itself asked for special tokens can be told after the field was changed: it counts as set
# by the client only if that is what the client set.
_SPECIAL = "skip_special_tokens"


def keep_special_tokens(request: Any) -> None:
    """Let special tokens through to the parsers."""
    fields = request.model_fields_set
    asked = _SPECIAL in fields and request.skip_special_tokens is False
    request.skip_special_tokens = False
    if not asked:
        fields.discard(_SPECIAL)


def keeps_special_tokens(request: Any) -> bool:
    """Whether special tokens are in the text for the parsers' sake only."""
    return getattr(request, _SPECIAL, True) is False and _SPECIAL not in request.model_fields_set


def wants_format(request: Any) -> bool:
    """Whether the client constrains the answer itself."""
    extract = getattr(request, "extract_structured_outputs", None)
    if extract is not None:
        return extract() is not None
    return getattr(getattr(request, "text", None), "format", None) is not None
