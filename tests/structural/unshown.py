"""What a text shows where its dialect has tags that are never shown, by docs/rules.md and without the parser.

Three kinds: tags that count anywhere (a separator of messages, an answer's tags of Command), tags around an answer,
and citations, of whose closing tag the sources are dropped with it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from toolglot.core.spec import Call, Dialect, Edge, Goto, Pop, Push, Skip

BLANKS = " \t\r\n"


class Uncertain(Exception):
    """The text's meaning depends on what follows it."""


class Citation(NamedTuple):
    """The closing tag of a citation: what opens it, what ends it, how much may stand between."""

    opener: str
    end: str
    most: int


class Unshown:
    """Goes through the free text of one response, part by part; calls stand between the parts."""

    def __init__(self, dialect: Dialect) -> None:
        edges = [edge for edge in dialect.openers if isinstance(edge.do, (Goto, Skip))]
        self._citations = list(_citations(dialect))
        self._openers = tuple(citation.opener for citation in self._citations)
        self._reach = max((citation.most + len(citation.end) for citation in self._citations), default=0)
        self._anywhere = _patterns(edges, "anywhere")
        self._start = _patterns(edges, "start")
        self._answer = dialect.answer
        self._fresh, self._inside = True, False

    def call(self) -> None:
        """A call stands here: what counts at the start only does so no longer."""
        self._fresh = False

    def shown(self, text: str, call_follows: bool) -> str:
        """What is shown of a part."""
        found = ""
        cited = False  # a citation has just ended: blanks in front of another, or of a call, are dropped
        while text:
            behind = text.lstrip(BLANKS)
            if cited and (behind.startswith(self._openers) or (call_follows and not behind)):
                text = behind
            hit = self._next(text)
            if hit is None:
                return found + text
            start, end, kind = hit
            found += text[: end if kind == "opener" else start]  # an opener that does not end is text
            text = text[end:]
            cited = kind == "citation"
            if kind in ("open", "close"):
                self._inside = kind == "open"
            if kind != "skip":
                self._fresh = kind in ("open", "close", "goto")
            if kind == "opener" and call_follows and len(text) < self._reach:
                raise Uncertain  # it may end inside the call
        return found

    def _next(self, text: str) -> tuple[int, int, str] | None:
        """The first tag in the text: where it stands, with its framing, and what it is."""
        hits: list[tuple[int, int, str]] = []
        for pattern, kind in self._anywhere:
            hits += ((match.start(), match.end(), kind) for match in [pattern.search(text)] if match)
        if self._fresh:
            starts = list(self._start)
            if self._answer is not None and not self._inside:
                starts.append((_framed(self._answer.open, self._answer.trim_open), "open"))
            for pattern, kind in starts:
                match = pattern.search(text)
                if match and not text[: match.start()].strip():
                    hits.append((match.start(), match.end(), kind))
        if self._answer is not None and self._inside:
            match = _framed(self._answer.close, self._answer.trim_close).search(text)
            hits += [(match.start(), match.end(), "close")] if match else []
        for citation in self._citations:
            start = text.find(citation.opener)
            if start >= 0:
                behind = text[start + len(citation.opener) :]
                size = behind.find(citation.end)
                ends = 0 <= size <= citation.most
                length = len(citation.opener) + (size + len(citation.end) if ends else 0)
                hits.append((start, start + length, "citation" if ends else "opener"))
        return min(hits, key=lambda hit: (hit[0], -hit[1]), default=None)


def _framed(tag: str, trim: tuple[int, int]) -> re.Pattern[str]:
    return re.compile(f"\n{{0,{trim[0]}}}{re.escape(tag)}\n{{0,{trim[1]}}}")


def _patterns(edges: list[Edge], at: str) -> list[tuple[re.Pattern[str], str]]:
    """The tags of these edges, and whether they begin something new or are only left out."""
    return [
        (_framed(marker.text, edge.trim), "skip" if isinstance(edge.do, Skip) else "goto")
        for edge in edges
        for marker in edge.on
        if marker.at == at
    ]


def _citations(dialect: Dialect) -> list[Citation]:
    found = []
    for edge in dialect.openers:
        if not isinstance(edge.do, Push):
            continue
        name = edge.do.region
        section = next(region for region in dialect.regions if region.name == name)
        if not any(isinstance(each.do, Call) for each in section.edges):
            [end] = [marker.text for each in section.edges for marker in each.on if isinstance(each.do, Pop)]
            found += [Citation(marker.text, end, section.noise) for marker in edge.on]
    return found
