"""What differs between the vLLM versions that the plugin serves, in one place.

Importing this module imports nothing of vLLM; its functions do.
"""

from __future__ import annotations

import inspect
from functools import cache
from types import ModuleType
from typing import Any

__all__ = ["begin_at_once", "begins_at_once", "can_begin_at_once", "missing_features", "protocol"]


@cache
def protocol() -> ModuleType:
    """The module that defines DeltaMessage and its relatives (it moved in vLLM 0.32)."""
    try:
        import vllm.entrypoints.generate.base.protocol as module
    except ImportError:
        import vllm.entrypoints.openai.engine.protocol as module
    found: ModuleType = module
    return found


_AT_ONCE = ("_grammar_from_parser", "_grammar_from_tool_parser")


def can_begin_at_once(request: Any) -> bool:
    """Whether a request's grammar can begin at the first token, reasoning or not (not for Responses in 0.32)."""
    return any(hasattr(request, attribute) for attribute in _AT_ONCE)


def begin_at_once(request: Any) -> None:
    """Have the request's grammar begin at the first token."""
    for attribute in _AT_ONCE:
        if hasattr(request, attribute):
            setattr(request, attribute, True)


def begins_at_once(request: Any) -> bool:
    """Whether it was told to."""
    return any(getattr(request, attribute, False) is True for attribute in _AT_ONCE)


def missing_features() -> list[str]:
    """What this vLLM lacks of the parser interface that the plugin is written for, in words."""
    from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager

    missing = [
        f"ToolParser.{attribute}"
        for attribute in ("engine_based_streaming", "structural_tag_model", "get_structural_tag")
        if not hasattr(ToolParser, attribute)
    ]
    if not hasattr(ToolParserManager, "register_lazy_module"):
        missing.append("ToolParserManager.register_lazy_module")
    if not missing:
        missing.extend(_missing_in_parser())
    return missing


def _missing_in_parser() -> list[str]:
    """The end of the stream must be told to a tool parser, or what it holds back is lost."""
    try:
        from vllm.parser.abstract_parser import DelegatingParser
    except ImportError as error:
        return [f"DelegatingParser ({error})"]
    if "finished" not in inspect.signature(DelegatingParser.parse_delta).parameters:
        return ["DelegatingParser.parse_delta(finished=...)"]
    return []
