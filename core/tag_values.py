"""What a value looks like to XGrammar, by its schema: JSON, or raw text between a template's delimiters.

Raw text says no types: the parser reads it by the schema (values.py). So a union's text is described by its members,
as JSON for what is no string, and an enum's text only where the parser reads it back as the same value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from .spec import Tagged
from .tag_formats import Format, any_text, const, regex, sequence
from .tag_patterns import FORMATS, rewrite_pattern
from .tag_schema import Arguments
from .values import convert

__all__ = ["MAX_BLANKS", "json_value", "rare", "raw_values", "string_text", "union_members"]

_SHORT = 256  # a text that may not be longer is counted in characters that begin no markup
MAX_BLANKS = 2  # between two tokens of JSON, so that a small model cannot spin in them
_TELLING = 6  # characters of a marker that are enough to know it by
_IN_JSON = '"\\'  # characters that a string of JSON holds only as escapes


def json_value(
    arguments: Arguments, schema: Mapping[str, Any], place: str = "", markup: Sequence[str] = ()
) -> Format:
    """A JSON value of the schema, whose strings hold none of ``markup`` (from XGrammar 0.2.8 on)."""
    # A quote ends the string, and compiling takes some 20 ms for each character excluded.
    markup = list(dict.fromkeys(inside[:_TELLING] for text in markup if (inside := text.partition('"')[0])))
    forbidden = _IN_JSON + rare(markup)
    whole = arguments.standalone(_printable(arguments, dict(schema), place, forbidden))
    if "$defs" in whole:
        definitions = whole["$defs"].items()
        whole["$defs"] = {name: _printable(arguments, each, f"/{name}", forbidden) for name, each in definitions}
    value: Format = {"type": "json_schema", "json_schema": whole, "max_whitespace_cnt": MAX_BLANKS}
    return {**value, "excludes": list(markup)} if markup else value


def _printable(arguments: Arguments, schema: Any, place: str, forbidden: str) -> Any:
    """Strings in the form that all versions of XGrammar write as valid JSON.

    Its own lengths let raw control characters through, and the negated classes of a pattern quotes, so both become
    patterns that do not. Such a string holds no escapes: neither quotes nor newlines.
    """
    if isinstance(schema, list):
        return [_printable(arguments, item, place, forbidden) for item in schema]
    if not isinstance(schema, dict) or "enum" in schema:
        return schema
    copy: dict[str, Any] = {}
    for word, value in schema.items():
        if word == "properties":
            copy[word] = {key: _printable(arguments, each, f"{place}/{key}", forbidden) for key, each in value.items()}
        else:
            copy[word] = _printable(arguments, value, place, forbidden) if isinstance(value, (dict, list)) else value
    if copy.get("type") != "string":
        return copy
    if "pattern" in copy:
        pattern = rewrite_pattern(copy.pop("pattern"), forbidden)
        if pattern is None:
            arguments.loosen(place, f"pattern {schema['pattern']!r} inside a JSON string")
        else:
            copy["pattern"] = pattern
    least, most = copy.pop("minLength", 0), copy.pop("maxLength", None)
    if "pattern" not in copy and (least or most is not None):
        copy["pattern"] = f'^[^{_class(forbidden)}\\x00-\\x1f]{{{least},{"" if most is None else most}}}$'
    return copy


def raw_values(payload: Tagged, arguments: Arguments, key: str, schema: dict[str, Any]) -> list[tuple[str, Format]]:
    """The raw text of one argument: alternatives, each with what the format says of its type ("" where it does not)."""
    words = dict(payload.words)
    # Where the format says the types, text is a string whatever it looks like.
    types = frozenset({"string"}) if words else arguments.read.types(key)
    markup = ["<", "&"] if payload.xml else _markup(payload)
    firsts = rare(markup)
    members = union_members(arguments, schema)
    found: list[tuple[str, Format]] = []
    for member in members:
        if "enum" in member:
            texts = [(value, _text_of(value, types, payload)) for value in member["enum"]]
            taboo = () if payload.xml else markup
            usable = [(value, text) for value, text in texts if text is not None and not any(m in text for m in taboo)]
            if len(usable) < len(texts):
                arguments.narrow(f"/{key}", "enum values that the parser would read as something else are left out")
            write = escape if payload.xml else str
            found += [(_word(words, kind_of(value)), const(write(text))) for value, text in usable]
        elif member.get("type") == "string" or not member:
            others = [] if words else [each for each in members if each is not member]
            text = string_text(arguments, key, member, others, markup, firsts, padded=payload.padded)
            found.append((_word(words, "string"), text))
        else:
            found.append((_word(words, member["type"]), json_value(arguments, member, f"/{key}", markup)))
    if not found:
        raise arguments.wrong(f"/properties/{key}", "none of its values can be written in this dialect")
    return found


def _word(words: Mapping[str, str], kind: str) -> str:
    """What the format says of a JSON type."""
    if not words:
        return ""
    return words.get(kind, words.get("number" if kind == "integer" else "", words.get("", words["string"])))


def kind_of(value: Any) -> str:
    """The JSON type of a value."""
    kinds = (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object")
    return next((kind for type_, kind in kinds if isinstance(value, type_)), "null")


def union_members(arguments: Arguments, schema: dict[str, Any]) -> list[dict[str, Any]]:
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


def rare(markup: Sequence[str]) -> str:
    """Characters without which a text holds none of the markup: of each the first that is no letter or digit."""
    found = {next((char for char in text if not char.isalnum()), text[0]) for text in markup}
    return "".join(sorted(found))


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
    if payload.padded and text.startswith(("\n", "\r\n")):
        return None
    if payload.words:
        return text  # the format says its type
    read = json.loads(convert(text, types, python_words=payload.python_words)[0])
    return text if read == value and isinstance(read, bool) is isinstance(value, bool) else None


def string_text(
    arguments: Arguments,
    key: str,
    schema: Mapping[str, Any],
    others: Sequence[Mapping[str, Any]],
    markup: Sequence[str],
    firsts: str,
    *,
    padded: bool = False,
) -> Format:
    """Text of a string. ``others``: the members of its union, which the parser may take the text for. ``padded``: a
    newline that begins the text is not part of it, so it counts for no ``minLength``."""
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
    if least and padded:
        start = f"[^{_class(firsts)}\\r\\n]" + (f"[^{_class(firsts)}]{{{least - 1}}}" if least > 1 else "")
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
    return "".join("\\" + char if char in '\\]^-["' else char for char in chars)
