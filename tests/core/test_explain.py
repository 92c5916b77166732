"""Traces: every character has one kind, the kinds add up to the message, and the pages show text as data."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from corpus import CorpusLine, all_lines, std_tools
from harness import expected_result, make_id, to_result
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fuzz import OPTIONS, soups

from toolglot.core import get_dialect, list_dialects
from toolglot.core.cli import main
from toolglot.core.explain import KINDS, MEANINGS, to_html, to_text
from toolglot.core.response import DROPS
from toolglot.core.spec import CallBlock, Envelope, FirstChar, Named
from toolglot.core.tracing import Trace, trace

LINES = all_lines()
ROOT = Path(__file__).parents[2]


def blocks(value: object) -> list[CallBlock]:
    """All call blocks in a dialect's data."""
    if isinstance(value, CallBlock):
        return [value]
    if isinstance(value, (tuple, list)):
        return [block for item in value for block in blocks(item)]
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return []
    return blocks([getattr(value, item.name) for item in dataclasses.fields(value)])


def writes_json(dialect: str) -> bool:
    """Whether all arguments of the dialect are JSON that goes out as written."""
    spec = get_dialect(dialect)
    grammars: list[object] = []
    for block in blocks([spec.openers, spec.regions, spec.messages]):
        payload = block.payload
        cases = [*dict(payload.cases).values(), payload.other] if isinstance(payload, FirstChar) else [payload]
        grammars += cases
    return all(isinstance(grammar, (Envelope, Named)) for grammar in grammars)


def traced(line: CorpusLine) -> Trace:
    return trace(line.raw, line.dialect, line.tools, finish_reason=line.finish_reason, make_id=make_id, **line.options)


def check(found: Trace) -> None:
    """What holds for every trace."""
    assert found.agrees
    assert not found.spans or (found.spans[0].start, found.spans[-1].end) == (0, len(found.text))
    assert all(one.end == other.start for one, other in pairwise(found.spans))
    assert all(span.start < span.end and span.kind in KINDS for span in found.spans)
    message = found.message
    assert found.joined("content") == (message.content or "")
    assert found.joined("reasoning") == (message.reasoning or "")
    for index, call in enumerate(message.tool_calls):
        assert found.joined("name", index) in (call.name, f"{call.name}.{call.name}")  # see Calls.begin
        verbatim = found.joined("arguments", index)
        unwrapped = "string_arguments" in found.anomalies or (verbatim[:2] == '{\\' and not call.complete)
        if writes_json(found.dialect) and not unwrapped:
            assert verbatim == call.arguments or (not verbatim and call.arguments == "{}")
    for emission in found.emissions:
        assert 0 <= emission.held < max(len(found.text), 1)
        assert bool(emission.why) == (emission.held > 0) or emission.end, emission


@pytest.mark.parametrize("line", LINES[::2], ids=str)
def test_every_character_has_a_kind(line: CorpusLine) -> None:
    found = traced(line)
    check(found)
    assert to_result(found.message) == expected_result(line)


@pytest.mark.parametrize("dialect", list_dialects())
def test_any_text(dialect: str) -> None:
    @settings(max_examples=settings.default.max_examples // 5 or 1)  # type: ignore[union-attr]
    @given(
        text=soups(dialect),
        options=OPTIONS,
        tools=st.sampled_from(["std", "std", None, []]),
        reason=st.sampled_from([None, "stop", "length"]),
    )
    def soup(text: str, options: dict[str, Any], tools: Any, reason: str | None) -> None:
        offered = std_tools() if tools == "std" else tools
        if not isinstance(options.get("tool_choice", ""), str) and not offered:
            del options["tool_choice"]
        found = trace(text, dialect, offered, finish_reason=reason, **options)
        check(found)
        to_text(found, color=True)
        Page(to_html(found))

    soup()


def kinds(raw: str, dialect: str, **options: Any) -> list[tuple[str, str]]:
    found = trace(raw, dialect, std_tools(), **options)
    check(found)
    return [(span.kind, raw[span.start : span.end]) for span in found.spans if span.kind != "framing"]


def test_kinds_of_an_envelope() -> None:
    raw = '<think>\nhm\n</think>\n\nSo.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
    assert kinds(raw, "hermes") == [
        ("marker", "<think>"),
        ("reasoning", "hm"),
        ("marker", "</think>"),
        ("content", "So."),
        ("marker", "<tool_call>"),
        ("marker", '{"name":'),
        ("marker", '"'),
        ("name", "add"),
        ("marker", '",'),
        ("marker", '"arguments":'),
        ("arguments", '{"a": 1, "b": 2}'),
        ("marker", "}"),
        ("marker", "</tool_call>"),
    ]


def test_kinds_of_tags() -> None:
    """Blanks and closers inside a value are the value's, the newlines next to it are not."""
    raw = (
        "<tool_call>\n<function=write_file>\n<parameter=path>\n a </parameter> b \n\n</parameter>\n"
        "<parameter=content>\nx\n</parameter>\n</function>\n</tool_call>"
    )
    assert [text for kind, text in kinds(raw, "qwen3_coder") if kind == "arguments"] == [
        "path", " a </parameter> b \n", "content", "x",
    ]  # fmt: skip


def test_kinds_of_call_syntax() -> None:
    assert kinds("[add(a=1, b=2), nope(c=')')]", "llama4_pythonic") == [
        ("marker", "["), ("name", "add"), ("marker", "("), ("arguments", "a=1, b=2"), ("marker", "),"),
        ("dropped", " nope(c=')')"), ("marker", "]"),
    ]  # fmt: skip


def test_kinds_of_ids_and_headers() -> None:
    raw = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>"
        '{"a": 1, "b": 2}<|tool_call_end|><|tool_calls_section_end|>'
    )
    assert kinds(raw, "kimi_k2")[1:4] == [("id", "functions."), ("name", "add"), ("id", ":0")]
    raw = " to=functions.ping<|channel|>commentary json<|message|>{}<|call|>"
    assert ("name", "ping") in kinds(raw, "gpt_oss")
    assert kinds(raw, "gpt_oss")[-2:] == [("arguments", "{}"), ("marker", "<|call|>")]


def test_arguments_before_their_name() -> None:
    raw = '<tool_call>{"arguments": {"a": 1, "b": 2}, "name": "add"}</tool_call>'
    found = trace(raw, "hermes", std_tools())
    assert found.joined("arguments", 0) == '{"a": 1, "b": 2}'
    (emission,) = [emission for emission in found.emissions if getattr(emission.delta, "arguments", None)]
    assert emission.held == raw.index('add"') + 3 - raw.index('{"a"')


def test_what_a_delta_waited_for() -> None:
    found = trace("a<b\n</tool_cal", "hermes", std_tools())
    waits = [(emission.held, emission.why) for emission in found.emissions]
    assert waits[:2] == [(0, ()), (1, ("'<' may become a marker",))]
    assert trace('<tool_call>{"name": "ping"', "hermes").emissions[0].why == (
        "a block without a name yet: it may turn out to be text",
    )


def test_what_happened() -> None:
    raw = '<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call> Hi <tool_call> and <tool_call>{"na'
    told = [event.what for event in trace(raw, "hermes", std_tools()).events]
    for what in (
        "marker '<tool_call>': a block begins",
        "call 'nope' is dropped",
        "counted: undeclared_tool",
        "no call after all: the block is refuted",
        "the input ended before the call had a name: the block is dropped",
    ):
        assert what in told
    assert told[-1] == "the end"


def test_dropped_text_that_comes_back() -> None:
    raw = '<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call>'
    found = trace(raw, "hermes", std_tools())
    assert {span.kind for span in found.spans} == {"content"}
    assert found.events[-2].what.startswith("nothing else is left of the response")


def test_a_call_that_is_held_to_its_end() -> None:
    raw = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    found = trace(raw, "hermes", std_tools(), arguments="complete")
    assert found.emissions[0].why[-1].startswith("arguments=complete")


def test_controls() -> None:
    """Spans of control tokens count: the same text spelled by ordinary tokens is content."""
    raw = 'say [TOOL_CALLS]ping[ARGS]{} [TOOL_CALLS]ping[ARGS]{}'
    at = raw.rindex("[TOOL_CALLS]")
    found = trace(raw, "mistral", std_tools(), controls=[(at, at + 12), (at + 16, at + 22)])
    check(found)
    assert found.message.content == raw[:at]
    assert found.joined("name", 0) == "ping"


def test_cost_is_linear() -> None:
    """Long holds, long calls and long lists of calls: twice the text, about twice the steps."""
    import sys

    def steps(text: str, dialect: str) -> int:
        count = 0

        def tick(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(tick)
        try:
            trace(text, dialect, std_tools())
        finally:
            sys.setprofile(None)
        return count

    for dialect, one in (
        ("hermes", '<tool_call>{"arguments": {"content": "%s"}, "name": "write_file"}</tool_call>'),
        ("hermes", "<tool_call>" * 20 + "%s"),
        ("qwen3_coder", "<function=write_file><parameter=content>\n</parameter>%s"),
        ("llama4_pythonic", "[ping(), %s"),
    ):
        short, long = (steps(one.replace("%s", "ping(), " * count), dialect) for count in (200, 400))
        assert long < 2.3 * short, dialect


def test_the_parser_is_not_slowed() -> None:
    """Nothing watches a parser that is not traced."""
    from toolglot.core import ResponseParser
    from toolglot.core.buffer import Buffer
    from toolglot.core.calls import Calls
    from toolglot.core.machine import Machine

    trace("Hi", "hermes")
    machine = ResponseParser("hermes")._machine
    assert (type(machine), type(machine.buf), type(machine.calls)) == (Machine, Buffer, Calls)


# -- pages ------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """A page whose elements are closed as they should, and the text of its elements."""

    VOID = ("meta", "br")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, str] = {}
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open:
            self.texts[tag] = self.texts.get(tag, "") + data


NASTY = (
    "<script>alert(1)</script> &amp; <!-- \"' onload=x </pre></style> \x1b[31m \x07 \u202e \u200b \x9b "
    '<tool_call>{"name": "</script><img src=x>", "arguments": {}}</tool_call>'
    '<tool_call>{"name": "ping", "arguments": {"<b>": "</td>\ud800"}}</tool_call>'
)


def test_html_shows_text_as_data() -> None:
    html = to_html(trace(NASTY, "hermes"))
    page = Page(html)
    assert not page.seen & {"script", "img", "b", "link", "iframe"}
    known = {"lang", "charset", "name", "content", "http-equiv", "class", "title"}
    assert {name for name, _ in page.attributes} <= known
    assert "http:" not in html and "https:" not in html and "url(" not in html
    shown = "<script>alert(1)</script> &amp; <!-- \"' onload=x </pre></style> \\x1b[31m \\x07"
    assert page.texts["pre"].startswith(shown)
    html.encode("utf-8")  # no lone surrogate
    assert all(char == "\n" or char.isprintable() for char in html)


def test_text_is_harmless_on_a_terminal() -> None:
    plain = to_text(trace(NASTY, "hermes"))
    assert all(char == "\n" or char.isprintable() for char in plain)
    colored = to_text(trace(NASTY, "hermes"), color=True)
    assert "\x1b[31m \\x07" not in colored and "\\x1b[31m \\x07" in colored


def test_every_counter_is_explained() -> None:
    assert set(MEANINGS) >= DROPS
    rules = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    counters = re.findall(r"`(\w+)`", rules.partition("## Counters (`parser.anomalies`)")[2])
    assert set(counters) - {"dropped_characters"} == set(MEANINGS)
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "core").glob("*.py"))
    assert set(re.findall(r'(?:anomalies\[|lost\(|drop\()"(\w+)"', source)) <= {*counters}


# -- the command ------------------------------------------------------------------------------------------------


def run(argv: list[str]) -> int:
    try:
        return main(argv)
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.fixture
def files(tmp_path: Path) -> Mapping[str, str]:
    (tmp_path / "tools.json").write_text(json.dumps(std_tools()), encoding="utf-8")
    (tmp_path / "raw.txt").write_text('Hi.\n<tool_call>\n{"name": "nope"}\n</tool_call>', encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\x7fELF\x00\xff" * 100)
    return {path.name: str(path) for path in tmp_path.iterdir()}


def test_command(files: Mapping[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["explain", "--dialect", "hermes", "--tools", files["tools.json"], files["raw.txt"]]
    assert run(argv) == 0
    captured = capsys.readouterr()
    assert "undeclared_tool 1: a call to a tool that the request does not offer was dropped" in captured.out
    assert "\x1b" not in captured.out and captured.err == ""
    assert run([*argv, "--color", "always"]) == 0
    assert "\x1b[1;31m" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert run([*argv, "--html", str(page)]) == 0
    assert "undeclared_tool" in Page(page.read_text(encoding="utf-8")).texts["ul"]


def test_command_errors(files: Mapping[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for argv, say in (
        ([files["raw.txt"]], "--dialect"),
        (["--dialect", "hermess", files["raw.txt"]], "hermes"),
        (["--dialect", "hermes", str(tmp_path / "none.txt")], "none.txt"),
        (["--dialect", "hermes", files["binary"]], "utf-8"),
        (["--dialect", "hermes", "--html", str(tmp_path), files["raw.txt"]], str(tmp_path)),
        (["--recorded", "1"], "FILE"),
        (["--recorded", "1", files["raw.txt"]], "raw.txt:1"),
    ):
        assert run(["explain", *argv]) == 2
        captured = capsys.readouterr()
        assert say in captured.err and captured.err.count("\n") == 1 and captured.out == ""
