"""The region table of one response, compiled from a dialect and the request's options.

What depends on the request (is reasoning wanted, may calls appear, what does a call inside reasoning do) decides
which edges exist, so that the machine in response.py knows no options. Tables are cached: a response costs a
dictionary look-up.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .expected import beginnings_of
from .markers import Marker, Matcher, char_class
from .passing import ANYTHING, Passing, beginnings
from .spec import Call, Dialect, Edge, Goto, Push, ReasoningCalls, Region, Sink, Skip


class Arc:
    """One marker of one region: what it does, how much of the matched literal is framing in front of it."""

    __slots__ = ("edge", "frame", "marker")

    def __init__(self, marker: Marker, edge: Edge, frame: int) -> None:
        self.marker = marker
        self.edge = edge
        self.frame = frame


class CompiledRegion:
    """A region ready to run."""

    __slots__ = ("after_call", "channel", "header", "matcher", "name", "noise", "pair", "passing", "repeat", "sink")

    def __init__(self, region: Region, reasoning: bool) -> None:
        self.name = region.name
        self.sink = region.sink
        self.noise = region.noise
        self.repeat = region.repeat
        self.channel = "reasoning" if region.sink is Sink.REASONING and reasoning else "content"
        arcs: dict[str, Arc] = {}
        bare: dict[str, Arc] = {}
        for edge in region.edges:
            for marker in edge.on:
                bare.setdefault(marker.text, Arc(marker, edge, 0))
                if marker.at == "after_call":
                    continue
                for newlines in range(edge.trim[0] + 1):
                    arcs.setdefault("\n" * newlines + marker.text, Arc(marker, edge, newlines))
        self.matcher = Matcher(arcs.items())
        # Right after a call blanks are looked through first, and more markers are legal.
        self.after_call = Matcher(bare.items())
        self.header = Matcher((text, text) for text in region.opens)
        # Characters that end a run of settled text; a newline matters for line anchors as well.
        lines = "\n" if any(arc.marker.at == "line" for arc in bare.values()) else ""
        inside = [text for text, arc in arcs.items() if arc.marker.at != "start"]  # where there is text already
        stops = {text[0] for text in inside}.union(lines)
        self.passing = ANYTHING
        if stops:
            keeps = beginnings_of(inside).__contains__
            self.passing = Passing(char_class(stops).search, beginnings(inside), lines=bool(lines), keeps=keeps)
        pair = sorted(stops)
        self.pair = (pair[0], pair[-1]) if 1 <= len(pair) <= 2 else None  # the same as plain characters


class Table:
    """All regions of one response, and the one it starts in."""

    __slots__ = ("regions", "start")

    def __init__(self, regions: dict[str, CompiledRegion], start: str) -> None:
        self.regions = regions
        self.start = start


@lru_cache(maxsize=1024)
def compile_table(dialect: Dialect, reasoning: bool, calls: bool, policy: ReasoningCalls | None) -> Table:
    """The table of ``dialect``. ``calls``: may calls appear; ``policy``: the setting ``reasoning_calls``."""
    regions = list(dialect.regions)
    if not any(region.name == "plain" for region in regions):
        regions += _think_regions(dialect, reasoning, policy)
    compiled = {}
    for region in regions:
        edges = region.edges if calls else tuple(edge for edge in region.edges if not leads_to_call(dialect, edge))
        compiled[region.name] = CompiledRegion(replace(region, edges=edges), reasoning)
    return Table(compiled, dialect.start.region if dialect.start.region in compiled else "plain")


def leads_to_call(dialect: Dialect, edge: Edge) -> bool:
    """Whether the edge is a call's, or pushes a section of calls; an after-call marker is never reached without one."""
    if not isinstance(edge.do, Push):
        return isinstance(edge.do, Call)
    section = edge.do.region
    inner = [edge.do for region in dialect.regions if region.name == section for edge in region.edges]
    return any(isinstance(do, Call) for do in inner)


def _think_regions(dialect: Dialect, reasoning: bool, policy: ReasoningCalls | None) -> list[Region]:
    """The regions of a dialect whose channels are plain text and an optional think block.

    plain      content; a think opener enters reasoning, at the start of a line or where the dialect says; a leading
               stray closer is dropped
    reasoning  up to the first closer
    late       content after a call that ended the reasoning: the closer is still owed, and swallowed
    answer     content between tags that are not shown
    """
    answer = dialect.answer
    regions: list[Region] = []
    plain = dialect.openers
    if answer is not None:
        plain = (*plain, Edge((Marker(answer.open, at="start"),), Goto("answer"), answer.trim_open))
        ends = Edge((Marker(answer.close),), Goto("plain"), answer.trim_close)
        regions.append(Region("answer", Sink.CONTENT, (*dialect.openers, ends)))
    think = dialect.reasoning
    if think is None or not reasoning:
        return [Region("plain", Sink.CONTENT, plain), *regions]
    calls = policy or think.calls
    tags = (think, *think.also)
    opened = tuple(Edge((Marker(tag.open, at=tag.at),), Goto("reasoning"), tag.trim_open) for tag in tags)
    stray = tuple(Edge((Marker(tag.close, at="start"),), Skip(), tag.trim_close) for tag in tags)
    closed = tuple(Edge((Marker(tag.close),), Goto("plain"), tag.trim_close) for tag in tags)
    again = tuple(Edge((Marker(tag.open, at="start"),), Skip(), tag.trim_open) for tag in tags)
    skipped = (Edge(tuple(map(Marker, think.skip)), Skip()),)
    if calls == "keep":
        inside: tuple[Edge, ...] = ()
    elif calls == "resume":
        inside = dialect.openers
    else:
        inside = tuple(_then(edge, "late") for edge in dialect.openers)
    return [
        Region("plain", Sink.CONTENT, (*plain, *opened, *stray)),
        Region("reasoning", Sink.REASONING, (*inside, *closed, *again, *skipped)),
        Region("late", Sink.CONTENT, (*dialect.openers, *closed)),
        *regions,
    ]


def _then(edge: Edge, region: str) -> Edge:
    if isinstance(edge.do, (Call, Push)):
        return replace(edge, do=replace(edge.do, then=region))
    return edge

