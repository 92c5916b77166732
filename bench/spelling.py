"""How a dialect's family writes calls: its structural tag, with each place that is open in it filled.

The tag is made from the dialect's data, and a call of known arguments leaves it one text. So a dialect needs no entry
here, and what is timed is what a model held to the tag would write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from toolglot.core import get_dialect, structural_tag
from toolglot.core.spec import Call, CallBlock, CallSyntax, Dialect, Envelope, FirstChar, Grammar, Named, Push

__all__ = ["content_head", "spelled", "written"]


def written(dialect: str, tool: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> str:
    """A response that calls ``tool`` once for each of ``calls``, which are arguments: strings and lists of strings."""
    tag = structural_tag(dialect, [tool], "required")
    assert tag is not None
    spec = get_dialect(dialect)
    writer = _Writer(payload_of(spec))
    if len(calls) > 1 and spec.messages is not None and not spec.messages.several:
        # The template ends a turn with a call; a parser reads on.
        return spec.messages.turn.join(writer.write(tag["format"], [call], at) for at, call in enumerate(calls))
    return writer.write(tag["format"], calls, 0)


def spelled(dialect: str, text: str) -> str:
    """What a string's text is inside an argument of the dialect."""
    payload = payload_of(get_dialect(dialect))
    if isinstance(payload, (Envelope, Named)) or (isinstance(payload, CallSyntax) and not payload.quote):
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return escape(text) if getattr(payload, "xml", False) else text


def content_head(dialect: str) -> str:
    """What stands in front of content: a header, where responses are messages."""
    messages = get_dialect(dialect).messages
    return "" if messages is None else messages.content


def payload_of(dialect: Dialect) -> Grammar:
    """The payload that the family's template writes: the first one, by convention."""
    block = _block_of(dialect)
    return block.payload.other if isinstance(block.payload, FirstChar) else block.payload


def _block_of(dialect: Dialect) -> CallBlock:
    if dialect.messages is not None:
        return dialect.messages.block
    do = dialect.openers[0].do
    if isinstance(do, Push):
        section = next(region for region in dialect.regions if region.name == do.region)
        do = next(edge.do for edge in section.edges if isinstance(edge.do, Call))
    assert isinstance(do, Call)
    return do.block


class _Writer:
    """Writes a tag's text."""

    def __init__(self, payload: Grammar) -> None:
        self._payload = payload
        self._whole = isinstance(payload, (Envelope, Named))  # a JSON value is all arguments of a call

    def write(self, format_: Mapping[str, Any], calls: Sequence[Mapping[str, Any]], at: int) -> str:
        """The text of a format for these calls, of which the first is number ``at`` of the response."""
        if format_["type"] == "tags_with_separator" and not format_["stop_after_first"]:
            rows = [self.write(format_["tags"][0], [call], number) for number, call in enumerate(calls, at)]
            return str(format_["separator"]).join(rows)
        if format_["type"] == "tags_with_separator":
            return self.write(format_["tags"][0], calls, at)
        if format_["type"] == "tag" and _holds_rows(format_["content"]):
            return str(format_["begin"]) + self.write(format_["content"], calls, at) + str(format_["end"])
        (call,) = calls
        return self._part(format_, call, iter(call.values()), at)

    def _part(self, format_: Mapping[str, Any], call: Mapping[str, Any], values: Iterator[Any], at: int) -> str:
        """The text of a format inside one call."""
        kind = format_["type"]
        if kind == "const_string":
            return str(format_["value"])
        if kind == "tag":
            return str(format_["begin"]) + self._part(format_["content"], call, values, at) + str(format_["end"])
        if kind == "sequence":
            return "".join(self._part(each, call, values, at) for each in format_["elements"])
        if kind == "regex":  # the number of a call
            return str(at)
        if kind == "json_schema":
            return json.dumps(call if self._whole else next(values), ensure_ascii=False)
        if kind == "any_text":
            text = str(next(values))
            return escape(text) if "&" in format_["excludes"] else text
        if kind == "repeat":  # the items of a list
            return "".join(self._part(format_["content"], call, iter([item]), at) for item in next(values))
        if kind == "grammar":
            return self._arguments(call)
        raise ValueError(f"no text is known for {kind!r}")

    def _arguments(self, call: Mapping[str, Any]) -> str:
        """Arguments in call syntax."""
        syntax = self._payload
        assert isinstance(syntax, CallSyntax)
        members = sorted(call.items()) if syntax.quote else call.items()
        return syntax.comma.join(key + syntax.assign + self._literal(value, syntax) for key, value in members)

    def _literal(self, value: Any, syntax: CallSyntax) -> str:
        if isinstance(value, list):
            return f"[{syntax.comma.join(self._literal(item, syntax) for item in value)}]"
        return syntax.quote + value + syntax.quote if syntax.quote else json.dumps(value, ensure_ascii=False)


def _holds_rows(format_: Mapping[str, Any]) -> bool:
    return bool(format_["type"] == "tags_with_separator")
