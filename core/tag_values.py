"""What a value looks like to XGrammar, by its schema: JSON, or raw text between a template's delimiters.

Raw text says no types: the parser reads it by the schema (values.py). So a union's text is described by its members,
as JSON for what is no string, and an enum's text only where the parser reads it back as the same value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .spec import Tagged
from .tag_formats import Format, any_text, choice, const, regex, sequence
from .tag_patterns import FORMATS, rewrite_pattern
from .tag_schema import Arguments
from .values import convert

__all__ = ["MAX_BLANKS", "json_value", "raw_value"]

_SHORT = 256  # a text that may not be longer is counted in characters that begin no markup
MAX_BLANKS = 2  # between two tokens of JSON, so that a small model cannot spin in them
_IN_JSON = '"\\'  # characters that a string of JSON holds only as escapes


def json_value(arguments: Arguments, schema: Mapping[str, Any], place: str = "") -> Format:
    """A JSON value of the schema."""
    whole = arguments.standalone(_printable(arguments, dict(schema), place))
    if "$defs" in whole:
        whole["$defs"] = {name: _printable(arguments, each, f"/{name}") for name, each in whole["$defs"].items()}
    return {"type": "json_schema", "json_schema": whole, "max_whitespace_cnt": MAX_BLANKS}


def _printable(arguments: Arguments, schema: Any, place: str) -> Any:
    """Strings in the form that all versions of XGrammar write as valid JSON.

    Its own lengths let raw control characters through, and the negated classes of a pattern quotes, so both become
    patterns that do not. Such a string holds no escapes: neither quotes nor newlines.
    """
    if isinstance(schema, list):
        return [_printable(arguments, item, place) for item in schema]
    if not isinstance(schema, dict) or "enum" in schema:
        return schema
    copy: dict[str, Any] = {}
    for word, value in schema.items():
        if word == "properties":
            copy[word] = {key: _printable(arguments, each, f"{place}/{key}") for key, each in value.items()}
        else:
            copy[word] = _printable(arguments, value, place) if isinstance(value, (dict, list)) else value
    if copy.get("type") != "string":
        return copy
    if "pattern" in copy:
        pattern = rewrite_pattern(copy.pop("pattern"), _IN_JSON)
        if pattern is None:
            arguments.loosen(place, f"pattern {schema['pattern']!r} inside a JSON string")
        else:
            copy["pattern"] = pattern
    least, most = copy.pop("minLength", 0), copy.pop("maxLength", None)
    if "pattern" not in copy and (least or most is not None):
        copy["pattern"] = f'^[^"\\\\\\x00-\\x1f]{{{least},{"" if most is None else most}}}$'
    return copy


def raw_value(payload: Tagged, arguments: Arguments, key: str, schema: dict[str, Any]) -> Format:
    """The raw text of one argument."""
    types = arguments.read.types(key)
    markup = _markup(payload)
    firsts = "".join(sorted({text[0] for text in markup}))
    members = _members(arguments, schema)
    found: list[Format] = []
    for member in members:
        if "enum" in member:
            texts = [text for value in member["enum"] if (text := _text_of(value, types, payload)) is not None]
            usable = [text for text in texts if not any(mark in text for mark in markup)]
            if len(usable) < len(member["enum"]):
                arguments.narrow(f"/{key}", "enum values that the parser would read as something else are left out")
            found += [const(text) for text in usable]
        elif member.get("type") == "string" or not member:
            others = [each for each in members if each is not member]
            found.append(_text(arguments, key, member, others, markup, firsts))
        else:
            found.append(json_value(arguments, member, f"/{key}"))
    if not found:
        raise arguments.wrong(f"/properties/{key}", "none of its values can be written in this dialect")
    return choice(found)


def _members(arguments: Arguments, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The members of a union, references followed."""
    members: list[dict[str, Any]] = []
    seen: set[str] = set()
    waiting = [schema]
    while waiting:
        member = waiting.pop(0)
        if "anyOf" in member:
            waiting = [*member["anyOf"], *waiting]
        elif "$ref" not in member:
            members.append(member)
        elif member["$ref"] not in seen:  # one that leads to itself adds nothing
            seen.add(member["$ref"])
            waiting.insert(0, arguments.definition(member["$ref"]))
    return members


def _markup(payload: Tagged) -> list[str]:
    """What a value must not hold: its closers, and what would make one of another literal.

    The closer around the call ends a value only in front of another opener, so without those it is data.
    """
    opener, closer = payload.argument.partition("{key}")[0], payload.argument.partition("{value}")[2]
    head = payload.head.partition("{name}")[0]
    texts = (opener, closer, head, payload.tail, payload.around[0])
    return [text for text in dict.fromkeys(text.strip() for text in texts) if text]


def _text_of(value: Any, types: frozenset[str], payload: Tagged) -> str | None:
    """The raw text that the parser reads as this value; None where there is none."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    read = json.loads(convert(text, types, python_words=payload.python_words)[0])
    return text if read == value and isinstance(read, bool) is isinstance(value, bool) else None


def _text(
    arguments: Arguments,
    key: str,
    schema: Mapping[str, Any],
    others: Sequence[Mapping[str, Any]],
    markup: Sequence[str],
    firsts: str,
) -> Format:
    """Text of a string. ``others``: the members of its union, which the parser may take the text for."""
    pattern = schema.get("pattern") or FORMATS.get(schema.get("format", ""))
    if pattern is not None:
        whole = rewrite_pattern(pattern, firsts)
        if whole is not None:
            return regex(whole[1:-1])
        arguments.loosen(f"/{key}", f"pattern {pattern!r} in raw text")
    elif "format" in schema:
        arguments.loosen(f"/{key}", f"format {schema['format']!r} in raw text")
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    text = any_text(markup)
    if most is not None and most <= _SHORT:
        text = regex(f"[^{_class(firsts)}]{{0,{max(most - least, 0)}}}")
    elif most is not None:
        text["max_chars"] = most - least  # not enforced before 0.2.6
    start = f"[^{_class(firsts)}]{{{least}}}" if least else ""
    limited = [each for each in others if each.get("type") in _LIMITS and each.keys() & _LIMITS[each["type"]]]
    if limited:
        # Text that reads as a number (or object, array) which the schema refuses: it does not begin like one.
        begins = "".join(_BEGINS[each["type"]] for each in limited)
        start = f"[^{_class(firsts)}{begins}\\s]" + (f"[^{_class(firsts)}]{{{least - 1}}}" if least > 1 else "")
        if most is not None and most <= _SHORT:
            text = regex(f"[^{_class(firsts)}]{{0,{max(most - max(least, 1), 0)}}}")
        arguments.narrow(f"/{key}", "strings that begin like a number, an object or an array are left out")
    return sequence([regex(start), text]) if start else text


_NUMBER_LIMITS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_LIMITS = {
    "integer": _NUMBER_LIMITS,
    "number": _NUMBER_LIMITS,
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
    "object": frozenset({"properties", "required", "additionalProperties", "minProperties", "maxProperties"}),
}
_BEGINS = {"integer": "0-9+.\\-", "number": "0-9+.\\-", "array": "\\[(\"", "object": "{\""}


def _class(chars: str) -> str:
    """Characters as they stand in a regex's class."""
    return "".join("\\" + char if char in "\\]^-[" else char for char in chars)
