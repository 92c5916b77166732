"""toolglot in vLLM: every dialect as a tool parser named `toolglot_<dialect>`.

vLLM loads this through the entry point `toolglot` of group `vllm.general_plugins`, in each of its
processes, so nothing is imported here beyond what registration needs, and nothing may raise: an exception
would stop the server for every model, also for those that do not use toolglot.

The plugin was run against vLLM 0.32.0. It asks for features, not for a version; the oldest version that has
them all is 0.24.
"""

from __future__ import annotations

import logging

__all__ = ["register"]

logger = logging.getLogger("vllm.toolglot")

PREFIX = "toolglot_"
_MODULE = "toolglot.vllm_plugin.tool_parser"


def register() -> None:
    """Register the tool parsers, lazily: their module is imported when one of them is selected."""
    try:
        _register()
    except Exception:
        logger.exception("toolglot: no tool parser was registered")


def _register() -> None:
    from toolglot.core import list_dialects
    from toolglot.vllm_plugin.compat import missing_features
    from toolglot.vllm_plugin.names import class_name

    try:
        from vllm.tool_parsers.abstract_tool_parser import ToolParserManager
    except ImportError as error:
        logger.error("toolglot: this vLLM has no vllm.tool_parsers (%s); vLLM 0.24 or newer is needed", error)
        return
    missing = missing_features()
    if missing:
        logger.error(
            "toolglot: no tool parser was registered, this vLLM lacks %s; vLLM 0.24 or newer is needed",
            ", ".join(missing),
        )
        return
    taken = set(ToolParserManager.list_registered())
    ours = getattr(ToolParserManager, "lazy_parsers", {})
    for dialect in list_dialects():
        name = PREFIX + dialect
        entry = (_MODULE, class_name(dialect))
        if name not in taken:
            ToolParserManager.register_lazy_module(name, *entry)
        elif ours.get(name) != entry:
            logger.warning("toolglot: the tool parser name %s is taken and stays as it is", name)
