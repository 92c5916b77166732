"""One response on its way from LMDeploy's chunks to LMDeploy's deltas: the core, what surrounds it, its safety net.

Parsing is driven by text; token ids only say which special tokens to take out, and how long reasoning was. A defect
of ours must not cost a client its response: it is logged once, and the rest of the text goes out as content.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence

import shortuuid
from lmdeploy.serve.openai.protocol import DeltaFunctionCall, DeltaMessage, DeltaToolCall

from toolglot.core import ResponseParser
from toolglot.core.deltas import ContentDelta, Delta, ToolCallDelta
from toolglot.core.serving.metrics import Metrics
from toolglot.core.serving.moulds import mould
from toolglot.core.serving.tokens import StrayFilter
from toolglot.core.spec import Dialect
from toolglot.lmdeploy_plugin.tokens import ReasoningCounter

__all__ = ["Response", "new_id"]

logger = logging.getLogger("lmdeploy.toolglot")
metrics = Metrics("lmdeploy", logger)
# The core's own log lines would come once a response, and bypass LMDeploy's logging; see Metrics.report.
logging.getLogger("toolglot").addHandler(logging.NullHandler())

Emitted = tuple[DeltaMessage, bool]

_alphabet = shortuuid.get_alphabet().encode("ascii")
_LETTERS = bytes(_alphabet[number % len(_alphabet)] for number in range(256))


def new_id(name: str, index: int) -> str:
    """An id in LMDeploy's form. shortuuid.random() asks the system for each letter, which costs more than a call."""
    return f"chatcmpl-tool-{os.urandom(22).translate(_LETTERS).decode('ascii')}"


class Response:
    """A response that comes in chunks."""

    def __init__(
        self,
        dialect: Dialect,
        core: ResponseParser,
        stray: Mapping[int, str],
        counter: ReasoningCounter | None,
    ) -> None:
        self._dialect = dialect
        self._filter = StrayFilter(stray) if stray else None
        self._counter = counter
        self._core: ResponseParser | None = core
        self.begun = False  # there was text

    @property
    def reasoning_tokens(self) -> int | None:
        """Tokens inside reasoning so far; None where they cannot be counted."""
        return None if self._counter is None else self._counter.count

    def feed(self, text: str, ids: Sequence[int], final: bool) -> list[Emitted]:
        """The messages for one chunk, in the model's order, each with whether it holds tool calls."""
        if not self.begun:
            if not (text or ids or final):
                return [(DeltaMessage(role="assistant", content=""), False)]  # the role, ahead of everything
            self.begun = True
        if self._counter is not None:
            self._counter.feed(ids)
        if self._filter is not None:
            text = self._filter.feed(text, ids)
            if final:
                text += self._filter.finish()
        core = self._core
        if core is None:
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
        core, self._core = self._core, None
        if core is None:
            return []
        try:
            deltas = core.finish()
            metrics.report(self._dialect.name, core.anomalies, self._filter.removed if self._filter else 0)
            return deltas
        except Exception as error:
            return self._failed(core, "", error)

    def _failed(self, core: ResponseParser, text: str, error: Exception) -> list[Delta]:
        """After a defect: what the core still holds, as content; the rest of the response is text."""
        self._core = None
        metrics.defect(self._dialect.name, error)
        return core.abandon(text)


_identity = DeltaFunctionCall(name="x", arguments=None)
_arguments = DeltaFunctionCall(arguments="x")
_opening = DeltaToolCall(id="x", type="function", index=0, function=_identity)
_piece = DeltaToolCall(type=None, index=0, function=_arguments)
_content_message = mould(DeltaMessage(role="assistant", content="x"), "content")
_reasoning_message = mould(DeltaMessage(role="assistant", reasoning_content="x"), "reasoning_content")
_calls_message = mould(DeltaMessage(role="assistant", tool_calls=[_piece]), "tool_calls")
_new_opening, _new_identity = mould(_opening, "id", "index", "function"), mould(_identity, "name", "arguments")
_new_piece, _new_arguments = mould(_piece, "index", "function"), mould(_arguments, "arguments")


def _call(delta: ToolCallDelta) -> DeltaToolCall | None:
    """A call's first entry, or one of more arguments; None for a delta that says only that the call is complete."""
    if delta.name is not None:
        return _new_opening(delta.id, delta.index, _new_identity(delta.name, delta.arguments or None))
    return _new_piece(delta.index, _new_arguments(delta.arguments)) if delta.arguments else None


def _message(delta: Delta) -> list[Emitted]:
    """The message of one delta, as most chunks have."""
    if delta.kind == "content":
        return [(_content_message(delta.text), False)]
    if delta.kind == "reasoning":
        return [(_reasoning_message(delta.text), False)]
    call = _call(delta)
    return [(_calls_message([call]), True)] if call is not None else []


def _messages(deltas: Iterable[Delta]) -> list[Emitted]:
    """Neighbouring deltas of calls share a message, as LMDeploy's own do."""
    found: list[Emitted] = []
    calls: list[DeltaToolCall] = []
    for delta in deltas:
        if delta.kind == "tool_call":
            call = _call(delta)
            if call is not None:
                calls.append(call)
            continue
        if calls:
            found.append((_calls_message(calls), True))
            calls = []
        found += _message(delta)
    if calls:
        found.append((_calls_message(calls), True))
    return found
