"""What one call looks like to XGrammar: the payload's own template, filled with a tool's name and its schema.

One function a payload grammar, ``_FORMATS`` says which. A block is one call, or a list of calls where its payload is
a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from .errors import ConfigurationError
from .head import NAME_LIMIT, is_name
from .spec import CallBlock, CallSyntax, Elements, Envelope, FirstChar, Grammar, Named, Tagged
from .syntax_grammar import arguments_grammar
from .tag_elements import members
from .tag_formats import Format, Part, choice, fill, optional, regex, separated, sequence, tag
from .tag_schema import Arguments
from .tag_values import json_value, raw_values

__all__ = ["block_calls", "holds_all"]

_DIGITS = regex("[0-9]{1,4}")
_FREE_ARGUMENTS = 16  # of a tool that declares none


def block_calls(
    block: CallBlock, functions: Iterable[Arguments], opener: str, closer: str, *, single: bool
) -> list[Format]:
    """The tags of one block between ``opener`` and ``closer``: one a function, or one for the list of them all."""
    payload = _canonical(block)
    begin, end = opener + block.pad[0], block.pad[1] + (block.close[0] if block.close else "") + closer
    calls = [_call(payload, block, arguments) for arguments in functions]
    wrap, between = _list_of(payload)
    if not between:
        if not end:  # the template's newline behind a call belongs to what follows
            calls = [[*call[:-1], _without_newlines(call[-1])] for call in calls]
        return [tag([begin, *call, end]) for call in calls]
    return [tag([begin, wrap[0], separated([tag(call) for call in calls], between, single), wrap[1], end])]


def _without_newlines(part: Part) -> Part:
    return part.rstrip("\n") if isinstance(part, str) else part


def holds_all(block: CallBlock) -> bool:
    """Whether a block holds all calls of a response."""
    return bool(_list_of(_canonical(block))[1])


def _canonical(block: CallBlock) -> Grammar:
    return block.payload.other if isinstance(block.payload, FirstChar) else block.payload


def _list_of(payload: Grammar) -> tuple[tuple[str, str], str]:
    """The brackets around the calls of a block and what stands between them, "" where a block is one call."""
    if isinstance(payload, CallSyntax):
        return payload.wrap, payload.between
    if isinstance(payload, Envelope) and payload.shape == "array":
        return payload.brackets, payload.between
    return ("", ""), ""


def _call(payload: Grammar, block: CallBlock, arguments: Arguments) -> list[Part]:
    if not is_name(arguments.name):
        raise ConfigurationError(
            f"tool {arguments.name!r}: a call cannot be written with this name; names have up to 256 letters, "
            "digits and . - : / @ $ + _"
        )
    return _FORMATS[type(payload)](payload, block, arguments)


def _envelope(payload: Envelope, block: CallBlock, arguments: Arguments) -> list[Part]:
    name = json.dumps(arguments.name, ensure_ascii=False)[1:-1]
    value = json_value(arguments, arguments.schema)
    return fill(payload.canonical, {"name": name, "arguments": value, "index": _DIGITS})


def _named(payload: Named, block: CallBlock, arguments: Arguments) -> list[Part]:
    head = payload.head
    for literal in payload.optional[:-1]:  # the last one always stands, others are left out with what they announce
        head = re.sub(re.escape(literal) + r"\{id\}", "", head).replace(literal, "")
    head = head.replace("{id}", block.ids)
    return [*fill(head, {"name": arguments.name, "index": _DIGITS}), json_value(arguments, arguments.schema)]


def _tagged(payload: Tagged, block: CallBlock, arguments: Arguments) -> list[Part]:
    """Arguments between the template's own delimiters, in the schema's order; optional ones may be left out.

    XGrammar's styles of such spellings are not used: they allow any blanks around a value, which are part of a string,
    and openers inside it. Nor are its tags: before 0.2.6 text in one may hold its excluded strings in front of the end.
    """
    members = arguments.schema.get("anyOf", (arguments.schema,))
    shapes = [sequence(_arguments(payload, arguments, member)) for member in members]
    head = payload.head.replace("{id}", block.ids)
    return [*fill(head, {"name": arguments.name, "index": _DIGITS}), choice(shapes), payload.tail]


def _arguments(payload: Tagged, arguments: Arguments, schema: dict[str, Any]) -> list[Part]:
    parts: list[Part] = []
    key_end = payload.argument.partition("{key}")[2].strip()[:1]
    for key, value in schema.get("properties", {}).items():
        needed = key in schema["required"]
        if not 0 < len(key) <= NAME_LIMIT or key != key.strip() or any(char in key for char in f"<\n{key_end}"):
            if needed:
                raise arguments.wrong(f"/properties/{key}", "this name cannot be written in this dialect")
            arguments.narrow(f"/properties/{key}", "left out, its name cannot be written in this dialect")
            continue
        argument = _argument(payload, arguments, key, key, value)
        parts.append(argument if needed else optional(argument))
    if not parts and schema.get("additionalProperties", True) is not False:
        parts = _free_arguments(payload, arguments, schema)
    return parts


def _argument(
    payload: Tagged, arguments: Arguments, written: Part, key: str, schema: dict[str, Any]
) -> Format:
    """One argument; where the format says a value's type, one spelling for each."""
    if isinstance(written, str) and payload.entities:
        written = written.replace("&", "&amp;").replace('"', "&quot;")
    found = raw_values(payload, arguments, key, schema)
    if not payload.words:
        return sequence(fill(payload.argument, {"key": written, "value": choice([value for _, value in found])}))
    words: dict[str, list[Format]] = {}
    for word, value in found:
        words.setdefault(word, []).append(value)
    return choice(
        [
            sequence(fill(payload.argument, {"key": written, "type": word, "value": choice(values)}))
            for word, values in words.items()
        ]
    )


def _free_arguments(payload: Tagged, arguments: Arguments, schema: dict[str, Any]) -> list[Part]:
    """Arguments of any names. The parser reads those that the schema does not declare as strings."""
    value = schema.get("additionalProperties", True)
    if value is True:
        value = {}
    if value and value.get("type") != "string" and not payload.words:
        arguments.narrow("/additionalProperties", "left out, undeclared arguments are read as strings")
        return []
    key = regex("[a-zA-Z_][a-zA-Z0-9_]{0,63}")
    argument = _argument(payload, arguments, key, "", value)
    least = schema.get("minProperties", 0)
    most = schema.get("maxProperties", max(least, _FREE_ARGUMENTS))
    return [{"type": "repeat", "min": least, "max": most, "content": argument}]


def _elements(payload: Elements, block: CallBlock, arguments: Arguments) -> list[Part]:
    head = fill(payload.space + payload.head, {"name": arguments.name})
    return [*head, members(payload, arguments), payload.space + payload.tail]


def _call_syntax(payload: CallSyntax, block: CallBlock, arguments: Arguments) -> list[Part]:
    grammar: Format = {"type": "grammar", "grammar": arguments_grammar(arguments, payload)}
    return [*fill(payload.head, {"name": arguments.name}), grammar, payload.tail]


_FORMATS: dict[type[Any], Callable[..., list[Part]]] = {
    Envelope: _envelope,
    Named: _named,
    Tagged: _tagged,
    Elements: _elements,
    CallSyntax: _call_syntax,
}
