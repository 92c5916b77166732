"""XGrammar's structural-tag formats as plain dicts, and how a call is put together from them.

A call is a row of parts: literal text, and a format where something varies. ``tag`` makes XGrammar's tag of such a
row, its leading text as ``begin`` (what triggers look at) and its trailing text as ``end``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["Format", "Part", "any_text", "choice", "const", "fill", "optional", "regex", "separated", "sequence", "tag"]

Format = dict[str, Any]
Part = str | Format

_SLOT = re.compile(r"\{(\w+)\}")


def fill(template: str, slots: Mapping[str, Part]) -> list[Part]:
    """A template's parts. A slot that is not among ``slots`` is literal text (``{`` of JSON is no slot)."""
    parts: list[Part] = []
    end = 0
    for found in _SLOT.finditer(template):
        if found[1] in slots:
            parts += (template[end : found.start()], slots[found[1]])
            end = found.end()
    parts.append(template[end:])
    return parts


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Neighbouring texts as one, without empty ones."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return joined


def tag(parts: Iterable[Part]) -> Format:
    """A tag: begin, content, end."""
    row = _joined(parts)
    begin = row.pop(0) if row and isinstance(row[0], str) else ""
    end = row.pop() if row and isinstance(row[-1], str) else ""
    return {"type": "tag", "begin": begin, "content": sequence(row), "end": end}


def sequence(parts: Iterable[Part]) -> Format:
    """One after the other."""
    row = [const(part) if isinstance(part, str) else part for part in _joined(parts)]
    if not row:
        return const("")
    return row[0] if len(row) == 1 else {"type": "sequence", "elements": row}


def const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def regex(pattern: str) -> Format:
    return {"type": "regex", "pattern": pattern}


def choice(elements: Sequence[Format]) -> Format:
    """One of them."""
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": list(elements)}


def optional(content: Format) -> Format:
    return {"type": "optional", "content": content}


def any_text(excludes: Iterable[str] = ()) -> Format:
    """Text without any of ``excludes``."""
    return {"type": "any_text", "excludes": sorted({text for text in excludes if text})}


def separated(tags: Sequence[Format], separator: str, single: bool) -> Format:
    """At least one of the tags; with ``single`` exactly one."""
    return {
        "type": "tags_with_separator",
        "tags": list(tags),
        "separator": separator,
        "at_least_one": True,
        "stop_after_first": single,
    }
