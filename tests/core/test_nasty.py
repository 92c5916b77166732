"""Streams that broke an earlier state of the core, or would break a naive one: each with its exact result, whole and
one character at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from corpus import std_tools
from harness import Call, Result, counters, make_id, run

from toolglot.core import ResponseParser

S, B, A, X, E = (
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
)
DS, DB, DP, DX, DE = (
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
)
LONG = "x" * 300


@dataclass
class Case:
    """Calls are (name, arguments) or (name, arguments, id); all complete."""

    name: str
    dialect: str
    raw: str
    content: str | None = None
    calls: list[tuple[str, ...]] = field(default_factory=list)
    reasoning: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    anomalies: dict[str, int] = field(default_factory=dict)


CASES = [
    Case(
        "two equal ids",
        "kimi_k2",
        f"{S}{B}functions.add:1{A}{{}}{X}{B}functions.add:1{A}{{}}{X}{E}",
        calls=[("add", "{}", "functions.add:1"), ("add", "{}", "functions.add:2")],
        anomalies={"duplicate_id": 1},
    ),
    Case(
        "a made id meets a written one",
        "kimi_k2",
        f"{S}{B}functions.ping:1{A}{{}}{X}{B}ping{A}{{}}{X}{E}",
        calls=[("ping", "{}", "functions.ping:1"), ("ping", "{}", "functions.ping:2")],
    ),
    Case(
        "arguments behind a JSON body",
        "qwen3_coder",
        '<tool_call><function=add>{"a":1}<parameter=b>2</parameter></function></tool_call>',
        content="<parameter=b>2</parameter></function></tool_call>",
        calls=[("add", '{"a":1}')],
    ),
    Case(
        "more held than allowed",
        "hermes",
        '<tool_call>{"arguments": {"a": "' + "x" * 1300 + '<tool_call>{"name":"ping"}</tool_call>',
        content='<tool_call>{"arguments": {"a": "' + "x" * 1300,
        calls=[("ping", "{}")],
        options={"held_arguments": 5},
        anomalies={"refuted_block": 1},
    ),
    Case(
        "a broken element of a list",
        "hermes",
        '<tool_call>[{"name":"ping"}, {"foo": "KEPT" bar}]</tool_call> end',
        content=', {"foo": "KEPT" bar}]</tool_call> end',
        calls=[("ping", "{}")],
    ),
    Case(
        "a nameless element of a list",
        "hermes",
        '<tool_call>[{"name":"ping"}, {"foo": "DROPPED"}, {"name":"add"}]</tool_call> end',
        content=" end",
        calls=[("ping", "{}"), ("add", "{}")],
        anomalies={"nameless_call": 1, "dropped_characters": 18},
    ),
    Case(
        "an empty section does not end the reasoning",
        "deepseek_v31",
        f"think {DS}{DE} more</think>answer",
        content="answer",
        reasoning="think  more",
        options={"starts_in_reasoning": True},
    ),
    Case(
        "a dropped call does not end the reasoning",
        "deepseek_v31",
        f"think {DS}{DB}nope{DP}{{}}{DX}{DE} more</think>answer",
        content="answer",
        reasoning="think  more",
        options={"starts_in_reasoning": True},
        anomalies={"undeclared_tool": 1},
    ),
    Case(
        "the second call of a section ends it",
        "deepseek_v31",
        f"think {DS}{DB}nope{DP}{{}}{DX}{DB}ping{DP}{{}}{DX}{DE} more</think>answer",
        content=" moreanswer",
        reasoning="think ",
        calls=[("ping", "{}")],
        options={"starts_in_reasoning": True},
    ),
    Case(
        "text behind a call's JSON, and its closer",
        "gpt_oss",
        '<|channel|>commentary to=functions.add<|message|>{"a":1} x<|call|>'
        "<|start|>assistant<|channel|>final<|message|>hi",
        content=" xhi",
        calls=[("add", '{"a":1}')],
    ),
    Case("a closer twice", "gpt_oss", "<|channel|>final<|message|>hi<|return|><|return|>", content="hi"),
    Case(
        "a broken call between good ones",
        "deepseek_v31",
        f"{DS}{DB}ping{DP}{{}}{DX}{DB}no pe{DP}{{}}{DX}{DB}ping{DP}{{}}{DX}{DE}",
        calls=[("ping", "{}"), ("ping", "{}")],
        anomalies={"refuted_block": 1, "noise": 1},
    ),
    Case(
        "text behind a call, then a good one",
        "deepseek_v31",
        f"{DS}{DB}ping{DP}{{}} oops{DX}{DB}ping{DP}{{}}{DX}{DE}",
        calls=[("ping", "{}"), ("ping", "{}")],
        anomalies={"noise": 1},
    ),
    Case(
        "a bracket too many without a closer is text",
        "hermes",
        '<tool_call>{"name":"ping"}\n\n}\nDone.',
        content="\n\n}\nDone.",
        calls=[("ping", "{}")],
    ),
    Case(
        "brackets too many before the closer",
        "hermes",
        '<tool_call>{"name":"ping"}\n}}\n</tool_call>\nDone.',
        content="\nDone.",
        calls=[("ping", "{}")],
        anomalies={"stray_bracket": 2},
    ),
    Case("noise of a refuted section is not dropped", "kimi_k2", f"{S}noise{B}!x", content=f"{S}noise{B}!x"),
    Case(
        "an argument without a key is no end of a value",
        "qwen3_coder",
        "<tool_call><function=write_file><parameter=content>\nUse:\n<parameter=>\nmore</parameter></function></tool_call>",
        calls=[("write_file", '{"content": "Use:\\n<parameter=>\\nmore"}')],
        options={"tools": None},
    ),
    Case(
        "a lone surrogate in a key",
        "qwen3_coder",
        "<tool_call><function=add><parameter=a\ud83d>1</parameter></function></tool_call>",
        calls=[("add", '{"a\\ud83d": "1"}')],
    ),
    Case(
        "text behind a long refuted object is no gap",
        "hermes",
        '<tool_call>{"name":"ping"}, {"a": "' + LONG + '" <think>hm</think> t',
        content=', {"a": "' + LONG + '" <think>hm</think> t',
        calls=[("ping", "{}")],
    ),
    Case(
        "a name that never ends",
        "hermes",
        '<tool_call>{"name": "' + LONG + '<tool_call>{"name": "ping"}</tool_call>',
        content='<tool_call>{"name": "' + LONG,
        calls=[("ping", "{}")],
    ),
    Case(
        "JSON in place of pairs",
        "glm47",
        'ok<tool_call>add\n{"a": 1, "b": 2}\n</tool_call>',
        content="ok",
        calls=[("add", '{"a": 1, "b": 2}')],
        options={"starts_in_reasoning": False},
    ),
    Case(  # as https://github.com/raullenchai/Rapid-MLX/pull/1070 reports it from a quantisation
        "JSON, no section, another closer",
        "hy_v3",
        '<tool_call:opensource>ping<tool_sep:opensource>{"city": "Paris"}<end_of_tool_call:opensource>!',
        content="!",
        calls=[("ping", '{"city": "Paris"}')],
    ),
    Case(
        "JSON in a section",
        "hy_v4",
        '<tool_calls:6124c78e>\n<tool_call:6124c78e>ping\n{"q": "x"}\n</tool_call:6124c78e>\n</tool_calls:6124c78e>',
        calls=[("ping", '{"q": "x"}')],
        options={"starts_in_reasoning": False},
    ),
    Case(
        "a block of another type between good ones",
        "step3",
        "<｜tool_calls_begin｜>"
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="ping"></steptml:invoke><｜tool_call_end｜>'
        "<｜tool_call_begin｜>code<｜tool_sep｜>print(1)<｜tool_call_end｜>"
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="ping"></steptml:invoke><｜tool_call_end｜>'
        "<｜tool_calls_end｜>",
        calls=[("ping", "{}"), ("ping", "{}")],
        options={"starts_in_reasoning": False},
        anomalies={"noise": 1},
    ),
    Case(
        "a call quoted whole in a value",  # known loss: what implies the value's end follows
        "mimo",
        "<tool_call><function=write_file><parameter=path>m.md</parameter><parameter=content>`<tool_call><function=f>"
        "</function></tool_call>`</parameter></function></tool_call>",
        content="`</parameter></function></tool_call>",
        calls=[("write_file", '{"path": "m.md", "content": "`<tool_call><function=f>"}')],
        anomalies={"missing_closer": 1},
    ),
    Case(
        "commas behind an object",
        "hermes",
        '<tool_call>{"name":"ping"},,, t',
        content=",,, t",
        calls=[("ping", "{}")],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nasty(case: Case) -> None:
    options = dict(case.options)
    tools = options.pop("tools", std_tools())
    calls = tuple(
        Call(name, arguments, True, rest[0] if rest else make_id(name, index))
        for index, (name, arguments, *rest) in enumerate(case.calls)
    )
    wanted = Result(case.content, case.reasoning, calls)
    for chunks in ([case.raw], list(case.raw)):
        parser = ResponseParser(case.dialect, tools, make_id=make_id, **options)
        assert run(parser, chunks) == wanted
        counted = counters(parser)
        assert {kind: counted.get(kind, 0) for kind in case.anomalies} == case.anomalies


def test_account_of_a_cut_literal_is_the_same_for_any_split() -> None:
    """Part of the value took the fast path, its last key was never decided."""
    raw = '[order(items=[{"sku": "A-1", "q'
    counted = []
    for chunks in ([raw], list(raw)):
        parser = ResponseParser("llama4_pythonic", std_tools(), make_id=make_id)
        run(parser, chunks)
        counted.append(counters(parser))
    assert counted[0] == counted[1]


def test_dropped_characters_never_exceed_the_input() -> None:
    for dialect, raw, options in (
        ("llama4_pythonic", "[nope(foo, bar, baz)] x", {}),
        ("qwen3_coder", "<function=book>\n<parameter=seats>", {"arguments": "complete"}),
        ("kimi_k2", f"{S}noise{B}functions.pi", {}),
    ):
        parser = ResponseParser(dialect, std_tools(), **options)
        run(parser, [raw])
        assert parser.anomalies["dropped_characters"] <= len(raw)
