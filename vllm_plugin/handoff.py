"""How the two parsers that vLLM builds for a request become one.

vLLM feeds a reasoning parser until reasoning ends, then a tool parser, and neither knows the other. But it builds
them one right after the other, on one thread, with one tokenizer object: the reasoning parser leaves a handoff,
and a tool parser of the same dialect takes it. Then the whole response goes to the tool parser's core, which
knows reasoning as well, so that reasoning, calls, reasoning and content keep their order.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import ReferenceType, ref

from toolglot.core import Message
from toolglot.vllm_plugin.prompt import Prompt

__all__ = ["Handoff", "offer", "take"]

_last = threading.local()


class Handoff:
    """What the two share: the prompt, and without streaming the parsed message."""

    def __init__(self, dialect: str, tokenizer: Any, prompt: Prompt) -> None:
        self.dialect = dialect
        self.tokenizer = tokenizer
        self.prompt = prompt
        self.taken = False
        self.message: Message | None = None


def offer(handoff: Handoff) -> None:
    """Leave it for the tool parser that is built next. Only the reasoning parser keeps it alive."""
    _last.offered = ref(handoff)


def take(dialect: str, tokenizer: Any) -> Handoff | None:
    """What the reasoning parser built just before has left, if it is of the same dialect."""
    offered: ReferenceType[Handoff] | None = getattr(_last, "offered", None)
    _last.offered = None
    handoff = offered() if offered is not None else None
    if handoff is None or handoff.taken or handoff.dialect != dialect or handoff.tokenizer is not tokenizer:
        return None
    handoff.taken = True
    return handoff
