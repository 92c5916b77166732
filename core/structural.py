"""Structural tags: XGrammar's description of what a dialect's calls look like, from the data the parser reads.

``structural_tag`` fills the dialect's own templates with each tool's name and puts XGrammar's format for the
tool's schema where the arguments go. Nothing is spelled a second time: openers and closers are the markers of the
region table, the rest are the payload's templates. The result is a plain dict; this module needs no XGrammar.

    required, named   calls and nothing else in front of them
    auto              free text until an opener is written, then a call

Blanks are bounded, so that a small model cannot spin in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .errors import ConfigurationError
from .registry import get_dialect
from .schema import ToolSchema
from .spec import Call, CallBlock, CallSyntax, Dialect, Envelope, FirstChar, Named, Push, Region, Tagged
from .syntax_grammar import call_grammar
from .tools import ToolChoice, chosen_functions, is_forced

Format = dict[str, Any]
MAX_BLANKS = 2


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
    or leaves out. Raises ConfigurationError for a choice that cannot be met or a dialect that cannot be constrained.
    """
    spec = get_dialect(dialect)
    functions = chosen_functions(tools, tool_choice)
    if not functions:
        return None
    forced = is_forced(tool_choice)
    named = isinstance(tool_choice, Mapping) and tool_choice.get("type") != "allowed_tools"
    single = named or not parallel_tool_calls
    format_ = _Builder(spec).response(functions, forced=forced, single=single)
    if reasoning:
        format_ = _with_reasoning(spec, format_, optional=reasoning == "optional")
    return {"type": "structural_tag", "format": format_}


class _Builder:
    """Builds the format of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._regions = {region.name: region for region in dialect.regions}

    def response(self, functions: Mapping[str, Mapping[str, Any]], *, forced: bool, single: bool) -> Format:
        """What the model may write, reasoning aside."""
        opener, section, block = self._way_in()
        if isinstance(block.payload, CallSyntax):
            return self._call_list(opener, block, functions, forced=forced, single=single)
        calls = [self._call(name, function, opener, section, block) for name, function in functions.items()]
        separator = self._dialect.between
        single = single or self._dialect.messages is not None  # a call ends the model's turn
        if section is not None and section.repeat:
            inner = _separated(calls, section.between, single)
            calls = [_tag(opener + section.pad[0], inner, section.pad[1] + self._closer(section))]
            separator, single = "", True
        if forced:
            return _separated(calls, separator, single)
        if self._dialect.messages is not None:
            answer = _sequence([_const(self._dialect.messages.content), {"type": "any_text"}])
            return {"type": "or", "elements": [*calls, answer]}
        trigger = opener if section is None or not section.repeat else calls[0]["begin"]
        return {"type": "triggered_tags", "triggers": [trigger], "tags": calls, "stop_after_first": single}

    def _way_in(self) -> tuple[str, Region | None, CallBlock]:
        """The opener of the dialect's canonical call, the section it opens if any, and the call block."""
        for edge in self._dialect.openers:
            if isinstance(edge.do, Call):
                marker = edge.on[0]
                return (marker.text if marker.consume else ""), None, edge.do.block
            if isinstance(edge.do, Push):
                section = self._regions[edge.do.region]
                for inner in section.edges:
                    if isinstance(inner.do, Call):
                        return edge.on[0].text, section, inner.do.block
        if self._dialect.messages is not None:
            return "", None, self._dialect.messages.block
        raise ConfigurationError(f"dialect {self._dialect.name!r} has no call that could be constrained")

    def _closer(self, section: Region) -> str:
        return next((edge.on[0].text for edge in section.edges if not isinstance(edge.do, Call)), "")

    def _call(
        self, name: str, function: Mapping[str, Any], opener: str, section: Region | None, block: CallBlock
    ) -> Format:
        """One call, as a tag."""
        begin, end = block.pad[0], block.pad[1] + (block.close[0] if block.close else "")
        if section is None:
            begin = opener + begin
        else:
            marker = next(edge.on[0] for edge in section.edges if isinstance(edge.do, Call))
            begin = (marker.text if marker.consume else "") + begin
            if not section.repeat:
                begin = opener + section.pad[0] + begin
                end += section.pad[1] + self._closer(section)
        payload = block.payload.other if isinstance(block.payload, FirstChar) else block.payload
        schema = _object_schema(function.get("parameters"))
        content = _json(schema)
        if isinstance(payload, Envelope):
            before, _, after = payload.canonical.partition("{arguments}")
            begin += before.replace("{name}", json.dumps(name, ensure_ascii=False)[1:-1])
            return _tag(begin, content, after + end)
        if isinstance(payload, Named):
            if self._dialect.messages is not None:
                begin = self._dialect.messages.call.replace("{name}", name)
            head = payload.head.replace("{id}", block.ids)
            for literal in payload.optional[:-1]:  # the last one always stands, others are left out
                head = re.sub(re.escape(literal) + r"\{id\}", "", head) if block.ids == "" else head
                head = head.replace(literal, "")
            before, number, after = head.replace("{name}", name).partition("{index}")
            if number:
                digits: Format = {"type": "regex", "pattern": "[0-9]{1,4}"}
                content = _sequence([digits, _const(after), content])
            return _tag(begin + before, content, end)
        assert isinstance(payload, Tagged)
        return _tagged_call(payload, name, schema, begin, end)

    def _call_list(
        self,
        opener: str,
        block: CallBlock,
        functions: Mapping[str, Mapping[str, Any]],
        *,
        forced: bool,
        single: bool,
    ) -> Format:
        payload = block.payload
        assert isinstance(payload, CallSyntax)
        grammar: Format = {
            "type": "grammar",
            "grammar": call_grammar(
                {name: _object_schema(function.get("parameters")) for name, function in functions.items()},
                payload,
                single=single,
            ),
        }
        if forced:
            return grammar
        begins = re.escape(payload.wrap[0])
        return {"type": "or", "elements": [grammar, {"type": "regex", "pattern": f"([^{begins}](.|\\n)*)?"}]}


def _tagged_call(payload: Tagged, name: str, schema: dict[str, Any], begin: str, end: str) -> Format:
    """Arguments between the template's own delimiters, in the schema's order; optional ones may be left out.

    XGrammar's style of the same spelling is used only where the schema declares no arguments: it allows any blanks
    around a value, and blanks inside the delimiters are part of a string.
    """
    begin += payload.head.replace("{name}", name)
    end = payload.tail + end
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        style: Format = {"type": "json_schema", "json_schema": schema, "style": payload.style}
        return _tag(begin, {"type": "or", "elements": [_const(""), _sequence([style, _const("\n")])]}, end)
    required = schema.get("required") or ()
    arguments = []
    for key in properties:
        argument = _argument(payload, key, schema)
        arguments.append(argument if key in required else {"type": "optional", "content": argument})
    return _tag(begin, _sequence(arguments) if arguments else _const(""), end)


def _argument(payload: Tagged, key: str, schema: dict[str, Any]) -> Format:
    """One argument: raw text for what may be a string, JSON for the rest."""
    before, _, after = payload.argument.replace("{key}", key).partition("{value}")
    declared = schema["properties"][key]
    types = ToolSchema(schema).types(key)
    choices = _choices(declared)
    content: Format
    if choices:
        texts = [choice if isinstance(choice, str) else json.dumps(choice) for choice in choices]
        content = {"type": "or", "elements": [_const(text) for text in texts]}
    elif types and "string" not in types:
        content = _json({**_definitions(schema), **declared})
    else:
        opener, head = payload.argument.partition("{key}")[0], payload.head.partition("{name}")[0]
        markup = [text.strip() for text in (opener, after, head, *payload.around)]
        content = {"type": "any_text", "excludes": [text for text in markup if text]}
        if isinstance(declared, Mapping) and isinstance(declared.get("maxLength"), int):
            content["max_chars"] = declared["maxLength"]
    return _tag(before, content, after)


def _choices(declared: object) -> list[Any]:
    if not isinstance(declared, Mapping):
        return []
    if "const" in declared:
        return [declared["const"]]
    values = declared.get("enum")
    return list(values) if isinstance(values, list) else []


def _definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a ``$ref`` inside an argument's schema may point to."""
    return {key: schema[key] for key in ("$defs", "definitions") if key in schema}


def _with_reasoning(dialect: Dialect, response: Format, *, optional: bool) -> Format:
    """The response behind a reasoning section, whose opener the prompt may have written already.

    With ``optional`` the prompt has written none: the section has its opener, or is not there.
    """
    if dialect.messages is not None:
        analysis = _tag(dialect.messages.reasoning, {"type": "any_text"}, dialect.messages.turn)
        return _sequence([{"type": "optional", "content": analysis}, response])
    think = dialect.reasoning
    if think is None:
        return response
    opener = _const(think.open + "\n" * think.trim_open[1])
    body = _tag("", {"type": "any_text", "excludes": [think.open]}, think.close + "\n" * think.trim_close[1])
    if optional:
        return {"type": "or", "elements": [_sequence([opener, body, response]), response]}
    return _sequence([{"type": "optional", "content": opener}, body, response])


def _json(schema: Mapping[str, Any]) -> Format:
    return {"type": "json_schema", "json_schema": _printable(schema), "max_whitespace_cnt": MAX_BLANKS}


def _separated(tags: list[Format], separator: str, single: bool) -> Format:
    return {
        "type": "tags_with_separator",
        "tags": tags,
        "separator": separator,
        "at_least_one": True,
        "stop_after_first": single,
    }


def _tag(begin: str, content: Format, end: str) -> Format:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def _const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def _sequence(elements: list[Format]) -> Format:
    return {"type": "sequence", "elements": elements}


def _object_schema(parameters: object) -> dict[str, Any]:
    """The schema of a tool's arguments; they are always an object."""
    if not isinstance(parameters, Mapping) or not parameters:
        return {"type": "object"}
    schema = dict(parameters)
    schema.setdefault("type", "object")
    return schema


def _printable(schema: Any) -> Any:
    """Lengths of strings as patterns: where one is set, XGrammar lets raw control characters into a JSON string."""
    if isinstance(schema, list):
        return [_printable(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    copy = {key: _printable(value) for key, value in schema.items()}
    least, most = copy.get("minLength", 0), copy.get("maxLength", "")
    sized = type(least) is int and (type(most) is int or (most == "" and least > 0))
    if copy.get("type") == "string" and sized and not copy.keys() & {"enum", "const", "pattern", "format"}:
        copy["pattern"] = f'^[^"\\\\\\x00-\\x1f]{{{least},{most}}}$'
        copy.pop("minLength", None)
        copy.pop("maxLength", None)
    return copy
