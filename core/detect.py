"""Which dialect a model writes, told from its chat template and vocabulary: the third use of a dialect's data.

The template is the best witness. It writes known calls (probes.py), and a dialect explains them if it reads exactly
these calls back and leaves nothing behind. Several may: some families share grammar and markers. They are told apart
by what else they declare, one trait after the other: control tokens that the tokenizer lacks, reasoning, what the
prompt ends with, the template's own spelling, framing newlines. A trait only decides where it holds for some of them
and not for others; it never brings a dialect back.

Without a template the vocabulary decides, if the control tokens of exactly one dialect are there. Certain is only what
is left alone; everything else is a refusal that names the candidates. A wrong dialect is worse than none.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .deltas import Message, assemble
from .model_files import Model
from .probes import ONE, SAID, TOOLS, Probe, Probes, probe
from .registry import get_dialect, list_dialects
from .response import ResponseParser, prompt_opens_reasoning
from .serving.tokens import missing_markers, spellings
from .spec import Call, Dialect, FirstChar, Push

__all__ = ["Detection", "detect", "quiet", "reads_back"]


@dataclass(frozen=True)
class Detection:
    """What was found out. ``dialect`` is None where that is not certain; ``candidates`` are then what it could be.

    ``reasons``: how it was found, and what spoke against others; ``notes``: what could not be looked at.
    """

    dialect: str | None
    candidates: tuple[str, ...]
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        why = "; ".join(self.reasons)
        if self.dialect is not None:
            return f"{self.dialect}: {why}"
        return f"not certain ({', '.join(self.candidates) or 'no candidate'}): {why}"


def detect(model: Model) -> Detection:
    """The dialect of a model. Never raises, and never guesses."""
    with quiet():
        found = Probes() if model.render is None else probe(model.render)
        if found.written:
            return _by_template(model, found)
        return _by_vocabulary(model) if model.template is None else _unwritten(model, found)


# ---- by the template --------------------------------------------------------------------------------------


def _by_template(model: Model, found: Probes) -> Detection:
    dialects = [get_dialect(name) for name in list_dialects()]
    left = dialects
    for group in found.written:  # a kind of message that no dialect reads back says nothing
        left = [dialect for dialect in left if any(reads_back(dialect, item) for item in group)] or left
    if left == dialects:
        return Detection(
            None,
            tuple(_marked(model)),
            ("its chat template writes tool calls that no dialect reads back", *_sample(found)),
            model.notes,
        )
    reasons = [f"{', '.join(item.name for item in left)} read{'s' * (len(left) == 1)} back the calls that its chat "
               "template writes"]  # fmt: skip
    for trait, holds in _traits(model, found):
        kept = [dialect for dialect in left if holds(dialect)]
        if kept and len(kept) < len(left):
            gone = ", ".join(dialect.name for dialect in left if dialect not in kept)
            reasons.append(f"not {gone}: {trait}")
            left = kept
    names = tuple(dialect.name for dialect in left)
    if len(left) > 1:
        return Detection(None, names, (*reasons, "nothing tells these apart"), model.notes)
    missing = missing_markers(model, left[0]) if model.complete else []
    if missing:
        return Detection(None, names, (*reasons, f"but its tokenizer has no {', '.join(missing)}"), model.notes)
    return Detection(names[0], names, tuple(reasons), model.notes)


def reads_back(dialect: Dialect, item: Probe, exact: bool = False) -> bool:
    """Whether a dialect reads a probe as it was meant; ``exact``: without odd spellings and down to the blanks."""
    message, anomalies = _read(dialect, item)
    calls = tuple((call.name, _loaded(call.arguments)) for call in message.tool_calls)
    if calls != item.calls or not all(call.complete for call in message.tool_calls):
        return False
    content = message.content or ""
    if exact and (anomalies or content.rstrip("\n") not in ("", SAID)):
        return False
    return content.strip() in ("", SAID) and (message.reasoning or "").strip() in ("", item.thought)


def _read(dialect: Dialect, item: Probe) -> tuple[Message, dict[str, int]]:
    text = item.text
    for stop in dialect.stops:
        text = text.partition(stop)[0]
    inside = prompt_opens_reasoning(dialect, item.header)
    parser = ResponseParser(dialect, TOOLS, starts_in_reasoning=inside)
    deltas = parser.feed(text)
    deltas += parser.finish("stop")
    return assemble(deltas), {kind: count for kind, count in parser.anomalies.items() if count}


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return None


Trait = Callable[[Dialect], bool]


def _traits(model: Model, found: Probes) -> Iterator[tuple[str, Trait]]:
    """What tells dialects apart that read the same calls, the strongest first."""
    yield "its tokenizer lacks their markers", lambda dialect: not (model.complete and missing_markers(model, dialect))
    thoughts = [item for group in found.written for item in group if item.thought]
    yield "they do not read its reasoning", lambda dialect: any(
        (_read(dialect, item)[0].reasoning or "").strip() == item.thought for item in thoughts
    )
    yield "its prompt ends in another way", lambda dialect: _understands(dialect, found.generation)
    texts = [item.text for item in found.written[0]]
    yield "they are spelled in another way", lambda dialect: any(
        all(piece in text for piece in _pieces(dialect)) for text in texts
    )
    yield "they are framed in another way", lambda dialect: all(
        any(reads_back(dialect, item, exact=True) for item in group) for group in found.written
    )


def _understands(dialect: Dialect, prompt: str) -> bool:
    """Whether the prompt ends with the dialect's turn marker and nothing else that would be content."""
    turn = dialect.start.turn
    if not turn or turn not in prompt[-200:]:
        return False
    parser = ResponseParser(dialect, [])
    deltas = parser.feed(prompt.rpartition(turn)[2])
    return not (assemble([*deltas, *parser.finish()]).content or "").strip()


def _pieces(dialect: Dialect) -> list[str]:
    """The literals of the dialect's own spelling of a probe's first call: its first opener and block count."""
    edge = next(iter(dialect.openers), None)
    if edge is not None and isinstance(edge.do, Push):
        section = next(region for region in dialect.regions if region.name == edge.do.region)
        edge = next(inner for inner in section.edges if isinstance(inner.do, Call))
    if edge is None or not isinstance(edge.do, Call):
        return []
    block = edge.do.block
    payload = block.payload.other if isinstance(block.payload, FirstChar) else block.payload
    opener = edge.on[0].text if edge.on[0].consume else ""
    head = opener + block.pad[0] + (getattr(payload, "head", "") or getattr(payload, "canonical", ""))
    arguments = [getattr(payload, "argument", "").replace("{key}", key) for key in ONE[0][1]]
    filled = [text.replace("{name}", ONE[0][0]) for text in (head, *arguments)]
    return [piece for text in filled for piece in re.split(r"\{[a-z]+\}", text) if piece]


def _sample(found: Probes) -> tuple[str, ...]:
    return (f"it writes {found.written[0][0].text[:160]!r}",)


# ---- without calls in a template --------------------------------------------------------------------------


def _unwritten(model: Model, found: Probes) -> Detection:
    """The template writes no calls: an ordinary chat model, or one whose calls are told of in a prompt only."""
    reason = "its chat template writes no tool calls" + (f" ({found.error})" if found.error else "")
    return Detection(None, tuple(_marked(model)), (reason,), model.notes)


def _marked(model: Model) -> list[str]:
    """Dialects whose openers occur in the template's text."""
    template = model.template or ""
    return [
        name
        for name in list_dialects()
        if any(len(text) > 2 and text in template for text in _openers(get_dialect(name)))
    ]


def _openers(dialect: Dialect) -> Sequence[str]:
    return [marker.text for edge in dialect.openers for marker in edge.on]


def _by_vocabulary(model: Model) -> Detection:
    """Control tokens alone: enough if no other dialect has them as well."""
    fits = [get_dialect(name) for name in list_dialects()]
    fits = [dialect for dialect in fits if _only_tokens(dialect) and not missing_markers(model, dialect)]
    names = tuple(dialect.name for dialect in fits)
    if len(fits) == 1:
        markers = ", ".join(text for text in spellings(fits[0]) if text in model.vocabulary)
        return Detection(names[0], names, (f"its tokenizer has {markers}, control tokens of no other dialect",),
                         model.notes)  # fmt: skip
    reason = "its tokenizer has the control tokens of several dialects" if fits else (
        "its tokenizer has the control tokens of no dialect"
    )
    return Detection(None, names, (reason,), model.notes)


def _only_tokens(dialect: Dialect) -> bool:
    """Whether all openers of a dialect are control tokens."""
    markers = [marker for edge in dialect.openers for marker in edge.on]
    return dialect.keep_special and all(marker.consume and not marker.plain for marker in markers)


@contextmanager
def quiet() -> Iterator[None]:
    """Texts of other dialects are no anomalies that anybody should read about."""
    here = threading.get_ident()
    logger = logging.getLogger("toolglot")

    def elsewhere(record: logging.LogRecord) -> bool:
        return record.thread != here

    logger.addFilter(elsewhere)
    try:
        yield
    finally:
        logger.removeFilter(elsewhere)
