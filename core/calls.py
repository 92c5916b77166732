"""Calls: the one gate through which every call of a response goes out.

It owns identity (index, id, name), the accepted names, the limits set by policy and the mode in which a call is
held until it is finished. Readers say what they read, in order: ``begin`` with the name, ``arguments``, ``end``.
Arguments that come before their name are held here. Nothing else makes tool-call deltas, so that identity comes
first, indices are contiguous from zero and no two calls interleave.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal

from .deltas import Output, ToolCallDelta
from .schema import ToolSchema

UndeclaredTools = Literal["drop", "pass", "text"]


class Gate(Enum):
    """What became of a call at its name."""

    OPEN = 0  # it goes out
    DROPPED = 1  # read to its end, not shown
    TEXT = 2  # no call at all, by the setting undeclared_tools="text"


MIN_HELD = 1024  # enough for an opener, blanks and a name


def default_id(name: str, index: int) -> str:
    """The id of a call where neither the format nor the engine has one."""
    return "call_" + os.urandom(12).hex()


class Calls:
    """The calls of one response."""

    __slots__ = (
        "_commit",
        "_complete_only",
        "_functions",
        "_head",
        "_held",
        "_holding",
        "_ids",
        "_lost",
        "_make_id",
        "_opened",
        "_output",
        "_parallel",
        "_previous",
        "_undeclared",
        "_unnamed",
        "anomalies",
        "count",
        "dropping",
        "form",
        "limit",
        "position",
        "rollback",
        "streaming",
        "textual",
    )  # fmt: skip

    def __init__(
        self,
        output: Output,
        anomalies: Counter[str],
        functions: Mapping[str, Mapping[str, Any]] | None,
        *,
        undeclared: UndeclaredTools,
        parallel: bool,
        complete_only: bool,
        make_id: Callable[[str, int], str] | None,
        previous: int,
        limit: int,
        position: Callable[[], int],
        commit: Callable[[bool], None],
    ) -> None:
        self._output = output
        self.anomalies = anomalies
        self._functions = functions  # that may be called; None: not known
        self._undeclared = undeclared
        self._parallel = parallel
        self._complete_only = complete_only
        self._make_id = make_id
        self._previous = previous
        self.limit = max(limit, MIN_HELD)  # of what a block may hold before its name
        self.position = position  # characters consumed so far
        self._commit = commit  # a name is out: the block cannot be refuted any more
        self.count = 0  # calls that went out, or are held to go out
        self.form = ""  # the dialect's own form of ids
        self.rollback = True  # nothing of the block went out yet: it may still be refuted
        self.textual = True  # no call of its section or list went out either
        self._opened = 0  # where the block began
        self.streaming = False  # a call is open and its arguments go out as they come
        self.dropping = False  # a call is open and dropped
        self._ids: set[str] = set()
        self._head = 0
        self._unnamed: list[str] = []  # arguments that came before their name
        self._holding: ToolCallDelta | None = None  # complete_only: the identity that waits for its end
        self._held: list[str] = []
        self._lost: list[tuple[str, int]] = []  # of the open call; counted at its end

    # -- one call, in order ---------------------------------------------------------------------------------

    def tentative(self, textual: bool) -> None:
        """A block begins here. ``textual``: it may be text by the setting undeclared_tools."""
        self.rollback = True
        self.textual = textual
        self._opened = self.position()

    @property
    def overdue(self) -> int:
        """Characters that the tentative block holds beyond the limit."""
        return self.position() - self._opened - self.limit

    def head(self) -> None:
        """A call's text begins here (for the account of dropped characters)."""
        self._head = self.position()
        self._unnamed = []

    def hold(self, text: str) -> None:
        """Arguments that precede their name."""
        self._unnamed.append(text)

    def begin(self, name: str, wire_id: str | None = None) -> Gate:
        """The name is complete: the call goes out, is dropped, or is no call."""
        name = self._meant(name)
        if self.rollback and self.overdue > 0:
            return Gate.TEXT  # as if it had been noticed when the limit was passed
        gate = self._judge(name)
        if gate is Gate.OPEN:
            delta = ToolCallDelta(self.count, self._id(name, wire_id), name)
            self.count += 1
            if self._complete_only:
                self._holding = delta
                self._held = []
            else:
                self._output.call(delta)
                self.streaming = True
        elif gate is Gate.DROPPED:
            self.dropping = True
        if gate is not Gate.TEXT:
            self.rollback = self.textual = False
            self._commit(gate is Gate.OPEN)
            held, self._unnamed = self._unnamed, []
            for text in held:
                self.arguments(text)
        return gate

    def drop(self, kind: str) -> None:
        """Drop the call in progress, which has no name that could go out."""
        self.anomalies[kind] += 1
        self.dropping = True
        self.rollback = False
        self._commit(False)

    def _judge(self, name: str) -> Gate:
        if self._functions is not None and name not in self._functions and self._undeclared != "pass":
            if self._undeclared == "text" and self.rollback and self.textual:
                return Gate.TEXT
            self.anomalies["undeclared_tool"] += 1
            return Gate.DROPPED
        if self.count and not self._parallel:
            self.anomalies["parallel_call"] += 1
            return Gate.DROPPED
        return Gate.OPEN

    def arguments(self, text: str) -> None:
        """A piece of the open call's arguments, final JSON text."""
        if self.streaming:
            self._output.text(self.count - 1, text)
        elif self._holding is not None:
            self._held.append(text)

    def end(self, complete: bool) -> None:
        """The open call's payload ended; ``complete``: by its own end, not because the input did."""
        if self.dropping:
            self._count_dropped()
            self._lost = []
        elif self._holding is not None:
            self._release(complete)
        elif complete:
            self._output.end(self.count - 1)
        for kind, characters in self._lost:
            self.anomalies[kind] += 1
            self.anomalies["dropped_characters"] += characters
        self._lost = []
        self.streaming = self.dropping = False

    def lost(self, kind: str, characters: int) -> None:
        """Text of the open call that its arguments cannot carry; a dropped call is counted as a whole."""
        self._lost.append((kind, characters))

    # -- inside ---------------------------------------------------------------------------------------------

    def _release(self, complete: bool) -> None:
        identity, self._holding = self._holding, None
        assert identity is not None
        if not complete:
            self.count -= 1
            self.anomalies["incomplete_call"] += 1
            self._count_dropped()
            self._lost = []
            return
        self._output.call(identity)
        self._output.text(identity.index, "".join(self._held))
        self._output.end(identity.index)
        self._held = []

    def _count_dropped(self) -> None:
        self.anomalies["dropped_characters"] += self.position() - self._head

    def _id(self, name: str, wire_id: str | None) -> str:
        if wire_id is not None and wire_id not in self._ids:
            made = wire_id
        else:
            if wire_id is not None:
                self.anomalies["duplicate_id"] += 1
            if self.form:
                made = self._numbered(name, self._previous + self.count)
            else:
                made = (self._make_id(name, self.count) if self._make_id else "") or default_id(name, self.count)
        self._ids.add(made)
        return made

    def _numbered(self, name: str, number: int) -> str:
        """The first free id of the dialect's form from ``number`` on."""
        while True:
            made = self.form.replace("{name}", name).replace("{index}", str(number))
            if made not in self._ids:
                return made
            number += 1

    def _meant(self, name: str) -> str:
        """A tool in a namespace of its own name, ``f.f``, is ``f`` where only that is known: templates that announce
        every tool as a namespace (Muse) make models write so."""
        if self._functions is None or name in self._functions:
            return name
        half, _, rest = name.partition(".")
        return half if half == rest and half in self._functions else name

    def may_call(self, beginning: str) -> bool:
        """Whether a tool that may be called has a name that begins so."""
        return self._functions is None or any(name.startswith(beginning) for name in self._functions)

    def schema(self, name: str) -> ToolSchema:
        """The schema of a tool's arguments; one that knows nothing where the tool is not known."""
        function = self._functions.get(self._meant(name)) if self._functions is not None else None
        return ToolSchema(None if function is None else function.get("parameters"))


class ObjectWriter:
    """Writes the arguments object of a dialect that does not write JSON itself.

    A key goes out with the first text of its value, so that a value which never gets any leaves no pair behind.
    """

    __slots__ = ("_calls", "_first", "_prefix")

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._first = True
        self._prefix = ""

    @property
    def empty(self) -> bool:
        """Nothing was written yet."""
        return self._first

    def key(self, key_json: str) -> None:
        """Begin a pair; ``key_json`` is the key as a JSON string."""
        self._prefix = ("{" if self._first else ", ") + key_json + ": "

    def value(self, text: str) -> None:
        """JSON text of the value."""
        if not text:
            return
        if self._prefix:
            text = self._prefix + text
            self._prefix = ""
            self._first = False
        self._calls.arguments(text)

    def close(self) -> None:
        """End the object."""
        self._calls.arguments("{}" if self._first else "}")
