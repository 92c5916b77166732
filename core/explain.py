"""A trace (tracing.py) for people: text for a terminal, or one HTML page that needs nothing else.

Model text is shown as data: what a terminal or a browser would act on, or that cannot be seen, is written as an escape.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from .response import DROPS
from .tracing import Emission, Trace

__all__ = ["MEANINGS", "to_html", "to_text"]

# kind -> what it is, terminal colour, HTML colours (light, dark)
KINDS = {
    "content": ("shown as content", "37", "#f3f3f3", "#2b2b2b"),
    "reasoning": ("shown as reasoning", "36", "#d5eef5", "#12404d"),
    "name": ("name of a call", "1;32", "#bfe8c3", "#1d5a26"),
    "id": ("id of a call", "32", "#dcf3de", "#17401d"),
    "arguments": ("what a call's arguments come from", "34", "#d6e2ff", "#1f3a78"),
    "marker": ("markup", "33", "#ffeab5", "#5c4708"),
    "framing": ("blanks of the markup", "2;33", "#fff6dc", "#3b3010"),
    "dropped": ("in no part of the result", "1;31", "#ffcfcc", "#6e1d18"),
}

# counter -> what it means
MEANINGS = {
    "undeclared_tool": "a call to a tool that the request does not offer was dropped (setting undeclared_tools)",
    "parallel_call": "a second call was dropped: the request allows one (parallel_tool_calls)",
    "incomplete_call": "an unfinished call was dropped (setting arguments=complete)",
    "cut_block": "the input ended in a call before its name was complete: dropped",
    "nameless_call": "an object in a list of calls has no name that could be one: dropped",
    "noise": "text between calls of a section was dropped",
    "builtin_tool": "a message to a tool that is no function was dropped",
    "broken_header": "a message header without its end was dropped",
    "refuted_block": "something that began like a call is none: text",
    "stray_marker": "a marker where it means nothing was swallowed",
    "stray_bracket": "brackets too many behind a payload were dropped",
    "missing_closer": "a closer is missing: implied by what follows",
    "missing_opener": "an argument's opener is missing: implied by what follows",
    "renamed_item": "an element of an array has another name than the format's: read as an item",
    "string_arguments": "the arguments were a JSON string that holds an object: unwrapped",
    "wrapped_arguments": "one argument held all others: unwrapped",
    "non_json_arguments": "the arguments are no JSON: passed on as they are",
    "unconverted_value": "a value is not of its schema's type: passed on as a string",
    "malformed_value": "part of a value has no place in JSON: dropped",
    "broken_argument": "an argument without a readable key was dropped",
    "cut_value": "the input ended in a value that can only be converted whole: the pair was dropped",
    "positional_argument": "an argument without a name was dropped",
    "skipped_member": "members of the JSON besides name and arguments were left out",
    "duplicate_id": "an id was written twice: the second call got another",
}

_LINE = 100  # characters of text in a row of a table


@dataclass(frozen=True)
class _Row:
    """One or more deltas; those that followed each other without waiting are one row."""

    at: str
    kind: str
    what: str
    held: int
    why: tuple[str, ...]


def to_text(trace: Trace, color: bool = False) -> str:
    """The trace for a terminal; with ``color`` the text itself comes first, coloured."""
    lines = [_headline(trace), ""]
    if color:
        lines += ["  ".join(_paint(kind, kind) for kind in KINDS), ""]
        lines.append("".join(_paint(_visible(trace.text[span.start:span.end]), span.kind) for span in trace.spans))
        lines.append("")
    lines.append("Characters")
    for span in trace.spans:
        owner = "" if span.call is None else f" {span.call}"
        kind = _pad(f"{span.kind}{owner}", 13, span.kind if color else "")
        lines.append(f"  {span.start:>6}-{span.end:<6} {kind} {_quoted(trace.text[span.start:span.end])}")
    lines += ["", "What happened, after so many characters"]
    lines += [f"  {event.at:>6} {_visible(event.what)}" for event in trace.events]
    lines += ["", "Deltas, when they went out, and how many characters they waited"]
    for row in _rows(trace):
        waited = f"  waited {row.held}: {'; '.join(map(_visible, row.why))}" if row.held else ""
        lines.append(f"  {row.at:>13} {_pad(row.kind, 11, row.kind if color else '')} {row.what}{waited}")
    lines += ["", "Result", *(f"  {name}: {value}" for name, value in _result(trace))]
    counted = list(_counted(trace))
    if counted:
        lines += ["", "Counted", *(f"  {line}" for line in counted)]
    return "\n".join(lines) + "\n"


def to_html(trace: Trace) -> str:
    """The trace as one page without scripts and without anything to be loaded."""
    legend = "".join(
        f'<li><span class="{kind}">{kind}</span> {escape(about)}</li>' for kind, (about, *_) in KINDS.items()
    )
    text = "".join(
        f'<span class="{span.kind}" title="{span.start} to {span.end}: {span.kind}{_owner(span.call)}">'
        f"{escape(_visible(trace.text[span.start : span.end]))}</span>"
        for span in trace.spans
    )
    events = "".join(f"<tr><td>{event.at}</td><td>{escape(_visible(event.what))}</td></tr>" for event in trace.events)
    deltas = "".join(
        f'<tr><td>{row.at}</td><td><span class="{row.kind}">{row.kind}</span></td><td><code>{escape(row.what)}</code>'
        f"</td><td>{row.held or ''}</td><td>{escape('; '.join(map(_visible, row.why)))}</td></tr>"
        for row in _rows(trace)
    )
    result = "".join(f"<tr><td>{escape(name)}</td><td><code>{escape(value)}</code></td></tr>"
                     for name, value in _result(trace))  # fmt: skip
    counted = "".join(f"<li>{escape(line)}</li>" for line in _counted(trace))
    light = "".join(f".{kind}{{background:{colors[2]}}}" for kind, colors in KINDS.items())
    dark = "".join(f".{kind}{{background:{colors[3]}}}" for kind, colors in KINDS.items())
    return _PAGE.format(
        title=escape(_headline(trace)), light=light, dark=dark, legend=legend, text=text, events=events,
        deltas=deltas, result=result, counted=f"<h2>Counted</h2><ul>{counted}</ul>" if counted else "",
    )  # fmt: skip


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title><style>
:root{{color-scheme:light dark}}
body{{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:72rem;padding:1rem}}
h1{{font-size:1.3rem;overflow-wrap:anywhere}}h2{{font-size:1.1rem;margin-top:2rem}}
pre,code{{font:14px/1.6 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}}
pre{{border:1px solid #8888;padding:.75rem}}
pre span,li span,td span{{border-radius:2px}}
.dropped{{text-decoration:line-through}}.name{{font-weight:bold}}
ul.legend{{columns:16rem;list-style:none;padding:0}}ul.legend span{{padding:0 .3rem}}
div{{overflow-x:auto}}table{{border-collapse:collapse;min-width:100%}}
td,th{{border-bottom:1px solid #8884;padding:.2rem .6rem;text-align:left;vertical-align:top}}
td:first-child{{white-space:nowrap}}td code{{display:block;min-width:13rem}}td:last-child{{min-width:14rem}}
{light}
@media (prefers-color-scheme:dark){{{dark}}}
</style></head><body>
<h1>{title}</h1>
<ul class="legend">{legend}</ul>
<h2>Text</h2><pre>{text}</pre>
<h2>Result</h2><div><table>{result}</table></div>
{counted}
<h2>Deltas</h2><div><table><tr><th>after character</th><th>kind</th><th>delta</th><th>waited</th><th>for</th></tr>
{deltas}</table></div>
<h2>What happened</h2><div><table><tr><th>after character</th><th></th></tr>{events}</table></div>
</body></html>
"""


def _headline(trace: Trace) -> str:
    doubt = "" if trace.agrees else "; THE PARSER ITSELF GIVES ANOTHER RESULT: please report this"
    return f"toolglot explain: dialect {trace.dialect}, {len(trace.text)} characters{doubt}"


def _owner(call: int | None) -> str:
    return "" if call is None else f" of call {call}"


def _result(trace: Trace) -> Iterator[tuple[str, str]]:
    message = trace.message
    for name, value in (("content", message.content), ("reasoning", message.reasoning)):
        if value is not None:
            yield name, _quoted(value, None)
    for index, call in enumerate(message.tool_calls):
        cut = "" if call.complete else ", cut"
        yield f"call {index}{cut}", f"{_visible(call.name)} {_visible(call.arguments)}"
    if message == type(message)():
        yield "nothing", ""


def _counted(trace: Trace) -> Iterator[str]:
    for kind, count in sorted(trace.anomalies.items(), key=lambda item: (item[0] not in DROPS, item[0])):
        if kind != "dropped_characters":
            meaning = MEANINGS.get(kind, "")
            yield f"{kind} {count}" + (f": {meaning}" if meaning else "")
    dropped = trace.anomalies.get("dropped_characters")
    if dropped:
        yield f"{dropped} characters are in no part of the result"


def _rows(trace: Trace) -> Iterator[_Row]:
    """The deltas; a run of deltas of one channel or call in which nothing waited is one row."""
    run: list[Emission] = []
    for emission in trace.emissions:
        plain = not emission.held and not emission.end and not getattr(emission.delta, "name", None)
        same = run and _channel(run[-1]) == _channel(emission)
        if run and not (plain and same):
            yield _row(run)
            run = []
        run.append(emission)
        if not plain:
            yield _row(run)
            run = []
    if run:
        yield _row(run)


def _channel(emission: Emission) -> tuple[str, int]:
    return emission.delta.kind, getattr(emission.delta, "index", -1)


def _row(run: list[Emission]) -> _Row:
    first, last = run[0], run[-1]
    place = "the end" if last.end else f"{first.at}" if first.at == last.at else f"{first.at} to {last.at}"
    delta = first.delta
    if delta.kind != "tool_call":
        text = "".join(getattr(emission.delta, "text", "") for emission in run)
        return _Row(place, delta.kind, _quoted(text), first.held, first.why)
    index = delta.index
    if delta.name is not None:
        return _Row(place, "name", f"call {index}: {_visible(delta.name)}", first.held, first.why)
    text = "".join(getattr(emission.delta, "arguments", None) or "" for emission in run)
    complete = any(getattr(emission.delta, "complete", False) for emission in run)
    what = f"call {index}: " + ", ".join([_quoted(text)] * bool(text) + ["complete"] * complete)
    return _Row(place, "arguments", what, first.held, first.why)


def _visible(text: str) -> str:
    """The text with what cannot be seen, or is obeyed, as an escape; a line break shows and breaks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_char(char) for char in text)


def _char(char: str) -> str:
    if char == "\n":
        return "⏎\n"
    if char == " " or not unicodedata.category(char).startswith(("C", "Z")):
        return char
    return char.encode("unicode_escape").decode("ascii")


def _quoted(text: str, limit: int | None = _LINE) -> str:
    """The text on one line, cut in its middle."""
    if limit is not None and len(text) > limit:
        text = f"{text[: limit // 2]} … {len(text) - limit} more … {text[-limit // 2 :]}"
    return f"‹{_visible(text)}›".replace("⏎\n", "⏎")


def _pad(text: str, width: int, kind: str) -> str:
    padded = f"{text:<{width}}"
    return _paint(padded, kind) if kind else padded


def _paint(text: str, kind: str) -> str:
    code = KINDS[kind][1]
    return "\n".join(f"\x1b[{code}m{line}\x1b[0m" if line else "" for line in text.split("\n"))
