"""Structural tags: XGrammar's description of what a dialect's calls look like, from the data the parser reads.

``structural_tag`` fills the dialect's own templates with each tool's name and puts XGrammar's format for the
tool's schema where the arguments go. Nothing is spelled a second time: openers and closers are the markers of the
region table, the rest are the payload's templates. The result is a plain dict; this module needs no XGrammar.

    required, named   calls and nothing else
    auto              free text; once an opener is written, a call

Four levels, a module each: the response (here), a block and its calls (tag_calls.py), a value (tag_values.py,
syntax_grammar.py), and XGrammar's formats as dicts (tag_formats.py).

What the parser acts on must not stand in free text or reasoning: other openers and closers are excluded there. So
a model that is constrained cannot quote them.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from .errors import ConfigurationError
from .markers import Marker
from .registry import get_dialect
from .spec import Builtin, Call, CallBlock, Dialect, Edge, Goto, Messages, Pop, Push, Reasoning, Region, Sink
from .tag_calls import block_calls, holds_all
from .tag_formats import Format, Part, any_text, choice, const, optional, regex, separated, sequence, tag
from .tag_schema import Arguments
from .tools import ToolChoice, chosen_functions, is_forced

logger = logging.getLogger("toolglot.tags")


def structural_tag(
    dialect: str | Dialect,
    tools: Sequence[Mapping[str, Any]],
    tool_choice: ToolChoice | None = "auto",
    *,
    reasoning: bool | Literal["optional"] = False,
    parallel_tool_calls: bool = True,
) -> dict[str, Any] | None:
    """XGrammar's structural tag for a request, as a dict; None where nothing is to be constrained.

    ``reasoning``: the grammar covers a reasoning section in front; "optional": one that the model opens itself
    or leaves out. Raises ConfigurationError for a choice that cannot be met, a dialect that cannot be constrained,
    and a tool that no call can be written for: its name, two tools of one name, a wrong schema.

    What a schema says and no grammar can hold a model to is left out, with one warning for each tool (which tool, and
    what, is logged at the level DEBUG: a request's text is nobody's but its user's); a tool that
    says ``strict: true`` is refused instead.
    """
    tag, known = build_tag(
        get_dialect(dialect), tools, tool_choice, reasoning=reasoning, parallel_tool_calls=parallel_tool_calls
    )
    for arguments, strict in known:
        if arguments.loosened and strict:
            raise ConfigurationError(
                f"tool {arguments.name!r} is strict, but no grammar enforces all of its parameters: "
                + "; ".join(arguments.loosened)
            )
        if arguments.loosened or arguments.narrowed:
            _warn(arguments.name, (*arguments.loosened, *arguments.narrowed))
    return tag


@lru_cache(maxsize=1024)
def _warn(name: str, notes: tuple[str, ...]) -> None:
    """One warning for a tool, however many requests bring it; what a request says is for the debug level."""
    logger.warning("the calls of a tool are not constrained to the letter of its schema; the level DEBUG says which")
    logger.debug("tool %r: its calls are not constrained to the letter of its schema: %s", name, "; ".join(notes))


def build_tag(
    dialect: Dialect,
    tools: Sequence[Mapping[str, Any]],
    tool_choice: ToolChoice | None,
    *,
    reasoning: bool | Literal["optional"] = False,
    parallel_tool_calls: bool = True,
) -> tuple[dict[str, Any] | None, list[tuple[Arguments, bool]]]:
    """The tag, and what became of each tool's schema, with whether the tool is strict."""
    functions = chosen_functions(tools, tool_choice)
    if not functions:
        return None, []
    _check_names(tools)
    known = [Arguments(name, function.get("parameters")) for name, function in functions.items()]
    named = isinstance(tool_choice, Mapping) and tool_choice.get("type") != "allowed_tools"
    response = _Response(dialect, known, single=named or not parallel_tool_calls, reasoning=bool(reasoning))
    format_ = response.forced() if is_forced(tool_choice) else response.free()
    if reasoning:
        format_ = response.behind_reasoning(format_, optional_=reasoning == "optional")
    strict = [function.get("strict") is True for function in functions.values()]
    return {"type": "structural_tag", "format": format_}, list(zip(known, strict, strict=True))


def _check_names(tools: Sequence[Mapping[str, Any]]) -> None:
    functions = (tool.get("function", tool) for tool in tools if tool.get("type", "function") == "function")
    names = Counter(function["name"] for function in functions)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ConfigurationError(f"tool {twice[0]!r} is there {names[twice[0]]} times; names of tools are unique")


class _Way(NamedTuple):
    """A way into a call: an opener, the section that it opens if any, and the block."""

    marker: Marker
    section: Region | None
    block: CallBlock

    @property
    def opener(self) -> str:
        return self.marker.text if self.marker.consume else ""


class _Response:
    """Builds what a response of one dialect may be."""

    def __init__(self, dialect: Dialect, functions: Sequence[Arguments], *, single: bool, reasoning: bool) -> None:
        self._dialect = dialect
        self._functions = functions
        self._single = single
        self._reasoning = reasoning
        self._regions = {region.name: region for region in dialect.regions}
        self._ways = [way for edge in dialect.openers for way in self._ways_of(edge)]
        if not self._ways and dialect.messages is None:
            raise ConfigurationError(f"dialect {dialect.name!r} has no call that could be constrained")

    def _ways_of(self, edge: Edge) -> Iterator[_Way]:
        """The canonical opener, and spellings that it holds, which could not be excluded from text in front of it."""
        canonical = edge.on[0]
        markers = [canonical, *(other for other in edge.on[1:] if other.text in canonical.text)]
        found: tuple[Region | None, CallBlock] | None = None
        if isinstance(edge.do, Call) and not _is_builtin(edge):
            found = None, edge.do.block
        elif isinstance(edge.do, Push):
            section = self._regions[edge.do.region]
            blocks = [each.do.block for each in section.edges if isinstance(each.do, Call) and not _is_builtin(each)]
            found = (section, blocks[0]) if blocks else None
        if found is not None:
            for marker in markers:
                yield _Way(marker, *found)

    # -- calls ----------------------------------------------------------------------------------------------

    def forced(self) -> Format:
        """Calls in the template's own spelling, and nothing else."""
        if self._dialect.messages is not None:
            return self._messages()
        way = self._ways[0]
        return separated(self._calls(way), self._dialect.between, self._once(way))

    def _once(self, way: _Way) -> bool:
        """Whether what begins with the opener stands once in a response."""
        return self._single or (way.section is not None and way.section.repeat) or holds_all(way.block)

    def _calls(self, way: _Way) -> list[Format]:
        """The tags that begin with a way's opener."""
        section, opener = way.section, way.opener
        if section is None:
            return block_calls(way.block, self._functions, opener, "", single=self._single)
        marker = next(edge.on[0] for edge in section.edges if isinstance(edge.do, Call))
        inner = marker.text if marker.consume else ""
        closer = next((edge.on[0].text for edge in section.edges if isinstance(edge.do, Pop)), "")
        before, after = opener + section.pad[0], section.pad[1] + closer
        if not section.repeat:
            return block_calls(way.block, self._functions, before + inner, after, single=self._single)
        calls = block_calls(way.block, self._functions, inner, "", single=self._single)
        return [tag([before, separated(calls, section.between, self._single), after])]

    def _messages(self) -> Format:
        """A call, or several messages with one each."""
        messages = self._dialect.messages
        assert messages is not None
        tags = []
        for arguments in self._functions:
            header = messages.call.replace("{name}", arguments.name)
            tags += block_calls(messages.block, [arguments], header, "", single=True)
        if not messages.several:
            return choice(tags)  # a call ends the model's turn
        return separated(tags, messages.turn.removeprefix(_end(messages)), self._single)

    # -- free text ------------------------------------------------------------------------------------------

    def free(self) -> Format:
        """Text; once an opener is written, a call in its spelling."""
        messages = self._dialect.messages
        if messages is not None:
            called = self._messages()
            answer: list[Part] = [messages.content, any_text(_texts(self._edges(Sink.CONTENT)))]
            if messages.several:
                answer.append(choice([sequence([messages.turn, called]), const(_end(messages)), const("")]))
            return choice([called, sequence(answer)])
        tags: list[Format] = []
        triggers: list[str] = []
        at_start: list[Format] = []
        for way in self._ways:
            marker = way.marker
            if marker.at == "after_call":
                continue
            if marker.at == "start":
                if marker.text not in triggers:
                    at_start.append(separated(self._calls(way), self._dialect.between, self._once(way)))
                continue
            calls = self._calls(way)
            trigger = way.opener or marker.text
            tags += [call for call in calls if call not in tags]
            if not any(trigger.startswith(other) for other in triggers):  # a tag has one trigger: the shortest
                triggers = [*(other for other in triggers if not other.startswith(trigger)), trigger]
        text = self._text(triggers, tags)
        return text if not at_start else self._not_at_start(at_start, text, triggers)

    def _text(self, triggers: list[str], tags: list[Format]) -> Format:
        """Free text with calls in it."""
        excludes = sorted(
            text
            for text in self._excluded()
            if not any(text in trigger or text.startswith(trigger) for trigger in triggers)
        )
        if not triggers:
            return any_text(excludes)
        return {
            "type": "triggered_tags",
            "triggers": triggers,
            "tags": tags,
            "stop_after_first": self._single,
            "excludes": excludes,
        }

    def _not_at_start(self, calls: list[Format], text: Format, triggers: list[str]) -> Format:
        """Rows of calls that can only begin a response, or text that does not begin like one."""
        begins = {call["begin"][0] for row in calls for call in row["tags"]}
        markers = [*triggers, *text["excludes"]]
        firsts = begins | {marker[0] for marker in markers}
        plain = sequence([regex(f"[^{_class(firsts)}\\s]"), text])
        elements = [*calls, const(""), plain]
        for first in sorted(firsts - begins):  # a marker's first character, but no marker
            seconds = {marker[1] for marker in markers if marker[0] == first}
            elements.append(sequence([regex(f"{_class({first})}[^{_class(seconds | firsts)}]"), text]))
        if triggers:
            elements.append({**text, "at_least_one": True})  # begins with a call
        return choice(elements)

    def _excluded(self) -> set[str]:
        """Markers that no trigger stands for, but that the parser acts on in plain text; not those of a channel's ends.

        Among them are other spellings of openers: a call in one of them would not be held to anything.
        """
        edges = [edge for edge in self._dialect.openers if not isinstance(edge.do, Goto)]
        edges += self._edges(Sink.CONTENT)
        for region in self._dialect.regions:
            if region.sink is Sink.SECTION and not any(isinstance(edge.do, Pop) for edge in region.edges):
                edges += region.edges  # the section goes on behind a call, until text
        tags = {tag_ for each in self._tags() for tag_ in (each.open, each.close)} if self._reasoning else set()
        markers = [marker for edge in edges for marker in edge.on if marker.at != "start"]
        return {marker.text.strip("\n") for marker in markers} | tags

    def _tags(self) -> list[Reasoning]:
        """The dialect's reasoning, in all its spellings."""
        think = self._dialect.reasoning
        return [] if think is None else [think, *think.also]

    def _edges(self, sink: Sink) -> list[Edge]:
        return [edge for region in self._dialect.regions if region.sink is sink for edge in region.edges]

    # -- reasoning ------------------------------------------------------------------------------------------

    def behind_reasoning(self, response: Format, *, optional_: bool) -> Format:
        """The response behind a reasoning section, whose opener the prompt may have written already.

        With ``optional_`` the prompt has written none: the section has its opener, or is not there.
        """
        messages = self._dialect.messages
        if messages is not None:
            body = any_text(_texts(self._edges(Sink.REASONING)))
            return sequence([optional(sequence([messages.reasoning, body, messages.turn])), response])
        think = self._dialect.reasoning
        if think is None:
            return response
        opener = const(think.open + "\n" * think.trim_open[1])
        openers = () if think.calls == "keep" else _texts(self._dialect.openers)
        tags = {tag_ for each in self._tags() for tag_ in (each.open, each.close, *each.skip)}
        body = any_text({*tags, *openers})
        section = sequence([body, think.close + "\n" * think.trim_close[1] + think.after])
        if optional_:
            return choice([sequence([opener, section, response]), response])
        return sequence([optional(opener), section, response])


def _is_builtin(edge: Edge) -> bool:
    return isinstance(edge.do, Call) and isinstance(edge.do.block.payload, Builtin)


def _end(messages: Messages) -> str:
    """What ends a message, also the last one, if that is more than a stop token."""
    closer = messages.block.close[0]
    return closer if messages.turn.startswith(closer) else ""


def _texts(edges: Iterable[Edge]) -> set[str]:
    return {marker.text for edge in edges for marker in edge.on}


def _class(chars: Iterable[str]) -> str:
    """Characters as they stand in a regex's class."""
    return "".join(re.escape(char) for char in sorted(set(chars)))
