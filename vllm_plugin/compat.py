"""What differs between the vLLM versions that the plugin serves, in one place.

Importing this module imports nothing of vLLM; its functions do.
"""

from __future__ import annotations

import inspect
from functools import cache
from types import ModuleType
from typing import Any

__all__ = ["constrain_from_the_start", "missing_features", "protocol"]


@cache
def protocol() -> ModuleType:
    """The module that defines DeltaMessage and its relatives (it moved in vLLM 0.32)."""
    try:
        import vllm.entrypoints.generate.base.protocol as module
    except ImportError:
        import vllm.entrypoints.openai.engine.protocol as module
    found: ModuleType = module
    return found


def constrain_from_the_start(request: Any) -> bool:
    """Have a request's grammar begin at the first token, reasoning or not. False where vLLM cannot."""
    for attribute in ("_grammar_from_parser", "_grammar_from_tool_parser"):
        if hasattr(request, attribute):
            setattr(request, attribute, True)
            return True
    return False


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
