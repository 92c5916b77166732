"""Emission lag: fed one character at a time, how many received characters have not gone out yet.

Inside a JSON string no marker is legal, so JSON arguments that are copied as written go out character by
character: lag 0. Inside a string that the parser writes itself (tagged value, call syntax) and in content
or reasoning, text is held only while it may be the beginning of a marker. HELD is the longest such
beginning, per dialect, with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from corpus import CorpusLine, all_lines
from harness import CONTROL_MARKERS, expected_result, new_parser, run, tools_named
from material import LITERALS, VERBATIM, Derived, held_of

# Longest text that can be held: a marker less its last character, with framing and what must follow it.
HELD: Derived[int] = Derived(held_of, {
    # "\n\n<tool_call>" before its ">", or "\n</think>"
    "hermes": len("\n<tool_call>") - 1,
    # a value's closer and its follower: "\n</parameter>\n" + "<parameter=" / "</function>" / "</tool_call>",
    # with the blanks that the template writes between them; longer runs do not occur in the corpus
    "qwen3_coder": len("\r\n</parameter>\r\n</tool_call>") - 1,
    "deepseek_v31": len("<｜tool▁calls▁begin｜>") - 1,
    "deepseek_v3": len("<｜tool▁calls▁begin｜>") - 1,
    "llama3_json": len("\n\n<|python_start|>") - 1,
    "granite4": len("\n</tool_call>") - 1,
    "granite": len("\nHere's my thought process:") - 1,
    "internlm2": len("<|action_start|>") - 1,
    "hunyuan_a13b": len("\n</think>") - 1,
    "ernie45": len("\n</response>\n\n") - 1,
    "jamba": len("</tool_calls>") - 1,
    "apertus": len("<|tools_suffix|>") - 1,
    "xlam": len("[TOOL_CALLS]") - 1,
    "phi4_mini": len("<|/tool_call|>") - 1,
    "kimi_k2": len("<|tool_calls_section_begin|>") - 1,
    # "\n\n<|python_start|>" at the very start; a quote and its follower in a string: "' ,"
    "llama4_pythonic": len("\n\n<|python_start|>[") - 1,
    # an opener, or a quote, blanks and half a closer of the block
    "olmo3": len("</function_calls>"),
    "lfm2": len("<|tool_call_start|>") - 1,
    # a quote token and what follows it
    "gemma4": len('<|"|> <tool_call|>') - 1,
    "functiongemma": len("<escape> <end_function_call>") - 1,
    "mistral": len("[TOOL_CALLS]") - 1,
    # as qwen3_coder: a value's closer, the template's blanks and the longest follower
    "glm45": len("</arg_value>\r\n</tool_call>") - 1,
    "glm47": len("</arg_value>\n</tool_call>") - 1,
    "mimo": len("</parameter></tool_call>") - 1,
    "step3p5": len("\n</parameter>\n</tool_call>") - 1,
    "seed_oss": len("\n</parameter>\n</seed:tool_call>") - 1,
    "minimax_m2": len("\n</parameter>\n\n</minimax:tool_call>") - 1,
    "step3": len("\n</steptml:parameter>\n<steptml:parameter name=") - 1,
    "hy_v3": len("</arg_value:opensource>\n<end_of_tool_call:opensource>") - 1,
    "hy_v4": len("</arg_value:6124c78e>\n</tool_calls:6124c78e>") - 1,
    # a message's end, nothing else is legal in a body; between messages "<|start|>assistant"
    "gpt_oss": len("<|start|>assistant") - 1,
    # as qwen3_coder: a value's closer, a newline and its follower
    "deepseek_v32": len("\r\n</｜DSML｜parameter>\r\n</｜DSML｜function_calls>") - 1,
    "deepseek_v4": len("\r\n</｜DSML｜parameter>\r\n</｜DSML｜function_calls>") - 1,
    "deepseek_v41": len("\r\n</｜DSML｜ parameter>\r\n<｜DSML｜ parameter name=\"") - 1,
    "kimi_k3": len('<|close|>argument<|sep|><|open|>argument key="') - 1,
    # a marked closer of the longest name in the corpus, a newline and the next marker
    "minimax_m3": len("]<]minimax[>[</start_line>\n]<]minimax[>[") - 1,
})
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)

LINES = [line for line in all_lines() if line.streams]


def emitted(line: CorpusLine) -> Iterator[tuple[int, str, list[str]]]:
    """After each character: how many came, the visible text so far, the arguments of each call so far."""
    parser = new_parser(line)
    text: list[str] = []
    calls: list[str] = []
    for count, char in enumerate(line.raw, 1):
        for delta in parser.feed(char):
            if delta.kind != "tool_call":
                text.append(delta.text)
                continue
            if delta.name is not None:
                calls.append("")
            calls[delta.index] += delta.arguments or ""
        yield count, "".join(text), list(calls)
    parser.finish()


@pytest.mark.parametrize("line", [line for line in LINES if line.dialect in VERBATIM], ids=str)
def test_json_strings(line: CorpusLine) -> None:
    """Characters of a JSON string are out as soon as they are in, once the name is out."""
    start_of = {}
    at = 0
    for index, call in enumerate(line.expected["tool_calls"]):
        found = line.raw.find(call["arguments"], at)
        if found >= 0:
            start_of[index] = found
            at = found + len(call["arguments"])
    inside: dict[int, list[int]] = {}
    for index, start in start_of.items():
        arguments = line.expected["tool_calls"][index]["arguments"]
        if arguments == "{}" or not arguments.startswith("{"):
            continue
        for match in STRING.finditer(arguments):
            for place in range(start + match.start(1) + 1, start + match.end(1) + 1):
                inside.setdefault(place, []).append(index)
    for count, _, calls in emitted(line):
        for index in inside.get(count, ()):
            if index < len(calls):  # else the name comes after its arguments, which must be held
                lag = count - start_of[index] - len(calls[index])
                assert lag <= 0, f"{lag} characters held after {line.raw[:count]!r}"


def streamed_strings(line: CorpusLine) -> list[tuple[int, int, list[int], int]]:
    """The top-level string values that stand once, as they are, in the raw text and are strings by schema.

    Each as (call, place in the raw text, length of the arguments before each of its characters, length).
    """
    schemas = tools_named(line.tools)
    values = []
    for index, call in enumerate(line.expected["tool_calls"]):
        properties = schemas.get(call["name"], {}).get("properties", {})
        try:
            pairs = json.loads(call["arguments"], object_pairs_hook=list)
        except json.JSONDecodeError:
            continue
        for key, value in pairs:
            exact = line.tools is None or properties.get(key, {}).get("type") == "string"
            if line.dialect in LITERALS:
                exact = True  # quotes say what it is
            literal = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else ""
            if not exact or len(literal) < 10 or line.raw.count(value) != 1 or call["arguments"].count(literal) != 1:
                continue
            start = call["arguments"].index(literal) + 1
            lengths = [start]
            for unit in UNIT.findall(literal[1:-1]):
                lengths.append(lengths[-1] + len(unit))
            if len(lengths) == len(value) + 1:
                values.append((index, line.raw.index(value), lengths, len(value)))
    return values


@pytest.mark.parametrize("line", [line for line in LINES if line.dialect not in VERBATIM], ids=str)
def test_written_strings(line: CorpusLine) -> None:
    """Strings that the parser writes itself lag by a marker's beginning at most."""
    values = streamed_strings(line)
    for count, _, calls in emitted(line):
        for index, place, lengths, size in values:
            received = count - place
            if not 0 < received <= size:
                continue
            assert index < len(calls), f"no name yet after {line.raw[:count]!r}"
            out = sum(1 for length in lengths[1:] if length <= len(calls[index]))
            lag = received - out
            assert lag <= HELD[line.dialect], f"{lag} characters held after {line.raw[:count]!r}"


@pytest.mark.parametrize("line", LINES, ids=str)
def test_text(line: CorpusLine) -> None:
    """Text before the first marker and after the last one lags by a marker's beginning at most."""
    parser = new_parser(line)
    run(parser, [line.raw], line.finish_reason)
    if parser.anomalies["refuted_block"] or parser.anomalies["cut_block"]:
        return  # a block is held until it is one
    markers = [*CONTROL_MARKERS[line.dialect], "<think>", "</think>", "<function="]
    if line.dialect == "llama4_pythonic":
        markers += ["[", "]"]
    places = [(match.start(), match.end()) for match in re.finditer("|".join(map(re.escape, markers)), line.raw)]
    result = expected_result(line)
    texts = [text for text in (result.content, result.reasoning) if text]
    total = sum(map(len, texts))
    size = len(line.raw)
    head = line.raw[: places[0][0]] if places else line.raw
    tail = line.raw[places[-1][1] :] if places else ""
    check_head = bool(head) and any(text.startswith(head) for text in texts)
    check_tail = bool(tail.strip()) and any(text.endswith(tail) for text in texts)
    if line.dialect == "kimi_k2" and places and line.raw[: places[-1][1]].endswith("<|tool_call_end|>"):
        check_tail = False  # in an open section: up to 256 characters may be noise
    if "\n" * 3 in tail or " " * 3 in tail:
        check_tail = False  # a run of blanks after a call waits for the next opener
    for count, text, _ in emitted(line):
        if check_head and count <= len(head):
            lag = count - len(text)
            assert lag <= HELD[line.dialect], f"{lag} characters held after {line.raw[:count]!r}"
        if check_tail and count > size - len(tail):
            lag = total - (size - count) - len(text)
            assert lag <= HELD[line.dialect], f"{lag} characters held after {line.raw[:count]!r}"
