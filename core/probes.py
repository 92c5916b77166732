"""What a model's chat template makes of known tool calls: the text a dialect has to read back.

A template writes the calls of earlier turns as the model is meant to write them. So an assistant message with calls is
rendered, the part in front of generation and the end of the turn are cut off, and what is left is a response whose
meaning is known. Templates differ in the form of a message that they take; several are tried.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .chat_template import Render

__all__ = ["ONE", "SAID", "THINKING", "TOOLS", "Probe", "Probes", "probe"]

SAID = "I will look that up."
THINKING = "reasoning"  # the kind that may come without
THOUGHT = "Both of them are needed."
USER = {"role": "user", "content": "Please look it up."}


def _tool(name: str, text: str, count: str) -> dict[str, Any]:
    types = {text: "string", count: "integer"}
    properties = {key: {"type": type_, "description": f"The {key}."} for key, type_ in types.items()}
    parameters = {"type": "object", "properties": properties, "required": [text]}
    return {"type": "function", "function": {"name": name, "description": f"Do {name}.", "parameters": parameters}}


TOOLS = [_tool("look_up", "query", "limit"), _tool("write_note", "text", "line")]
ONE = (("look_up", {"query": "Rome, Italy", "limit": 3}),)
TWO = (*ONE, ("write_note", {"text": "two words", "line": 12}))
BLANKS = (("write_note", {"text": "\n  two\n\n", "line": 12}),)

Calls = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True)
class Probe:
    """One rendered response.

    ``header`` is what stands in front of it in its turn, the generation prompt; ``end`` what the template writes behind
    it, as far as that can be told. ``thought`` was handed over as reasoning, and the template shows it.
    """

    kind: str
    calls: Calls
    header: str
    text: str
    end: str = ""
    thought: str = ""


@dataclass(frozen=True)
class Probes:
    """``groups``: each kind of message and its renderings; ``generation``: the end of a prompt; ``error``: the first
    refusal of the template."""

    groups: tuple[tuple[str, tuple[Probe, ...]], ...] = ()
    generation: str = ""
    error: str = ""

    @property
    def written(self) -> tuple[tuple[Probe, ...], ...]:
        """The groups that hold something."""
        return tuple(group for _, group in self.groups if group)


def probe(render: Render) -> Probes:
    """Render every kind of message. Never raises."""
    try:
        base = render([USER], TOOLS, False)
        generation = render([USER], TOOLS, True)
    except Exception as problem:
        return Probes(error=_said(problem))
    error = ""
    groups = []
    tail = _tail(render)
    for kind, calls, said, thought in (
        ("one call", ONE, "", ""),
        ("text and two calls", TWO, SAID, ""),
        ("blanks in a value", BLANKS, "", ""),
        (THINKING, ONE, "", THOUGHT),
    ):
        found: dict[tuple[str, str], Probe] = {}
        for message in _messages(calls, said, thought):
            try:
                full = render([USER, message], TOOLS, False)
            except Exception as problem:
                error = error or _said(problem)
                continue
            header, text = _parts(base, generation, full)
            size = _size_without(text, tail)
            text, end = text[:size], text[size:]
            if all(name in text for name, _ in calls):  # some templates write one call only, some write none
                shown = thought if thought in text else ""
                found.setdefault((header, text), Probe(kind, calls, header, text, end, shown))
        groups.append((kind, tuple(found.values())))
    return Probes(tuple(groups), generation, error)


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _messages(calls: Calls, said: str, thought: str) -> Iterator[dict[str, Any]]:
    """The same message in the forms that templates expect: arguments as an object or as JSON, ids of two kinds."""
    for as_text, ids in itertools.product((False, True), ("a1b2c3d4{index}", "functions.{name}:{index}")):
        listed = [
            {
                "id": ids.format(name=name, index=index),
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments) if as_text else arguments},
            }
            for index, (name, arguments) in enumerate(calls)
        ]
        message: dict[str, Any] = {"role": "assistant", "content": said, "tool_calls": listed}
        if thought:
            message |= {"reasoning_content": thought, "reasoning": thought, "thinking": thought}
        yield message


def _tail(render: Render) -> str:
    """What the template writes behind a plain answer."""
    try:
        return render([USER, {"role": "assistant", "content": SAID}], TOOLS, False).rpartition(SAID)[2]
    except Exception:
        return ""


def _common(*texts: str) -> int:
    return len(os.path.commonprefix(texts))  # noqa: RUF071 (characters are meant)


def _parts(base: str, generation: str, full: str) -> tuple[str, str]:
    """The turn's header and the response in ``full``.

    A generation prompt may open a reasoning block that the history does not show: then the texts part inside a tag.
    """
    start = _common(base, full)
    end = _common(generation, full)
    if end < len(generation):
        tag = re.search(r"[<\[][^<>\[\]\s]*$", full[start:end])
        if tag is not None:
            end = start + tag.start()
    end = max(start, end)
    return full[start:end], full[end:]


def _size_without(text: str, tail: str) -> int:
    """The size of a response without the end of its turn, which begins with a tag."""
    start = len(text) - _common(text[::-1], tail[::-1])
    tag = re.search(r"[<\[]", text[start:])
    return len(text) if tag is None else start + tag.start()
