"""Inputs on which LMDeploy 0.18's own parsers lose text, lose or merge calls, or make invalid JSON: what ours makes of
them, whole, per character and at random places.

Arguments that a model writes as JSON stay as they were written, faults included (DESIGN, verbatim): nobody can tell a
missing bracket from a long value. What is asked there is that the result does not depend on the split.
"""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from engine_cases import Result, chunkings, tool
from lmdeploy_driving import choose, complete, joined, request_for, stream

F_PROPERTIES = {
    "a": {"type": "integer"},
    "s": {"type": "string"},
    "o": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "n": {"type": "number"},
    "u": {"type": ["string", "null"]},
    "e": {"enum": [1, 2, 3]},
    "r": {"$ref": "#/$defs/whole"},
}
F = tool("f", F_PROPERTIES)
F["function"]["parameters"]["$defs"] = {"whole": {"type": "integer"}}
TOOLS = [F, tool("g", {"b": {"type": "integer"}})]
ONE, TWO = ("f", '{"a": 1}'), ("g", '{"b": 2}')


def block(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


F_ONE, G_TWO = '{"name": "f", "arguments": {"a": 1}}', '{"name": "g", "arguments": {"b": 2}}'
NO_JSON, UNKNOWN = block("not json at all"), block('{"name": "zzz", "arguments": {}}')
WRAPPED = block('{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}')
MENTION = "The `<tool_call>` tag starts a call. Bye."

JSON = [
    ("text behind a call", block(F_ONE) + "DONE", Result("DONE", None, [ONE])),
    ("a second call", block(F_ONE) + block(G_TWO) + "x", Result("x", None, [ONE, TWO])),
    ("a marker in prose", MENTION, Result(MENTION)),
    ("no JSON", NO_JSON, Result(NO_JSON)),
    ("no JSON, and text", NO_JSON + "x", Result(NO_JSON + "x")),
    ("an unknown tool alone", UNKNOWN, Result(UNKNOWN)),
    ("another envelope", WRAPPED, Result(WRAPPED)),
    ("a list", block(f"[{F_ONE}, {G_TWO}]"), Result(None, None, [ONE, TWO])),
    ("two objects", block(f"{F_ONE}\n{G_TWO}"), Result(None, None, [ONE, TWO])),
    ("no closer", f"<tool_call>\n{F_ONE}Text{block(G_TWO)}", Result("Text", None, [ONE, TWO])),
    ("cut behind the name", '<tool_call>\n{"name": "f"', Result(None, None, [("f", "{}")])),
    ("cut in the name", 'Hi <tool_call>\n{"na', Result("Hi ")),
    ("parameters", block('{"name": "f", "parameters": {"a": 1}}'), Result(None, None, [ONE])),
    ("a string", block('{"name": "f", "arguments": "{\\"a\\": 1}"}'), Result(None, None, [ONE])),
    ("twice", block('{"name": "f", "arguments": {"a": 1}, "arguments": {"a": 2}}'), Result(None, None, [ONE])),
    (
        "a closer in a string",
        block('{"name": "f", "arguments": {"s": "x</tool_call>y"}}') + "z",
        Result("z", None, [("f", '{"s": "x</tool_call>y"}')]),
    ),
    (
        "a bracket is missing",
        '<tool_call>\n{"name": "f", "arguments": {"a": 1</tool_call>tail',
        Result(None, None, [("f", '{"a": 1</tool_call>tail')]),
    ),
]


def xml(*pairs: tuple[str, str], end: str = "</function></tool_call>") -> str:
    return "<tool_call><function=f>" + "".join(f"<parameter={k}>{v}</parameter>" for k, v in pairs) + end


XML = [
    ("split closers", xml(("s", "\nhello\n")) + "x", Result("x", None, [("f", '{"s": "hello"}')])),
    ("cut in a string", "<tool_call><function=f><parameter=s>hel", Result(None, None, [("f", '{"s": "hel"}')])),
    ("cut in a number", "<tool_call><function=f><parameter=a>12", Result(None, None, [("f", "{}")])),
    (
        "no </function>",
        xml(("a", "1"), end="</tool_call>mid<tool_call><function=g><parameter=b>2</parameter></function></tool_call>"),
        Result("mid", None, [ONE, TWO]),
    ),
    (
        "two in one block",
        xml(("a", "1"), end="</function><function=g><parameter=b>2</parameter></function></tool_call>"),
        Result(None, None, [ONE, TWO]),
    ),
    ("no wrapper", "<function=f><parameter=a>1</parameter></function></tool_call>", Result(None, None, [ONE])),
    ("a closer in a value", xml(("s", "a </parameter> b")), Result(None, None, [("f", '{"s": "a </parameter> b"}')])),
    *(
        (f"{key} = {written}", xml((key, written)), Result(None, None, [("f", f'{{"{key}": {value}}}')]))
        for key, written, value in (
            ("o", "5", "5"),
            ("o", "null", "null"),
            ("u", "null", "null"),
            ("n", "1e400", "1e400"),
            ("n", "NaN", '"NaN"'),
            ("s", '"quoted"', '"\\"quoted\\""'),
            ("e", "2", "2"),
            ("r", "7", "7"),
            ("undeclared", "5", '"5"'),
        )
    ),
]


def kimi(*ids: str, arguments: str = "{}") -> str:
    calls = (f"<|tool_call_begin|>{i}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>" for i in ids)
    return f"<|tool_calls_section_begin|>{''.join(calls)}<|tool_calls_section_end|>"


KIMI = [
    ("text behind a call", kimi("functions.f:0", arguments=ONE[1]) + "DONE", Result("DONE", None, [ONE])),
    ("no prefix", kimi("f:0"), Result(None, None, [("f", "{}")])),
    ("an id without a name", kimi("call_9"), Result(kimi("call_9"))),
]


def glm(name: str, key: str, rest: str) -> str:
    return f"<tool_call>{name}<arg_key>{key}</arg_key>{rest}</tool_call>"


def dsml(before: str, end: str) -> str:
    opening = '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="s" string="true">'
    return f"{before}{opening}hi{end}"


HI = ("f", '{"s": "hi"}')
DSML_END = "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
PLUGIN = '<|action_start|><|plugin|>{"name": "f", "parameters": {"a": 1}}<|action_end|>'
LLAMA = f"{F_ONE}; {G_TWO}".replace("arguments", "parameters")
OTHERS = [
    (
        "glm47",
        "a key without a value",
        glm("f", "s", "") + glm("g", "b", "<arg_value>2</arg_value>"),
        Result(None, None, [("f", '{"s": ""}'), TWO]),
    ),
    ("glm47", "no closer of the value", glm("f", "s", "<arg_value>hi"), Result(None, None, [HI])),
    ("glm47", "text behind a call", glm("f", "s", "<arg_value>hi</arg_value>") + "x", Result("x", None, [HI])),
    ("glm47", "cut in a string", "<tool_call>f<arg_key>s</arg_key><arg_value>hi", Result(None, None, [HI])),
    ("internlm2", "text behind a call", PLUGIN + "x", Result("x", None, [ONE])),
    ("deepseek_v32", "text behind a call", dsml("Hi\n\n", DSML_END) + "x", Result("Hix", None, [HI])),
    ("deepseek_v32", "one newline in front", dsml("Hi\n", DSML_END), Result("Hi", None, [HI])),
    ("llama3_json", "several calls", LLAMA, Result(None, None, [ONE, TWO])),
    ("llama3_json", "the tag, which is a special token", f"<|python_tag|>{LLAMA}", Result(None, None, [ONE, TWO])),
]
REASONING = [
    ("no thoughts", "Plain answer.", Result("Plain answer.")),
    ("a marker in thoughts", "<think>The <tool_call> tag. ok</think>Hi", Result("Hi", "The <tool_call> tag. ok")),
    ("a newline first", "\n<think>a</think>b", Result("\nb", "a")),
    ("a tag in prose", "<think>a</think>Use <think> tags. Bye", Result("Use <think> tags. Bye", "a")),
    ("a second closer", "<think>a</think>b</think>c", Result("b</think>c", "a")),
    ("newlines behind thoughts", "<think>a</think>\n\nb", Result("b", "a")),
]
ALL = [
    *(("hermes", None, *case) for case in JSON),
    *(("qwen3_coder", None, *case) for case in XML),
    *(("kimi_k2", None, *case) for case in KIMI),
    *((dialect, None, *case) for dialect, *case in OTHERS),
    *(("hermes", "same", *case) for case in REASONING),
]


@pytest.mark.parametrize(
    ("dialect", "reasoning", "text", "expected"),
    [(dialect, reasoning, text, expected) for dialect, reasoning, _, text, expected in ALL],
    ids=[f"{dialect}: {title}" for dialect, _, title, _, _ in ALL],
)
def test_weakness(dialect: str, reasoning: str | None, text: str, expected: Result, tokenizer: Any) -> None:
    parser = choose(f"toolglot_{dialect}", reasoning, tokenizer=tokenizer)
    request = request_for(TOOLS)
    for chunks in chunkings(text, text, 8):
        assert joined(stream(parser(request), chunks)) == expected, chunks
    assert complete(parser(request), text) == expected


def test_a_cut_in_xml_leaves_valid_json() -> None:
    """Wherever the input ends: strings are closed, and no tag shows; half a closer is text, since it may be."""
    parser = choose("toolglot_qwen3_coder")
    text = xml(("s", "\nhel <b>\n"), ("a", "\n12\n"), ("s", "\nx\n"))
    for end in range(text.index("=f>") + 3, len(text)):
        result = joined(stream(parser(request_for(TOOLS)), text[:end]))
        [(name, arguments)] = result.calls
        assert name == "f" and "</tool_call>".startswith(result.content or "")
        assert "</parameter>" not in arguments and "<parameter=" not in arguments
        json.loads(arguments)


def test_ids_written_twice(tokenizer: Any) -> None:
    parser = choose("toolglot_kimi_k2", tokenizer=tokenizer)(request_for(TOOLS))
    _, calls, _ = parser.parse_complete(kimi("functions.f:0", "functions.f:0"))
    assert [call.id for call in calls] == ["functions.f:0", "functions.f:1"]


@pytest.mark.parametrize(
    ("dialect", "start"),
    [
        ("hermes", '<tool_call>\n{"'),  # a key that does not end
        ("hermes", '<tool_call>\n{"name": "'),
        ("qwen3_coder", "<tool_call>"),
        ("qwen3_coder", "<tool_call><function="),
        ("kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>"),
    ],
)
def test_what_does_not_end_costs_no_more(dialect: str, start: str, tokenizer: Any) -> None:
    """LMDeploy's own take minutes for some of these, on the event loop that serves all requests."""
    parser = choose(f"toolglot_{dialect}", tokenizer=tokenizer)(request_for(TOOLS))
    chunks = [start, *["abcd"] * 16384]
    begun = process_time()
    joined(stream(parser, chunks))
    assert process_time() - begun < 3, "64 KB in chunks of 4"
