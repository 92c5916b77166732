"""How a dialect's family spells calls itself, told from the dialect's data: literals to look for in a text.

A parser reads more than the template writes. What counts here is the first opener and the first payload, which are the
template's own by convention, as they are for structural tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from .serving.tokens import spellings
from .spec import Call, CallBlock, Dialect, Edge, FirstChar, Pop, Push, Region

__all__ = ["parting", "pieces", "tags"]


def tags(dialect: Dialect) -> set[str]:
    """All tags but those of reasoning, which not every model of a family has."""
    texts = spellings(replace(dialect, reasoning=None))
    return {tag for text in texts for tag in re.findall(r"<[^<>{}\s=\"]+>", text)}


class _Way(NamedTuple):
    """The first way into a call, the one that the family's template writes."""

    opener: str
    section: Region | None
    inner: str
    block: CallBlock | None


def _way(dialect: Dialect) -> _Way:
    edge = next(iter(dialect.openers), None)
    if edge is None:
        return _Way("", None, "", None)
    opener = _text(edge)
    if isinstance(edge.do, Push):
        pushed = edge.do.region
        section = next(region for region in dialect.regions if region.name == pushed)
        inner = next(edge for edge in section.edges if isinstance(edge.do, Call))
        return _Way(opener, section, _text(inner), inner.do.block if isinstance(inner.do, Call) else None)
    return _Way(opener, None, "", edge.do.block if isinstance(edge.do, Call) else None)


def _text(edge: Edge) -> str:
    return edge.on[0].text if edge.on[0].consume else ""


def pieces(dialect: Dialect, name: str, keys: Iterable[str]) -> list[str]:
    """The literals of a call to ``name`` with arguments of these ``keys``."""
    opener, section, inner, block = _way(dialect)
    if block is None:
        return []
    payload = block.payload.other if isinstance(block.payload, FirstChar) else block.payload
    head = getattr(payload, "head", "") or getattr(payload, "canonical", "")
    head = (opener if section is None else inner) + block.pad[0] + head
    arguments = [getattr(payload, "argument", "").replace("{key}", key) for key in keys]
    filled = [text.replace("{name}", name) for text in (opener, head, *arguments)]
    return [piece for text in filled for piece in re.split(r"\{[a-z]+\}", text) if piece]


def parting(dialect: Dialect) -> str:
    """What the family's template writes between two calls; "" where that is the payload's affair."""
    opener, section, inner, block = _way(dialect)
    if block is None or getattr(block.payload, "shape", "") == "array" or any(getattr(block.payload, "wrap", ())):
        return ""
    closer = block.pad[1] + block.close[0] if block.close else ""
    if section is not None:
        if section.repeat:
            return closer and closer + section.between + inner
        ends = [section.pad[1] + _text(edge) for edge in section.edges if isinstance(edge.do, Pop)]
        closer = ends[0] if ends else closer
    return closer and closer + dialect.between + opener
