"""Which dialect a model writes, told from its chat template and vocabulary: the third use of a dialect's data.

The template is the best witness. It writes known calls (probes.py), and a dialect explains them if it reads exactly
these calls back and leaves nothing behind. Several may: some families share grammar and markers. They are told apart
by what else they declare, one trait after the other (_traits). A trait only decides where it holds for some of them
and not for others; it never brings a dialect back. What is left must also expect the prompt's end, unless its calls
are marked by control tokens.

Where no calls are written, control tokens of exactly one dialect in the vocabulary decide, if the template shows tools
to the model, or there is none. Everything else is a refusal that names the candidates: a wrong dialect is worse than
none.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from .deltas import Message, assemble
from .markers import Marker
from .model_files import Model
from .own_spelling import parting, pieces, tags
from .probes import ONE, SAID, TOOLS, Probe, Probes, probe
from .registry import get_dialect, list_dialects
from .response import ResponseParser, prompt_opens_reasoning
from .serving.tokens import as_spelled, missing_markers
from .spec import Dialect
from .table import leads_to_call

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
        return _by_template(model, found) if found.written else _without_calls(model, found)


# ---- by the template --------------------------------------------------------------------------------------


def _by_template(model: Model, found: Probes) -> Detection:
    dialects = _dialects(model)
    left = _readers(dialects, found) or _readers(dialects, found, as_text=True)
    if not left:
        reasons = ["its chat template writes tool calls that no dialect reads back"]
        return Detection(None, _marked(model), (*reasons, f"it writes {found.written[0][0].text[:160]!r}"), model.notes)
    names = ", ".join(dialect.name for dialect in left)
    reasons = [f"{names} read{'s' * (len(left) == 1)} back the calls that its chat template writes"]
    for trait, holds in _traits(model, found, left):
        kept = [dialect for dialect in left if holds(dialect)]
        if kept and len(kept) < len(left):
            gone = ", ".join(dialect.name for dialect in left if dialect not in kept)
            reasons.append(f"not {gone}: {trait}")
            left = kept
    return _decided(model, left, reasons, found.generation)


def _readers(dialects: Sequence[Dialect], found: Probes, as_text: bool = False) -> Sequence[Dialect]:
    """The dialects that read everything back. A kind of message that none of them reads back says nothing."""
    left = dialects
    for group in found.written:
        left = [one for one in left if any(reads_back(one, item, as_text=as_text) for item in group)] or left
    return () if left is dialects else left


def _decided(model: Model, left: Sequence[Dialect], reasons: list[str], prompt: str) -> Detection:
    """Certain, if one is left that nothing speaks against."""
    names = tuple(dialect.name for dialect in left)
    if len(left) > 1:
        return Detection(None, names, (*reasons, "nothing tells these apart"), model.notes)
    against = _against(model, left[0], prompt)
    if against:
        return Detection(None, tuple(dict.fromkeys((*names, *_marked(model)))), (*reasons, against), model.notes)
    return Detection(names[0], names, tuple(reasons), model.notes)


def _against(model: Model, dialect: Dialect, prompt: str) -> str:
    """What speaks against a dialect all by itself."""
    missing = missing_markers(model, dialect) if model.complete else []
    if missing:
        return f"but its tokenizer has no {', '.join(missing)}"
    marked = bool(model.vocabulary) and _only_tokens(dialect) and not missing_markers(model, dialect)
    if dialect.start.turn and not marked and not _expects(dialect, prompt):
        return f"but the prompt ends with {prompt[-40:]!r}, where {dialect.name} has {dialect.start.turn!r}"
    return ""


def reads_back(dialect: Dialect, item: Probe, exact: bool = False, as_text: bool = False) -> bool:
    """Whether a dialect reads a probe as it was meant.

    ``exact``: without odd spellings and down to the blanks; ``as_text``: a number may have been written as text.
    """
    message, anomalies = _read(dialect, item)
    calls = [(call.name, _loaded(call.arguments)) for call in message.tool_calls]
    if not all(call.complete for call in message.tool_calls):
        return False
    if calls != list(item.calls) and not (as_text and _texts(calls) == _texts(item.calls)):
        return False
    content = message.content or ""
    if exact and (anomalies or content.rstrip("\n") not in ("", SAID)):
        return False
    return content.strip() in ("", SAID) and (message.reasoning or "").strip() in ("", item.thought)


def _read(dialect: Dialect, item: Probe) -> tuple[Message, dict[str, int]]:
    text = item.text + item.end
    ends = [at for at in map(text.find, dialect.stops) if at >= 0]
    text = text[: min(ends)] if ends else item.text
    inside = prompt_opens_reasoning(dialect, item.header)
    parser = ResponseParser(dialect, TOOLS, starts_in_reasoning=inside)
    deltas = parser.feed(text)
    deltas += parser.finish("stop")
    return assemble(deltas), {kind: count for kind, count in parser.anomalies.items() if count}


def _texts(calls: Sequence[tuple[str, Any]]) -> list[Any]:
    """Calls with every value as text."""
    return [
        (name, {key: str(value) for key, value in arguments.items()} if isinstance(arguments, dict) else arguments)
        for name, arguments in calls
    ]


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return None


Trait = Callable[[Dialect], bool]


def _traits(model: Model, found: Probes, left: Sequence[Dialect]) -> Iterator[tuple[str, Trait]]:
    """What tells dialects apart that read the same calls, the strongest first."""
    texts = [item.text for group in found.written for item in group]
    known = (model.template or "") + "".join(texts)
    switches = {name for dialect in left for name in dialect.start.kwargs if name in known}
    yield "its tokenizer lacks their markers", lambda dialect: not (model.complete and missing_markers(model, dialect))
    yield "its prompt ends in another way", lambda dialect: _expects(dialect, found.generation)
    yield "its template has a switch for reasoning", lambda dialect: bool(dialect.start.kwargs) or not switches
    yield "they have tags that it has not", lambda dialect: all(
        tag in known or tag in model.vocabulary for tag in tags(dialect)
    )
    yield "they are spelled in another way", lambda dialect: any(
        all(piece in text for piece in pieces(dialect, *ONE[0])) for text in texts
    )
    yield "they part two calls in another way", lambda dialect: any(parting(dialect) in text for text in texts)
    yield "they are framed in another way", lambda dialect: all(
        any(reads_back(dialect, item, exact=True) for item in group) for group in found.written
    )


def _expects(dialect: Dialect, prompt: str) -> bool:
    """Whether a prompt ends with the dialect's turn marker, and then at most what its reasoning allows."""
    turn = dialect.start.turn
    if not turn or turn not in prompt[-200:]:
        return False
    parser = ResponseParser(dialect, [], starts_in_reasoning=False)
    deltas = parser.feed(prompt.rpartition(turn)[2])
    inside = parser.region == "reasoning"
    plain = not (assemble([*deltas, *parser.finish()]).content or "").strip()
    return plain and (inside or dialect.start.region != "reasoning")


# ---- without calls in a template --------------------------------------------------------------------------


def _without_calls(model: Model, found: Probes) -> Detection:
    """Control tokens alone, where no calls are written: an ordinary chat model has none, or shows no tools."""
    if model.template is not None and model.render is None:
        return Detection(None, _marked(model), ("its chat template could not be rendered",), model.notes)
    if model.template is not None:
        reasons = ["its chat template writes no tool calls" + (f" ({found.error})" if found.error else "")]
        if TOOLS[0]["function"]["name"] not in found.generation:
            return Detection(None, _marked(model), (*reasons, "nor does it show tools to the model"), model.notes)
    else:
        reasons = []
    fits = [dialect for dialect in _dialects(model) if _only_tokens(dialect) and not missing_markers(model, dialect)]
    expected = [dialect for dialect in fits if _expects(dialect, found.generation)]
    fits = expected or fits
    rivals = [name for name in _by_tokens(model) if name not in {dialect.name for dialect in fits}]
    if fits and rivals:
        names = tuple(dialect.name for dialect in fits)
        return Detection(None, (*names, *rivals), (*reasons, "its tokenizer has control tokens of several dialects"),
                         model.notes)  # fmt: skip
    if not fits:
        reasons.append("no dialect's control tokens are in its vocabulary")
        return Detection(None, _marked(model), tuple(reasons), model.notes)
    markers = ", ".join(sorted(model.vocabulary & {*tags(fits[0]), *_opener_texts(fits[0])}))
    whose = "of no other dialect" if len(fits) == 1 else "of several dialects"
    found_ = _decided(model, fits, [*reasons, f"its tokenizer has {markers}, {whose}"], found.generation)
    return replace(found_, notes=(*found_.notes, "no call could be read back"))


def _only_tokens(dialect: Dialect) -> bool:
    """Whether all calls of a dialect begin with control tokens."""
    markers = [marker for edge in dialect.openers if leads_to_call(dialect, edge) for marker in edge.on]
    return dialect.keep_special and all(marker.consume and not marker.plain for marker in markers)


def _dialects(model: Model) -> list[Dialect]:
    return [as_spelled(get_dialect(name), model) for name in list_dialects()]


def _marked(model: Model) -> tuple[str, ...]:
    """Dialects whose openers occur in the template's text, or else hold special tokens."""
    template = model.template or ""
    openers = [(dialect.name, opener.text) for dialect, opener in _openers(model)]
    named = dict.fromkeys(name for name, text in openers if len(text) > 2 and text in template)
    return tuple(named) or _by_tokens(model)


def _by_tokens(model: Model) -> tuple[str, ...]:
    """Dialects whose openers hold special tokens of the tokenizer."""
    special = [token for token in model.special if len(token) > 3]
    return tuple(
        dict.fromkeys(
            dialect.name
            for dialect, opener in _openers(model)
            if not opener.plain and any(token in opener.text for token in special)
        )
    )


def _opener_texts(dialect: Dialect) -> list[str]:
    return [marker.text for edge in dialect.openers for marker in edge.on]


def _openers(model: Model) -> list[tuple[Dialect, Marker]]:
    return [(dialect, marker) for dialect in _dialects(model) for edge in dialect.openers for marker in edge.on]


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
