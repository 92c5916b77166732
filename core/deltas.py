"""Deltas: what the parser emits, and how they add up to a message.

A response is a list of deltas in the model's own order. A text delta carries a piece of content or of
reasoning. Tool-call deltas of one call share an index: the first carries id and name, later ones carry
pieces of the arguments, the last one says whether the call was finished. Calls never interleave.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

__all__ = ["ContentDelta", "Delta", "Message", "Output", "ReasoningDelta", "ToolCall", "ToolCallDelta", "assemble"]


@dataclass(slots=True)
class ContentDelta:
    """A piece of the text meant for the user."""

    text: str
    kind: ClassVar[Literal["content"]] = "content"


@dataclass(slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning."""

    text: str
    kind: ClassVar[Literal["reasoning"]] = "reasoning"


@dataclass(slots=True)
class ToolCallDelta:
    """A piece of one tool call.

    ``index`` counts the calls of the response from 0. ``id`` and ``name`` are set on the call's first
    delta only. ``arguments`` is a piece of JSON text, or None where the delta carries none. ``complete``
    is True on the last delta of a call that was finished; a call without such a delta was cut.
    """

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str | None = None
    complete: bool = False
    kind: ClassVar[Literal["tool_call"]] = "tool_call"


Delta = ContentDelta | ReasoningDelta | ToolCallDelta


@dataclass(slots=True)
class ToolCall:
    """One assembled call. ``arguments`` is JSON text as the model wrote it; ``complete`` is False when the
    input ended inside the call, so that a program can refuse to run it."""

    id: str
    name: str
    arguments: str = ""
    complete: bool = False


@dataclass(slots=True)
class Message:
    """A whole response. Content and reasoning are joined in order; None stands for none at all."""

    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)


def assemble(deltas: Iterable[Delta]) -> Message:
    """Join the deltas of one response. The order between channels is not kept.

    Raises ValueError when an argument delta comes before its call's identity, which no parser of this
    package emits.
    """
    texts: dict[str, list[str]] = {"content": [], "reasoning": []}
    calls: list[ToolCall] = []
    arguments: list[list[str]] = []
    for delta in deltas:
        if not isinstance(delta, ToolCallDelta):
            texts[delta.kind].append(delta.text)
            continue
        if delta.name is not None:
            calls.append(ToolCall(delta.id or "", delta.name))
            arguments.append([])
        if delta.index >= len(calls):
            raise ValueError(f"tool-call delta of index {delta.index} comes before its call's name")
        if delta.arguments:
            arguments[delta.index].append(delta.arguments)
        if delta.complete:
            calls[delta.index].complete = True
    for call, pieces in zip(calls, arguments, strict=True):
        call.arguments = "".join(pieces)
    return Message("".join(texts["content"]) or None, "".join(texts["reasoning"]) or None, calls)


class Output:
    """The deltas of the feed in progress. Neighbouring pieces of one channel or call become one delta.

    ``visible`` says whether anything was emitted in the whole response, which decides if dropped text has
    to be given back (docs/rules.md, dropped calls).
    """

    __slots__ = ("_channel", "_deltas", "_pieces", "visible")

    def __init__(self) -> None:
        self._deltas: list[Delta] = []
        self._channel: str | int = ""  # "content", "reasoning", or the index of the open call
        self._pieces: list[str] = []
        self.visible = False

    def text(self, channel: str | int, text: str) -> None:
        """Add text of a channel, or arguments of the call with that index."""
        if channel != self._channel:
            self._flush()
            self._channel = channel
        self._pieces.append(text)
        self.visible = True

    def call(self, delta: ToolCallDelta) -> None:
        """Add the identity of a call."""
        self._flush()
        self._deltas.append(delta)
        self.visible = True

    def end(self, index: int) -> None:
        """Mark the call as finished, on its last argument delta where that is still here."""
        joined = bool(self._pieces) and self._channel == index
        self._flush()
        last = self._deltas[-1] if self._deltas else None
        if joined and isinstance(last, ToolCallDelta):
            last.complete = True
        else:
            self._deltas.append(ToolCallDelta(index, complete=True))

    def _flush(self) -> None:
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces = []
        channel = self._channel
        if channel == "content":
            self._deltas.append(ContentDelta(text))
        elif channel == "reasoning":
            self._deltas.append(ReasoningDelta(text))
        else:
            assert isinstance(channel, int)
            self._deltas.append(ToolCallDelta(channel, arguments=text))

    def take(self) -> list[Delta]:
        """The deltas since the last take."""
        self._flush()
        deltas = self._deltas
        self._deltas = []
        return deltas
