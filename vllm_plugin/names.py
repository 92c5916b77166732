"""The class names under which vLLM imports the parsers, made from the dialects' names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from toolglot.core import list_dialects

__all__ = ["HARMONY", "class_name", "made_on_demand"]

HARMONY = "gpt_oss"  # the dialect that vLLM parses itself where the model's type says so (harmony.py)
Kind = Literal["Tool", "Reasoning"]


def class_name(dialect: str, kind: Kind = "Tool") -> str:
    """`deepseek_v31` -> `ToolglotDeepseekV31ToolParser`."""
    return "Toolglot" + "".join(part[:1].upper() + part[1:] for part in dialect.split("_")) + f"{kind}Parser"


def made_on_demand(module: dict[str, Any], kind: Kind, make: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """A module's `__getattr__`: the class of a dialect is made when vLLM asks for it by name, and kept."""

    def get(name: str) -> Any:
        for dialect in list_dialects():
            if name == class_name(dialect, kind):
                module[name] = made = make(name, dialect)
                return made
        raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")

    return get
