"""From the core's deltas to vLLM's DeltaMessage, one per engine step.

The consumers of a DeltaMessage read its fields in a fixed order: reasoning, content, tool calls. So one
message may carry text and then calls, never text that comes after a call: that waits for the next step. The
rule matters most for the end of a call that is open already: together with text it would be lost (Messages
API) or torn off (Responses API). Only the last message of a stream has to take all that is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from toolglot.core.serving.moulds import mould
from toolglot.vllm_plugin.compat import protocol

__all__ = ["Outbox"]

_RANK = {"reasoning": 0, "content": 1, "tool_call": 2}


class _Moulds(NamedTuple):
    """How the messages are made: of a text and no calls, of calls; a call's first entry, and one of more arguments."""

    content: Callable[..., Any]
    reasoning: Callable[..., Any]
    calls: Callable[..., Any]
    opening: Callable[..., Any]
    identity: Callable[..., Any]
    piece: Callable[..., Any]
    arguments: Callable[..., Any]


@cache
def _moulds() -> _Moulds:
    engine = protocol()
    identity = engine.DeltaFunctionCall(name="x", arguments="")
    opening = engine.DeltaToolCall(index=0, id="x", type="function", function=identity)
    arguments = engine.DeltaFunctionCall(arguments="x")
    piece = engine.DeltaToolCall(index=0, function=arguments)
    return _Moulds(
        content=mould(engine.DeltaMessage(content="x"), "content", "tool_calls"),
        reasoning=mould(engine.DeltaMessage(reasoning="x"), "reasoning", "tool_calls"),
        calls=mould(engine.DeltaMessage(tool_calls=[piece]), "tool_calls"),
        opening=mould(opening, "index", "id", "function"),
        identity=mould(identity, "name", "arguments"),
        piece=mould(piece, "index", "function"),
        arguments=mould(arguments, "arguments"),
    )


class Outbox:
    """Deltas on their way to the client, in the model's order."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._moulds = _moulds()

    def step(self, deltas: Sequence[Any]) -> Any | None:
        """Add what the core emitted in one step; the next message: as much as one can carry in this order."""
        if not self._waiting:
            if not deltas:
                return None
            if len(deltas) == 1:
                return self._single(deltas[0])
        self.put(deltas)
        return self._build(self._next_run())

    def put(self, deltas: Sequence[Any]) -> None:
        """Add what the core emitted."""
        for delta in deltas:
            if delta.kind != "tool_call" or delta.name is not None or delta.arguments:
                self._waiting.append(delta)

    def rest(self) -> Any | None:
        """All that is left, for the last message of a stream."""
        everything = list(self._waiting)
        self._waiting.clear()
        return self._build(everything)

    def _single(self, delta: Any) -> Any | None:
        """A message of one delta, as most are."""
        moulds = self._moulds
        if delta.kind == "content":
            return moulds.content(delta.text, [])
        if delta.kind == "reasoning":
            return moulds.reasoning(delta.text, [])
        if delta.name is not None:
            return moulds.calls([self._opening(delta)])
        return moulds.calls([self._piece(delta)]) if delta.arguments else None

    def _piece(self, delta: Any) -> Any:
        """More arguments of the open call."""
        moulds = self._moulds
        return moulds.piece(delta.index, moulds.arguments(delta.arguments))

    def _next_run(self) -> list[Any]:
        run: list[Any] = []
        rank = 0
        while self._waiting and _RANK[self._waiting[0].kind] >= rank:
            rank = _RANK[self._waiting[0].kind]
            run.append(self._waiting.popleft())
        return run

    def _build(self, deltas: list[Any]) -> Any | None:
        if not deltas:
            return None
        texts: dict[str, str] = {}
        calls: list[Any] = []
        for delta in deltas:
            if delta.kind != "tool_call":
                texts[delta.kind] = texts.get(delta.kind, "") + delta.text
            elif delta.name is not None:
                calls.append(self._opening(delta))
            else:
                self._append(calls, delta)
        message = self._moulds.calls(calls) if calls else protocol().DeltaMessage()
        if "content" in texts:
            message.content = texts["content"]
        if "reasoning" in texts:
            message.reasoning = texts["reasoning"]
        return message

    def _opening(self, delta: Any) -> Any:
        """The first delta of a call: the only one with id, type and name."""
        moulds = self._moulds
        return moulds.opening(delta.index, delta.id, moulds.identity(delta.name, delta.arguments or ""))

    def _append(self, calls: list[Any], delta: Any) -> None:
        """A piece of arguments: more of the entry before it if that is the same call's, else its own entry.

        One entry a call and message: some clients look at the first one only.
        """
        if calls and calls[-1].index == delta.index:
            calls[-1].function.arguments += delta.arguments
            return
        calls.append(self._piece(delta))
