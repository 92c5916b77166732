"""The class names under which vLLM imports the tool parsers, made from the dialects' names."""

from __future__ import annotations

__all__ = ["class_name"]


def class_name(dialect: str) -> str:
    """`deepseek_v31` -> `ToolglotDeepseekV31ToolParser`."""
    return "Toolglot" + "".join(part[:1].upper() + part[1:] for part in dialect.split("_")) + "ToolParser"
