"""gpt-oss in vLLM: for a model of that type vLLM parses with its own HarmonyParser, by token ids.

HarmonyParser takes parser classes only to see whether there are any, and refuses those that do not derive from its
GptOss ones. Ours derive from them, so that the names `toolglot_gpt_oss` work there; then what vLLM asks of them (the
grammar, where reasoning ends) is answered as its own would, since its grammar fits its parser. With any other model
type they are toolglot's parsers like those of every dialect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vllm.reasoning.gptoss_reasoning_parser import GptOssReasoningParser
from vllm.tool_parsers.gptoss_tool_parser import GptOssToolParser

__all__ = ["reasoning_class", "tool_class"]

# What HarmonyParser and the engine ask of the two.
_ASKED = {
    GptOssToolParser: ("adjust_request", "get_structural_tag"),
    GptOssReasoningParser: (
        "adjust_request",
        "is_reasoning_end",
        "is_reasoning_end_streaming",
        "extract_content_ids",
        "count_reasoning_tokens",
    ),
}


def _is_guest(made: type[Any]) -> bool:
    """Whether vLLM has given the class to its HarmonyParser."""
    from vllm.parser.harmony import HarmonyParser

    guests = (HarmonyParser.tool_parser_cls, HarmonyParser.reasoning_parser_cls)
    return made in guests or any(getattr(guest, "picks_dialect", False) for guest in guests)


def tool_class(name: str, ours: type[Any], namespace: dict[str, Any]) -> type[Any]:
    """A tool parser of ours that HarmonyParser takes."""
    key = getattr(GptOssToolParser, "structural_tag_model", None)  # names vLLM's own grammar
    return _class(name, ours, GptOssToolParser, {**namespace, "structural_tag_model": key})


def reasoning_class(name: str, ours: type[Any], namespace: dict[str, Any]) -> type[Any]:
    """A reasoning parser of ours that HarmonyParser takes."""
    return _class(name, ours, GptOssReasoningParser, namespace)


def _class(name: str, ours: type[Any], theirs: type[Any], namespace: dict[str, Any]) -> type[Any]:
    answers = {asked: _answer(asked, ours, theirs) for asked in _ASKED[theirs] if hasattr(theirs, asked)}
    return type(name, (ours, theirs), {**namespace, **answers})


def _answer(asked: str, ours: type[Any], theirs: type[Any]) -> Callable[..., Any]:
    def answer(self: Any, *arguments: Any, **named: Any) -> Any:
        owner = theirs if _is_guest(type(self)) else ours
        return getattr(owner, asked)(self, *arguments, **named)

    answer.__name__ = asked
    return answer
