"""Putting toolglot's parsers into LMDeploy's registries."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["register_all"]

logger = logging.getLogger("lmdeploy.toolglot")

NEEDED = "LMDeploy 0.18 or newer is needed"


def register_all() -> None:
    """Register every dialect, and the response parser. Raises ImportError where this LMDeploy cannot serve it.

    A second call does nothing. A name that somebody else has taken stays as it is.
    """
    parsers = _engine()
    from toolglot.core import get_dialect, list_dialects
    from toolglot.core.serving.auto import AUTO
    from toolglot.core.serving.prompt import has_reasoning
    from toolglot.lmdeploy_plugin.parsers import (
        PREFIX,
        ToolglotReasoningParser,
        ToolglotToolParser,
        make_reasoning_parser,
        make_tool_parser,
    )
    from toolglot.lmdeploy_plugin.response_parser import in_place_of

    _add(parsers.ToolParserManager, AUTO, ToolglotToolParser)
    _add(parsers.ReasoningParserManager, AUTO, ToolglotReasoningParser)
    for dialect in list_dialects():
        _add(parsers.ToolParserManager, PREFIX + dialect, make_tool_parser(dialect))
        if has_reasoning(get_dialect(dialect)):
            _add(parsers.ReasoningParserManager, PREFIX + dialect, make_reasoning_parser(dialect))
    for place in ("default", "gpt-oss"):
        own = parsers.ResponseParserManager.module_dict.get(place)
        if own is None or not hasattr(own, "place"):
            module = in_place_of(own, place)
            parsers.ResponseParserManager.register_module(place, force=True, module=module)


class _Engine:
    """LMDeploy's three registries."""

    ToolParserManager: Any
    ReasoningParserManager: Any
    ResponseParserManager: Any


def _engine() -> _Engine:
    try:
        from lmdeploy.serve.parsers import ResponseParserManager
        from lmdeploy.serve.parsers.reasoning_parser import ReasoningParserManager
        from lmdeploy.serve.parsers.tool_parser import ToolParser, ToolParserManager
    except ImportError as error:
        raise ImportError(f"LMDeploy's parsers cannot be imported ({error}); {NEEDED}") from error
    if not hasattr(ToolParser, "feed_tool_block"):
        raise ImportError(f"this LMDeploy lacks ToolParser.feed_tool_block; {NEEDED}")
    engine = _Engine()
    engine.ToolParserManager = ToolParserManager
    engine.ReasoningParserManager = ReasoningParserManager
    engine.ResponseParserManager = ResponseParserManager
    return engine


def _add(registry: Any, name: str, module: type[Any]) -> None:
    there = registry.module_dict.get(name)
    if there is None:
        registry.register_module(name, module=module)
    elif there is not module:
        logger.warning("toolglot: the name %s is taken in LMDeploy's %s and stays as it is", name, registry.name)
