"""toolglot in vLLM: every dialect as a tool parser and a reasoning parser named `toolglot_<dialect>`, and `toolglot`.

vLLM loads this through the entry point `toolglot` of group `vllm.general_plugins`, in each of its
processes, so nothing is imported here beyond what registration needs, and nothing may raise: an exception
would stop the server for every model, also for those that do not use toolglot.

The plugin asks for features, not for a version; the oldest version that has them all is 0.24. docs/vllm.md says
which versions it was run against.
"""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["register"]

logger = logging.getLogger("vllm.toolglot")

PREFIX = "toolglot_"
AUTO = "toolglot"  # picks the dialect
_MODULES = {"Tool": "toolglot.vllm_plugin.tool_parser", "Reasoning": "toolglot.vllm_plugin.reasoning_parser"}
# vLLM looks at these names itself, whatever class they stand for.
_SPECIAL_NAMES = frozenset({"kimi_k3", "cohere_command3", "cohere_command4", "minicpmv", "hf", "none"})


def register() -> None:
    """Register the parsers, lazily: their modules are imported when one of them is selected."""
    try:
        _register()
    except Exception:
        logger.exception("toolglot: no parser was registered, or not all of them")


def _register() -> None:
    from toolglot.core.serving.settings import current
    from toolglot.vllm_plugin.compat import missing_features

    try:
        from vllm.reasoning import ReasoningParserManager
        from vllm.tool_parsers.abstract_tool_parser import ToolParserManager
    except ImportError as error:
        logger.error("toolglot: this vLLM cannot load parsers (%s); vLLM 0.24 or newer is needed", error)
        return
    missing = missing_features()
    if missing:
        logger.error(
            "toolglot: no parser was registered, this vLLM lacks %s; vLLM 0.24 or newer is needed",
            ", ".join(missing),
        )
        return
    for problem in current().problems:
        logger.error("toolglot: %s", problem)
    _register_kind("Tool", ToolParserManager, "tool_parsers")
    _register_kind("Reasoning", ReasoningParserManager, "reasoning_parsers")


def _register_kind(kind: Any, manager: Any, eager: str) -> None:
    from toolglot.core import get_dialect, list_dialects
    from toolglot.core.serving.prompt import has_reasoning
    from toolglot.core.serving.settings import current
    from toolglot.vllm_plugin.names import class_name

    taken = set(manager.list_registered())
    lazy = getattr(manager, "lazy_parsers", {})
    entries = {AUTO: (f"{__name__}.auto", class_name("auto", kind))}
    for dialect in list_dialects():
        if kind == "Tool" or has_reasoning(get_dialect(dialect)):
            entries[PREFIX + dialect] = (_MODULES[kind], class_name(dialect, kind))
    for name, entry in entries.items():
        if name not in taken:
            manager.register_lazy_module(name, *entry)
        elif lazy.get(name) != entry:
            logger.warning("toolglot: the %s parser name %s is taken and stays as it is", kind.lower(), name)
    for name, dialect in current().replace.items():
        if name not in taken or (kind == "Reasoning" and not has_reasoning(get_dialect(dialect))):
            continue
        if name in _SPECIAL_NAMES:
            logger.error("toolglot: TOOLGLOT_REPLACE: vLLM does not let %s be replaced", name)
            continue
        entry = (_MODULES[kind], class_name(dialect, kind))
        if lazy.get(name) != entry:
            getattr(manager, eager).pop(name, None)
            manager.register_lazy_module(name, *entry)
            logger.info("toolglot: %s parser %s is toolglot's %s now", kind.lower(), name, dialect)
