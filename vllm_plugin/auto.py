"""The names `toolglot`: classes that, called with a tokenizer, build the parser of the dialect that its model writes.

vLLM builds the parsers once when it starts, so what is not certain is refused there.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from toolglot.core import ConfigurationError
from toolglot.core.serving.auto import choose
from toolglot.core.serving.prompt import has_reasoning
from toolglot.vllm_plugin import reasoning_parser, tool_parser
from toolglot.vllm_plugin.names import class_name

__all__ = ["ToolglotAutoReasoningParser", "ToolglotAutoToolParser"]

logger = logging.getLogger("vllm.toolglot")


class ToolglotAutoToolParser(tool_parser.ToolglotToolParser):
    """Tool calls of whatever dialect it is."""

    structural_tag_model: ClassVar[str] = "toolglot"
    picks_dialect = True

    def __new__(cls, tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
        """An object of the dialect's own class."""
        name = class_name(choose(tokenizer, logger).name, "Tool")
        return getattr(tool_parser, name)(tokenizer, *args, **kwargs)


class ToolglotAutoReasoningParser(reasoning_parser.ToolglotReasoningParser):
    """Reasoning of whatever dialect it is."""

    picks_dialect = True

    def __new__(cls, tokenizer: Any, *args: Any, **kwargs: Any) -> Any:
        """An object of the dialect's own class."""
        dialect = choose(tokenizer, logger)
        if not has_reasoning(dialect):
            raise ConfigurationError(f"dialect {dialect.name!r} has no reasoning; leave --reasoning-parser out")
        return getattr(reasoning_parser, class_name(dialect.name, "Reasoning"))(tokenizer, *args, **kwargs)
