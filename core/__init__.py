"""toolglot.core: one incremental parser for every tool-call dialect. Standard library only."""

from .deltas import ContentDelta, Delta, Message, ReasoningDelta, ToolCall, ToolCallDelta, assemble
from .errors import ConfigurationError, UnknownDialectError
from .registry import get_dialect, list_dialects, register
from .response import ResponseParser, parse, prompt_opens_reasoning
from .spec import Dialect
from .structural import structural_tag

__all__ = [
    "ConfigurationError",
    "ContentDelta",
    "Delta",
    "Dialect",
    "Message",
    "ReasoningDelta",
    "ResponseParser",
    "ToolCall",
    "ToolCallDelta",
    "UnknownDialectError",
    "assemble",
    "get_dialect",
    "list_dialects",
    "parse",
    "prompt_opens_reasoning",
    "register",
    "structural_tag",
]
