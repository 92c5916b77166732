"""One response on its way from LMDeploy's chunks to LMDeploy's deltas: the core, what surrounds it, its safety net.

Parsing is driven by text; token ids only say which special tokens to take out, and how long reasoning was. A defect
of ours must not cost a client its response: it is logged once, and the rest of the text goes out as content.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import shortuuid
from lmdeploy.serve.openai.protocol import DeltaMessage

from toolglot.core import ResponseParser
from toolglot.core.deltas import ContentDelta, Delta
from toolglot.core.serving.metrics import Metrics
from toolglot.core.serving.tokens import StrayFilter
from toolglot.core.spec import Dialect
from toolglot.lmdeploy_plugin.tokens import ReasoningCounter

__all__ = ["Response", "new_id"]

logger = logging.getLogger("lmdeploy.toolglot")
metrics = Metrics("lmdeploy", logger)
# The core's own log lines would come once a response, and bypass LMDeploy's logging; see Metrics.report.
logging.getLogger("toolglot").addHandler(logging.NullHandler())

Emitted = tuple[DeltaMessage, bool]


def new_id(name: str, index: int) -> str:
    """An id in LMDeploy's form."""
    return f"chatcmpl-tool-{shortuuid.random()}"


class Response:
    """A response that comes in chunks."""

    def __init__(
        self,
        dialect: Dialect,
        open_core: Callable[[], ResponseParser],
        stray: Mapping[int, str],
        counter: ReasoningCounter | None,
    ) -> None:
        self._dialect = dialect
        self._filter = StrayFilter(stray) if stray else None
        self._counter = counter
        self._core: ResponseParser | None = open_core()
        self._begun = False
        self._over = False

    @property
    def reasoning_tokens(self) -> int | None:
        """Tokens inside reasoning so far; None where they cannot be counted."""
        return None if self._counter is None else self._counter.count

    def feed(self, text: str, ids: Sequence[int], final: bool) -> list[Emitted]:
        """The messages for one chunk, in the model's order, each with whether it holds tool calls."""
        if not self._begun:
            if not (text or ids or final):
                return [(DeltaMessage(role="assistant", content=""), False)]  # the role, ahead of everything
            self._begun = True
        if self._counter is not None:
            self._counter.feed(ids)
        if self._filter is not None:
            text = self._filter.feed(text, ids)
            if final:
                text += self._filter.finish()
        core = self._core
        if core is None or self._over:
            deltas: list[Delta] = [ContentDelta(text)] if text else []
        else:
            try:
                deltas = core.feed(text)
            except Exception as error:
                deltas = self._failed(core, text, error)
        if final:
            deltas += self._ended()
        if len(deltas) == 1:
            return _message(deltas[0])
        return _messages(deltas) if deltas else []

    def _ended(self) -> list[Delta]:
        if self._over or self._core is None:
            return []
        self._over = True
        try:
            deltas = self._core.finish()
            metrics.report(self._dialect.name, self._core.anomalies, self._filter.removed if self._filter else 0)
            return deltas
        except Exception as error:
            return self._failed(self._core, "", error)

    def _failed(self, core: ResponseParser, text: str, error: Exception) -> list[Delta]:
        """After a defect: what the core still holds, as content; the rest of the response is text."""
        self._core = None
        metrics.defect(self._dialect.name, error)
        return core.abandon(text)


def _message(delta: Delta) -> list[Emitted]:
    """The message of one delta, as most chunks have. One constructor makes a whole message, which costs the least."""
    if delta.kind == "content":
        return [(DeltaMessage(role="assistant", content=delta.text), False)]
    if delta.kind == "reasoning":
        return [(DeltaMessage(role="assistant", reasoning_content=delta.text), False)]
    if delta.name is not None or not delta.arguments:
        return _messages([delta])
    call = {"type": None, "index": delta.index, "function": {"arguments": delta.arguments}}
    return [(DeltaMessage(role="assistant", tool_calls=[call]), True)]


def _messages(deltas: Iterable[Delta]) -> list[Emitted]:
    """Neighbouring deltas of calls share a message, as LMDeploy's own do."""
    found: list[Emitted] = []
    calls: list[dict[str, Any]] = []
    for delta in deltas:
        if delta.kind == "tool_call":
            if delta.name is not None:
                function = {"name": delta.name, "arguments": delta.arguments or None}
                calls.append({"id": delta.id, "type": "function", "index": delta.index, "function": function})
            elif delta.arguments:  # else it says only that the call is complete
                calls.append({"type": None, "index": delta.index, "function": {"arguments": delta.arguments}})
            continue
        if calls:
            found.append((DeltaMessage(role="assistant", tool_calls=calls), True))
            calls = []
        found += _message(delta)
    if calls:
        found.append((DeltaMessage(role="assistant", tool_calls=calls), True))
    return found
