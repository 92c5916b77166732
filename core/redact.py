"""A recording without its content: what a model said goes, what a parser sees stays.

Letters become x and digits 1, one for one, so that every chunk keeps its length. What stays: the dialect's markers;
wherever arguments or markup hold such a word, the words of its formats and the names of tools and of their parameters;
JSON's words, numbers as numbers, escapes as escapes; digits of ids; blanks and punctuation. Of the tools' schemas only
what the parser reads is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from .deltas import Delta, ToolCallDelta
from .recording import Recording
from .registry import get_dialect
from .serving.tokens import spellings

__all__ = ["redact", "structure"]

_SLOT = re.compile(r"\{(?:name|id|key|value|arguments|type|index)\}")
_TAG = re.compile(r"<[^<>]+>|\[[^\[\]]+\]")
_SIGNS = frozenset("<[|｜")  # what makes a literal one that no prose holds
_JSON_WORDS = frozenset({"true", "false", "null", "True", "False", "None"})
_TOKEN = r"\\u[0-9a-fA-F]{4}|\\.|(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w)|\w+|."
_SCHEMA = frozenset({
    "type", "function", "name", "parameters", "strict", "required", "nullable", "$ref", "items", "prefixItems",
    "additionalProperties", "anyOf", "oneOf", "allOf", "not",
})  # fmt: skip
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def redact(recording: Recording) -> Recording:
    """The same response without content."""
    trace = recording.trace()
    scrub = _Scrub(recording, trace.given_back)
    parts = []
    for kind, spans in groupby(trace.spans, lambda span: _SCRUBBED.get(span.kind, _Scrub.markup)):
        parts.append(kind(scrub, "".join(recording.text[span.start : span.end] for span in spans)))
    tools = None if recording.tools is None else [_schema(tool, scrub) for tool in recording.tools]
    chunks = list(_cut("".join(parts), map(len, recording.chunks)))
    deltas = _deltas(recording, scrub)
    return replace(recording, tools=tools, chunks=chunks, deltas=deltas)


def structure(recording: Recording) -> tuple[object, ...]:
    """What redaction should leave as it is."""
    message = recording.message
    calls = [(len(call.name), call.complete) for call in message.tool_calls]
    return len(message.content or ""), len(message.reasoning or ""), calls, recording.anomalies


class _Scrub:
    """What is kept, for one recording. ``markup_shown``: its content holds markup that was to be dropped."""

    def __init__(self, recording: Recording, markup_shown: bool) -> None:
        self._markup_shown = markup_shown
        texts = [part.strip() for text in spellings(get_dialect(recording.dialect)) for part in _SLOT.split(text)]
        pieces = [piece for text in texts for piece in (text, *_TAG.findall(text))]
        markers = sorted({piece for piece in pieces if len(piece) > 2 and _SIGNS & set(piece)}, key=len, reverse=True)
        beginnings = {text[:end] for text in markers for end in range(1, len(text))}
        self._beginnings = {text for text in beginnings if _SIGNS & set(text)}
        self._longest = max(map(len, markers), default=0)
        self._signs = frozenset(char for text in texts for char in text if not char.isalnum())
        literals = "|".join(map(re.escape, markers)) or "(?!)"
        self._literals = re.compile(f"({literals})", re.DOTALL)
        self._tokens = re.compile(f"(?P<kept>{literals})|{_TOKEN}", re.DOTALL)
        self._words = _JSON_WORDS.union(*(re.findall(r"\w+", text) for text in (*texts, *_names(recording.tools))))

    def text(self, text: str) -> str:
        """Content and reasoning: markers stay, for they stand there because they were none, and one cut at the end."""
        if self._markup_shown:
            return self.markup(text)
        end = self._cut(text)
        parts = self._literals.split(text[:end])
        return "".join(part if at % 2 else self._masked(part) for at, part in enumerate(parts)) + text[end:]

    def id(self, text: str) -> str:
        """An id: as markup, but for its digits, which tell one from another."""
        return "".join(old if old.isdigit() and old.isascii() else new
                       for old, new in zip(text, self.markup(text), strict=True))  # fmt: skip

    def markup(self, text: str) -> str:
        """Markup, names, arguments with their keys, and what was dropped."""

        def token(found: re.Match[str]) -> str:
            piece = found.group()
            if found.group("kept") or piece in self._words:
                return piece
            if piece[0] == "\\" and len(piece) > 1:
                hidden = len(piece) == 6 and int(piece[2:], 16) >= 0x20
                return "\\u0078" if hidden else piece if piece[1].isascii() else "\\x"
            if piece[0].isdigit() and not piece.isalnum():  # 1.5e+3
                return re.sub(r"\d", "1", piece)
            return self._masked(piece)

        end = self._cut(text)
        return self._tokens.sub(token, text[:end]) + text[end:]

    def _cut(self, text: str) -> int:
        """Where a marker begins that the text ends in the middle of, else the text's end."""
        starts = range(max(0, len(text) - self._longest), len(text))
        return next((at for at in starts if text[at:] in self._beginnings), len(text))

    def _masked(self, text: str) -> str:
        return _masked(text, self._signs)


def _masked(text: str, signs: frozenset[str] = frozenset()) -> str:
    return "".join(
        "1" if char.isdigit() and char.isascii()
        else char if char in signs or (char.isascii() and not char.isalpha())
        else "x"
        for char in text
    )  # fmt: skip


_SCRUBBED = {"content": _Scrub.text, "reasoning": _Scrub.text, "id": _Scrub.id}


def _names(schema: object) -> Iterator[str]:
    """Names of tools and parameters."""
    if isinstance(schema, list):
        for item in schema:
            yield from _names(item)
    elif isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in _NAMED and isinstance(value, Mapping):
                yield from map(str, value)
                yield from _names(list(value.values()))
            elif key == "name" and isinstance(value, str):
                yield value
            else:
                yield from _names(value)


def _schema(schema: Any, scrub: _Scrub) -> Any:
    """What the parser reads of a tool."""
    if isinstance(schema, list):
        return [_schema(item, scrub) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    left = {}
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, Mapping):
            left[key] = {name: _schema(item, scrub) for name, item in value.items()}
        elif key in ("enum", "const"):
            left[key] = _value(value)
        elif key in _SCHEMA:
            left[key] = _schema(value, scrub)
    return left


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return _masked(value)
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, Mapping):
        return {_masked(str(key)): _value(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool) else 1


def _deltas(recording: Recording, scrub: _Scrub) -> list[tuple[int, Delta]]:
    """The deltas as they would have been: each channel and each call's arguments are scrubbed as a whole."""
    deltas, raw = recording.deltas, recording.text
    joined: dict[object, str] = {}
    for _, delta in deltas:
        key, text = _part(delta)
        joined[key] = joined.get(key, "") + text
    left = {key: scrub.text(text) if isinstance(key, str) else scrub.markup(text) for key, text in joined.items()}
    found: list[tuple[int, Delta]] = []
    for at, delta in deltas:
        key, text = _part(delta)
        piece, left[key] = left[key][: len(text)], left[key][len(text) :]
        if not isinstance(delta, ToolCallDelta):
            found.append((at, replace(delta, text=piece)))
            continue
        name = None if delta.name is None else scrub.markup(delta.name)
        written = delta.id is not None and delta.id in raw
        wire = "".join(map(scrub.id, _around(delta.id, delta.name))) if delta.id and written else delta.id
        found.append((at, replace(delta, id=wire, name=name, arguments=piece if delta.arguments else delta.arguments)))
    return found


def _around(wire_id: str, name: str | None) -> tuple[str, ...]:
    """An id in the pieces in which the text around its name is scrubbed."""
    return wire_id.partition(name) if name else (wire_id,)


def _part(delta: Delta) -> tuple[object, str]:
    if isinstance(delta, ToolCallDelta):
        return delta.index, delta.arguments or ""
    return delta.kind, delta.text


def _cut(text: str, lengths: Iterable[int]) -> Iterator[str]:
    at = 0
    for length in lengths:
        yield text[at : at + length]
        at += length
