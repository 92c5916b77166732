"""The literals of a Tagged payload, compiled: what may stand where, and what must follow to make it count."""

from __future__ import annotations

import html
import re
from enum import Enum
from functools import lru_cache

from .buffer import Run
from .expected import Expected, beginnings_of
from .head import Head, compile_head
from .markers import Matcher
from .passing import Passing, beginnings
from .spec import Tagged
from .values import NEEDS_ESCAPE, Written, escape_json


class Kind(Enum):
    """What a literal of the payload is."""

    ARGUMENT = 0  # the next argument's opener
    CLOSE = 1  # the value's closer
    TAIL = 2
    OUTER = 3  # the closer around the call
    AROUND = 4  # the opener around the next call, or the next head
    JSON = 5  # a JSON object in place of arguments
    BODY = 6  # what stands around that
    ENTITY = 7
    CDATA = 8  # the opener of a CDATA section, or its closer


# What XML text may write for a character, besides the character.
ENTITIES = {text: html.unescape(text) for text in ("&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#34;", "&#39;")}


_ENTITY = re.compile("|".join(map(re.escape, ENTITIES)))


def _escape_xml(text: str) -> str:
    """The inside of a JSON string for XML text that holds no half an entity."""
    return escape_json(_ENTITY.sub(lambda found: ENTITIES[found[0]], text) if "&" in text else text)


class Closer:
    """A literal that may end a value, and how much of it is the newline in front."""

    __slots__ = ("frame", "kind")

    def __init__(self, kind: Kind, frame: int) -> None:
        self.kind = kind
        self.frame = frame


class TaggedGrammar:
    """A Tagged payload, compiled."""

    def __init__(self, spec: Tagged) -> None:
        argument, _, close = (spec.reads or spec.argument).partition("{value}")
        opener = argument.partition("{key}")[0].strip()
        closer, tail = close.strip(), spec.tail.strip()
        head = spec.head.partition("{name}")[0].strip()
        around, *outers = spec.around
        begins = (opener, tail) if tail else (opener, closer, *outers, "{")
        self.head: Head = compile_head(spec.head, spec.optional, begins, spec.empty)
        self.argument: Head = compile_head(argument, spec.optional, empty=spec.empty)
        steps = self.argument.steps
        if len(steps) > 3 and steps[-1].startswith("<"):
            # A tag of its own in front of the value is forgotten now and then; the key says enough.
            self.argument = compile_head(argument, (*spec.optional, steps[-1]), (), spec.empty)
        self.key_run = self.argument.runs[1]  # behind the opener
        self.key_end = steps[2][0]
        self.inline = "\n" not in spec.argument  # the next argument need not begin a line
        self.lead = argument.endswith("\n") or spec.padded
        self.padded = spec.padded
        plain = (Kind.ARGUMENT, Kind.CLOSE, Kind.OUTER, Kind.JSON)
        self.begins: tuple[Kind, ...] = (Kind.ARGUMENT, Kind.TAIL, Kind.BODY) if tail else plain
        kinds = {opener: Kind.ARGUMENT, closer: Kind.CLOSE, tail: Kind.TAIL}
        kinds.update((outer, Kind.OUTER) for outer in outers)
        kinds.pop("", None)
        following = {text: Kind.AROUND for text in (around, head) if text}
        any_quotes = {text[:-1]: kind for text, kind in {**following, **kinds}.items() if text.endswith('"')}
        body = {text: Kind.JSON if text.endswith("{") else Kind.BODY for text in (*spec.body, "{")}
        self.between: Matcher[Kind] = Matcher({**any_quotes, **following, **kinds, **body}.items())
        newline, none = ("", "\n", "\r\n"), ("",)
        inside = newline if close.startswith("\n") or spec.padded else none
        outside = newline if "\n" in close else none  # in front of what implies a missing closer
        frames = {Kind.ARGUMENT: newline, Kind.CLOSE: inside}
        ends = {text: kind for text, kind in kinds.items() if kind is not Kind.ARGUMENT}
        closers = {
            frame + text: Closer(kind, len(frame))
            for text, kind in kinds.items()
            for frame in frames.get(kind, outside)
        }
        if spec.xml:
            closers.update({"<![CDATA[": Closer(Kind.CDATA, 0), **dict.fromkeys(ENTITIES, Closer(Kind.ENTITY, 0))})
        self.closers: Matcher[Closer] = Matcher(closers.items())
        self.cdata: Matcher[Closer] = Matcher([("]]>", Closer(Kind.CDATA, 0))])
        # What must follow each of them.
        rest = {**following, **{text: kind for text, kind in kinds.items() if kind is not Kind.CLOSE}}
        rest.update((text, kind) for text, kind in body.items() if text.startswith("</"))
        self.follow: dict[Kind, Matcher[Kind]] = {
            Kind.CLOSE: Matcher(rest.items()),
            Kind.TAIL: Matcher({**following, **{t: k for t, k in ends.items() if k is Kind.OUTER}}.items()),
            Kind.OUTER: Matcher(following.items()),
        }
        self.text_word = dict(spec.words).get("string")
        firsts = "".join(re.escape(char) for char in sorted(self.closers.firsts.union("]" if spec.xml else "")))
        stop = re.compile(f"[{firsts}]|{NEEDS_ESCAPE.pattern}").search
        closes = [text for text, kind in closers.items() if kind.kind is Kind.CLOSE]
        # What the value's closer may be followed by counts before the closer does.
        spelled = [close + text for text in rest]  # as the template has it
        self.closing = Expected([(closes, "")], rest, others=[*closers, *spelled], before="")
        keeps = beginnings_of(closers).__contains__ if spec.control else self.closing.keeps
        ends_value = [text for text, closer in closers.items() if closer.kind is not Kind.ENTITY]
        self.passing = Passing(stop, beginnings(ends_value), escape_json, keeps=keeps)
        if spec.xml:
            self.passing = Passing(stop, beginnings(ends_value, ENTITIES), _escape_xml, keeps=keeps)
        self.cdata_passing = Passing(stop, beginnings(["]]>"]), escape_json)
        self._expected: dict[int, Expected] = {}
        # The opening of an argument as the template has it, and a value on one line that needs no second look, up to
        # its closer. They save steps where they match; the rest is read step by step.
        ahead = rf"\n?(?:{'|'.join(re.escape(text) for text in (opener, tail, *outers) if text)})"
        self.ahead = re.compile(ahead).match
        # What stands behind the opener may decide what it opens.
        self.distinct = not any(text.startswith(opener) and text != opener for text in self.between.literals)
        self.opening: Run | None = self.argument.whole(0) if self.distinct else None
        self.whole: Run | None = None
        if not spec.control:
            lead = re.escape(argument.rpartition(steps[-1])[2])
            frame = close[: len(close) - len(close.lstrip("\n"))]
            line = f"([^{firsts}{NEEDS_ESCAPE.pattern[1:-1]}]{{0,128}})"
            self.whole = re.compile(f"{lead}{line}{frame}{re.escape(closer)}(?={ahead})").match

    def expected(self, at: int) -> Expected:
        """What is likely from a step of an argument's head on, up to the value; at the first one the call may end."""
        if at not in self._expected:
            parts = self.argument.parts(at) if at or self.distinct else []
            others = self.between.literals if at == 0 else ()
            self._expected[at] = Expected(parts, others=others, behind=r"\n?" if self.lead else "")
        return self._expected[at]

    def written(self, word: str | None) -> Written:
        """What an argument's {type} says about its value."""
        if word is None or self.text_word is None:
            return Written.UNKNOWN
        return Written.TEXT if word == self.text_word else Written.JSON


@lru_cache(maxsize=256)
def compile_tagged(spec: Tagged) -> TaggedGrammar:
    return TaggedGrammar(spec)
