"""`toolglot doctor` for LMDeploy: the entry points that torch calls, which names are registered, and what hides them.

It looks, it changes nothing. Every finding is one line; a line that begins with `!` is a problem.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distributions
from importlib.util import find_spec

from toolglot.core import list_dialects
from toolglot.core.serving.doctor import report, version_of

__all__ = ["findings", "main"]

DISTRIBUTION = "lmdeploy"
GROUP = "torch.backends"
NAME = "toolglot"
RECOVERY = "TORCH_DEVICE_BACKEND_AUTOLOAD=0 python -m pip install --force-reinstall --no-deps toolglot"
EXPLICIT = "then only `python -m toolglot.lmdeploy_plugin serve ...` has toolglot's parsers"
OFF = ("0", "off", "false", "no")


def findings() -> Iterator[str]:
    """The findings, one by one."""
    yield from _entries()
    found = version_of(DISTRIBUTION)
    if found is None:
        yield "LMDeploy: not installed in this environment"
        return
    yield f"LMDeploy: lmdeploy {found}; toolglot {version_of(NAME) or 'not installed as a package'}"
    yield from _loading()
    yield from _names()


def _declared() -> list[tuple[EntryPoint, str]]:
    """Every entry point that torch may call, with the place of its metadata.

    What a build leaves in a checkout, which has no METADATA, is on the path only while Python runs there: left out.
    """
    return [
        (point, f"{distribution.metadata['Name']} in {distribution.locate_file('')}")
        for distribution in distributions()
        if distribution.read_text("METADATA") is not None
        for point in distribution.entry_points
        if point.group == GROUP
    ]


def _entries() -> Iterator[str]:
    """A target that is gone makes `import torch` fail in every program, LMDeploy installed or not."""
    for point, owner in _declared():
        module = point.value.partition(":")[0]
        try:
            there = find_spec(module) is not None
        except (ImportError, ValueError):
            there = False
        if not there:
            yield f"! `import torch` fails: {point.name} = {point.value} of {owner} leads nowhere. Recover: {RECOVERY}"
        elif point.name == NAME:
            try:
                point.load()
            except Exception as error:
                yield f"! `import torch` fails: {point.value} of {owner}: {error}. Recover: {RECOVERY}"


def _loading() -> Iterator[str]:
    """Whether torch will call the entry point."""
    ours = [owner for point, owner in _declared() if point.name == NAME]
    if not ours:
        yield f"! no entry point {NAME!r} in {GROUP}: install toolglot as a package"
    if len(ours) > 1:
        yield f"! toolglot is installed {len(ours)} times: {'; '.join(ours)}"
    torch = version_of("torch")
    if torch is not None and tuple(map(int, torch.split("+")[0].split(".")[:2])) < (2, 5):
        yield f"! torch {torch} calls no entry points (2.5 does); {EXPLICIT}"
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == "0":
        yield f"! TORCH_DEVICE_BACKEND_AUTOLOAD=0: torch calls no entry points; {EXPLICIT}"
    if os.environ.get("TOOLGLOT_LMDEPLOY_AUTOLOAD", "").strip().lower() in OFF:
        yield f"! TOOLGLOT_LMDEPLOY_AUTOLOAD is off; {EXPLICIT}"


def _names() -> Iterator[str]:
    """What is registered, under which names, and by whom."""
    from toolglot.lmdeploy_plugin import register

    try:
        register()
        from lmdeploy.serve.parsers import ResponseParserManager
        from lmdeploy.serve.parsers.reasoning_parser import ReasoningParserManager
        from lmdeploy.serve.parsers.tool_parser import ToolParserManager

        from toolglot.lmdeploy_plugin.parsers import PREFIX
    except Exception as error:
        yield f"! {error}"
        return
    for option, registry in (("--tool-call-parser", ToolParserManager), ("--reasoning-parser", ReasoningParserManager)):
        entries = {name: str(found.__module__) for name, found in registry.module_dict.items()}
        yield f"{option}: {', '.join(sorted(name for name, of in entries.items() if of.startswith('toolglot.')))}"
        for dialect in list_dialects():
            owner = entries.get(PREFIX + dialect, "toolglot.")
            if not owner.startswith("toolglot."):
                yield f"! {option} {PREFIX}{dialect} belongs to {owner}"
    for place in ("default", "gpt-oss"):
        parser = ResponseParserManager.module_dict[place]
        if not hasattr(parser, "place"):
            yield f"! the response parser {place!r} belongs to {parser.__module__}: it will not use toolglot's parsers"


def main() -> int:
    """Print the findings; the exit status is 1 if there is a problem."""
    return report(findings())
