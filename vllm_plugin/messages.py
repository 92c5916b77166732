"""From the core's deltas to vLLM's DeltaMessage, one per engine step.

The consumers of a DeltaMessage read its fields in a fixed order: reasoning, content, tool calls. So one
message may carry text and then calls, never text that comes after a call: that waits for the next step. The
rule matters most for the end of a call that is open already: together with text it would be lost (Messages
API) or torn off (Responses API). Only the last message of a stream has to take all that is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from toolglot.vllm_plugin.compat import protocol

__all__ = ["Outbox"]

_RANK = {"reasoning": 0, "content": 1, "tool_call": 2}


class Outbox:
    """Deltas on their way to the client, in the model's order."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._protocol = protocol()

    def put(self, deltas: Iterable[Any]) -> None:
        """Add what the core emitted."""
        for delta in deltas:
            if delta.kind != "tool_call" or delta.name is not None or delta.arguments:
                self._waiting.append(delta)

    def message(self) -> Any | None:
        """The next message: as many deltas as one message can carry without changing their order."""
        return self._build(self._next_run())

    def rest(self) -> Any | None:
        """All that is left, for the last message of a stream."""
        everything = list(self._waiting)
        self._waiting.clear()
        return self._build(everything)

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
        message = self._protocol.DeltaMessage(tool_calls=calls)
        if "content" in texts:
            message.content = texts["content"]
        if "reasoning" in texts:
            message.reasoning = texts["reasoning"]
        return message

    def _opening(self, delta: Any) -> Any:
        """The first delta of a call: the only one with id, type and name."""
        function = self._protocol.DeltaFunctionCall(name=delta.name, arguments=delta.arguments or "")
        return self._protocol.DeltaToolCall(index=delta.index, id=delta.id, type="function", function=function)

    def _append(self, calls: list[Any], delta: Any) -> None:
        """A piece of arguments: more of the entry before it if that is the same call's, else its own entry.

        One entry a call and message: some clients look at the first one only.
        """
        if calls and calls[-1].index == delta.index:
            calls[-1].function.arguments += delta.arguments
            return
        function = self._protocol.DeltaFunctionCall(arguments=delta.arguments)
        calls.append(self._protocol.DeltaToolCall(index=delta.index, function=function))
