"""Linear, by counter: characters examined per character received stay below a small constant.

`parser.examined` counts every character the parser looks at, again or for the first time. One clock check
on top is generous: it only catches copying that grows with the text, which the counter does not see.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from corpus import CorpusLine, all_lines, std_tools
from harness import listed, make_id, new_parser, pieces
from material import Derived, openers_of, string_head_of
from soup import FIXED, PER_CHARACTER

from toolglot.core import ResponseParser, list_dialects

PROFILE = os.environ.get("TOOLGLOT_TEST_PROFILE", "default")
# Long enough for a quadratic cost to pass any constant.
SIZE = {"quick": 2_000, "deep": 12_000}.get(PROFILE, 5_000)
LONG = {"quick": 20_000, "deep": 100_000}.get(PROFILE, 40_000)
MEGABYTE = 1 << 20


def fill(unit: str, size: int = SIZE) -> str:
    return unit * (size // len(unit) + 1)


# Where a call stands right before its JSON arguments, and right inside a string value.
JSON_HEADS: dict[str, str] = {
    "hermes": '<tool_call>\n{"name": "write_file", "arguments": ',
    "deepseek_v31": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>",
    "deepseek_v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write_file\n```json\n",
    "llama3_json": '{"name": "write_file", "parameters": ',
    "granite4": '<tool_call>\n{"name": "write_file", "arguments": ',
    "granite": '<|tool_call|>[{"name": "write_file", "arguments": ',
    "internlm2": '<|action_start|><|plugin|>\n{"name": "write_file", "parameters": ',
    "hunyuan_a13b": '<tool_calls>[{"name": "write_file", "arguments": ',
    "ernie45": '<tool_call>\n{"name": "write_file", "arguments": ',
    "jamba": '<tool_calls>[{"name": "write_file", "arguments": ',
    "apertus": '<|tools_prefix|>[{"write_file": ',
    "xlam": '[{"name": "write_file", "arguments": ',
    "phi4_mini": 'functools[{"name": "write_file", "arguments": ',
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>",
    "mistral": "[TOOL_CALLS]write_file[ARGS]",
    "gpt_oss": "<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>",
}
STRING_HEADS: Derived[str] = Derived(string_head_of, {
    **{dialect: head + '{"path": "' for dialect, head in JSON_HEADS.items()},
    "qwen3_coder": "<tool_call>\n<function=write_file>\n<parameter=content>\n",
    "llama4_pythonic": "[write_file(content='",
    "glm45": "<tool_call>write_file\n<arg_key>content</arg_key>\n<arg_value>",
    "glm47": "<tool_call>write_file<arg_key>content</arg_key><arg_value>",
    "mimo": "<tool_call><function=write_file><parameter=content>",
    "step3p5": "<tool_call>\n<function=write_file>\n<parameter=content>\n",
    "seed_oss": "<seed:tool_call>\n<function=write_file>\n<parameter=content>",
    "minimax_m2": '<minimax:tool_call>\n<invoke name="write_file">\n<parameter name="content">',
    "step3": (
        '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="write_file">\n'
        '<steptml:parameter name="content">'
    ),
    "hy_v3": (
        "<tool_calls:opensource>\n<tool_call:opensource>write_file<tool_sep:opensource>\n"
        "<arg_key:opensource>content</arg_key:opensource>\n<arg_value:opensource>"
    ),
    "hy_v4": (
        "<tool_calls:6124c78e><tool_call:6124c78e>write_file<arg_key:6124c78e>content</arg_key:6124c78e>"
        "<arg_value:6124c78e>"
    ),
    "olmo3": "<function_calls>write_file(content='",
    "lfm2": "<|tool_call_start|>[write_file(content='",
    "gemma4": '<|tool_call>call:write_file{content:<|"|>',
    "functiongemma": "<start_function_call>call:write_file{content:<escape>",
    "deepseek_v32": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="write_file">\n'
    '<｜DSML｜parameter name="content" string="true">',
    "deepseek_v4": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="write_file">\n'
    '<｜DSML｜parameter name="content" string="true">',
    "deepseek_v41": '<｜DSML｜ calls>\n<｜DSML｜ invoke name="write_file">\n'
    '<｜DSML｜ parameter name="content" string="true">',
    "kimi_k3": '<|open|>tools<|sep|><|open|>call tool="write_file" index="1"<|sep|>'
    '<|open|>argument key="content" type="string"<|sep|>',
    "minimax_m3": ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="write_file">]<]minimax[>[<content>',
})
CONTENT_HEADS: dict[str, str] = dict.fromkeys(list_dialects(), "") | {"gpt_oss": "<|channel|>final<|message|>"}
OPENERS: Derived[list[str]] = Derived(openers_of, {
    "hermes": listed(
        '<tool_call>¦</tool_call>¦<tool_call>\n¦<tool_call>{"a":{¦<tool_call>{"name": "¦<think>¦\n</think>¦\n<think>'
    ),
    "qwen3_coder": listed(
        "<tool_call>¦<function=¦<function=ping>¦</function>¦</parameter>¦<tool_call>\n<function=¦"
        "<function=ping>\n¦</parameter>\n"
    ),
    "deepseek_v31": listed(
        "<｜tool▁calls▁begin｜>¦<｜tool▁call▁begin｜>¦<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>¦"
        "<｜tool▁calls▁end｜>¦<｜tool▁"
    ),
    "deepseek_v3": listed(
        "<｜tool▁calls▁begin｜>¦<｜tool▁call▁begin｜>¦<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function¦"
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>¦```<｜tool▁call▁end｜>¦"
        "<｜tool▁calls▁end｜>¦<｜tool▁¦\n```"
    ),
    "llama3_json": listed(
        '<|python_tag|>¦<|python_tag|>{¦<function=¦<function=f>¦{"name": "¦; {¦<|python_¦{"name": "f", '
    ),
    "granite4": listed(
        '<tool_call>\n{¦</tool_call>\n¦<tool_call>"¦<tool_call>[{¦<tool_ca'
    ),
    "granite": listed(
        '<|tool_call|>¦<|tool_call|> [¦<tool_call>¦<|tool_call|>[{"a":¦Here is my ¦'
        "\nHere is my thought process:¦<response>¦</response>"
    ),
    "internlm2": listed(
        "<|action_start|>¦<|action_start|><|plugin|>¦<|action_start|> <|plugin|>\n{¦"
        "<|action_start|><|interpreter|>\n¦<|action_end|>¦<|plugin|>¦<|action_"
    ),
    "hunyuan_a13b": listed(
        '<tool_calls>¦<tool_calls>[¦</tool_calls>¦助手：¦<answer>¦\n</answer>¦<tool_calls>[{"a":¦'
        "\n</think>\n"
    ),
    "ernie45": listed(
        '<tool_call>¦</tool_call>\n¦<response>\n¦\n</response>¦\n</think>\n\n¦<tool_call>\n{"name": ¦'
        "</res"
    ),
    "jamba": listed('<tool_calls>¦<tool_calls>[¦<tool_calls>[{"name": "ping"¦</tool_calls>¦<tool_ca'),
    "apertus": listed(
        '<|tools_prefix|>¦<|tools_prefix|>[{¦<|tools_prefix|>[{"ping"¦<|tools_suffix|>¦<|inner_prefix|>¦<|inner_suffix|>'
    ),
    "xlam": listed(
        '[¦[{¦[{"name": "ping"¦```json¦```¦[TOOL_CALLS]¦[TOOL_CALLS][¦<tool_call>¦<tool_call>[{¦<think>¦</think>'
    ),
    "phi4_mini": listed(
        'functools¦functools[¦functools[{¦<|tool_call|>¦<|tool_call|>[{"a":¦<|/tool_call|>¦functoolsfunc'
    ),
    "kimi_k2": listed(
        "<|tool_calls_section_begin|>¦<|tool_calls_section_begin|><|tool_call_begin|>¦"
        "<|tool_call_begin|>¦<|tool_calls_section_end|>¦<|tool_call"
    ),
    "llama4_pythonic": listed("<|python_start|>¦<|python_start|>[¦[f(¦[¦<|python_start|>[f¦<|python_end|>"),
    "glm45": listed(
        "<tool_call>¦<tool_call>f\n¦</arg_value>¦</arg_value>\n<¦<arg_key>¦\n<arg_key>path</arg_key>¦<tool_call>ping\n"
    ),
    "glm47": listed(
        "<tool_call>¦<tool_call>f¦</arg_value>¦</arg_value></tool¦<arg_key>¦<tool_call>ping<arg_key>a</arg_key>"
    ),
    "mimo": listed("<tool_call>¦<function=¦<function=ping>¦</function>¦</parameter>¦</parameter></func"),
    "step3p5": listed("<tool_call>¦<function=¦<function=ping>\n¦\n</parameter>¦</function>\n<"),
    "seed_oss": listed(
        "<seed:tool_call>¦<function=ping>¦</parameter>¦\n</parameter>\n</¦</function>\n¦<seed:cot_budget_reflect>¦<seed:"
    ),
    "minimax_m2": listed(
        '<minimax:tool_call>¦<invoke name=¦<invoke name="ping">¦\n</parameter>\n<¦</invoke>\n¦'
        "<invoke name='¦\n<parameter name="
    ),
    "step3": listed(
        "<｜tool_calls_begin｜>¦<｜tool_call_begin｜>function¦<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>¦"
        "\n</steptml:parameter>\n</¦</steptml:invoke>\n¦<｜tool_"
    ),
    "hy_v3": listed(
        "<tool_calls:opensource>¦<tool_call:opensource>¦<tool_call:opensource>f¦</arg_value:opensource>\n<¦"
        "<tool_call:opensource>f<tool_sep:opensource>¦<tool_call"
    ),
    "hy_v4": listed(
        "<tool_calls:6124c78e>¦<tool_call:6124c78e>f¦<tool_calls:6124c78e><tool_call:6124c78e>ping¦</arg_value:6124c78e>¦"
        "<tool_call"
    ),
    "olmo3": listed(
        "<function_calls>¦<function_calls>f(¦</function_calls>¦<function_calls>[f¦<function_calls>f()\n¦<func"
    ),
    "lfm2": listed(
        "<|tool_call_start|>¦<|tool_call_start|>[¦<|tool_call_start|>[{¦<|tool_call_end|>¦<|tool_call_start|>[ ¦<|tool_"
    ),
    "gemma4": listed(
        '<|tool_call>¦<|tool_call>call:¦<|tool_call>call:f{¦<tool_call|>¦<|"|>¦<|"|> ¦<|"¦<|channel>thought¦<channel|>¦'
        "<|channel>¦<tool_call"
    ),
    "functiongemma": listed(
        "<start_function_call>¦<start_function_call>call:f{¦<end_function_call>¦<escape>¦<escape> ¦<esc¦<end_function"
    ),
    "mistral": listed("[TOOL_CALLS]¦[TOOL_CALLS]f¦[ARGS]¦[TOOL_CALLS]f[CALL_ID]¦\n[THINK]¦[TOOL_"),
    "gpt_oss": listed(
        "<|channel|>¦<|message|>¦ to=¦<|start|>assistant¦<|end|>¦<|end|><|start|>assistant<|channel|>¦<|constrain|>"
    ),
    "deepseek_v32": listed(
        '<｜DSML｜function_calls>¦<｜DSML｜invoke name="¦<｜DSML｜invoke name="ping">¦</｜DSML｜parameter>\n¦'
        "</｜DSML｜invoke>"
    ),
    "deepseek_v4": listed(
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke¦<｜DSML｜parameter name="¦<｜DSML｜parameter name="path" string="¦'
        '\n<｜DSML｜parameter name="path¦</｜DSML｜parameter>\n</｜DSML｜invo¦<｜DSML｜invoke name="ping"/>'
    ),
    "deepseek_v41": listed(
        '<｜DSML｜ calls>¦</｜DSML｜ calls>¦</｜DSML｜ parameter></｜DSML｜¦<｜DSML｜ invoke name="f">\n'
    ),
    "kimi_k3": listed(
        "<|open|>tools<|sep|>¦<|open|>tools<|sep|><|open|>call tool=¦<|close|>argument<|sep|>¦<|close|>think¦"
        '<|open|>argument key="¦<|open|>argument key="path¦<|close|>argument<|sep|><|close|>call<|sep|>¦'
        "<|open|>response<|sep|>¦<|close|>response<|sep|><|open|>¦<|open|>"
    ),
    "minimax_m3": listed(
        "]<]minimax[>[¦]<]minimax[>[<¦]<]minimax[>[<tool_call>¦]<]minimax[>[<path>¦]<]minimax[>[</content>¦"
        "]<]minimax[>[</content> ¦</content>¦</content>]<]minimax[>[</content¦]<]minimax[>[<invoke name=¦"
        "</content>]<]minimax[>[<¦</content>\n¦<tool_call>¦</"
    ),
})


def adversaries() -> dict[str, tuple[str, str]]:
    """Name -> (dialect, text)."""
    cases: dict[str, tuple[str, str]] = {}

    def add(dialect: str, name: str, text: str) -> None:
        cases[f"{dialect}/{name}"] = (dialect, text)

    for dialect in list_dialects():
        head = STRING_HEADS[dialect]
        for opener in OPENERS[dialect]:
            add(dialect, f"openers {opener!r}", CONTENT_HEADS[dialect] + fill(opener))
            add(dialect, f"openers in string {opener!r}", head + fill(opener))
            add(dialect, f"openers and a word {opener!r}", CONTENT_HEADS[dialect] + fill(opener + "word "))
        for name, unit in (
            ("quotes", '"'),
            ("backslashes", "\\"),
            ("escaped quotes", '\\"'),
            ("apostrophes", "'"),
            ("newlines", "\n"),
            ("newline and word", "\n" * 50 + "x"),
            ("blanks", " "),
            ("brackets", "["),
            ("braces", '{"a":'),
            ("closing", "]}"),
            ("less-than", "<"),
            ("surrogates", "\ud83d"),
            ("quote and blanks", '" '),
            ("comma", "',"),
        ):
            add(dialect, f"{name} in string", head + fill(unit))
            add(dialect, f"{name} in content", CONTENT_HEADS[dialect] + fill(unit))
        add(dialect, "newline run then text", CONTENT_HEADS[dialect] + "a" + "\n" * LONG + "b")
    for dialect, head in JSON_HEADS.items():
        add(dialect, "brackets as arguments", head + "[" * LONG)
        add(dialect, "braces as arguments", head + fill('{"a":'))
        add(dialect, "number without end", head + '{"a": ' + "1" * SIZE)
        add(dialect, "key without end", head + '{"' + "k" * SIZE)
        add(dialect, "blanks before arguments", head + " " * SIZE + "{}")
        add(dialect, "blanks after arguments", head + "{}" + "\n" * SIZE + "x")
        add(dialect, "string that holds an object", head + '"{' + fill('\\"a\\": 1, ') + '}"')
        add(dialect, "not JSON", head + fill("a=b "))
        add(dialect, "stray brackets", head + "{}" + "}" * SIZE)
    add("hermes", "name without end", '<tool_call>{"name": "' + "n" * SIZE)
    add(
        "hermes",
        "arguments before a name",
        '<tool_call>{"arguments": {"path": "' + "x" * SIZE + '"}, "name": "write_file"}</tool_call>',
    )
    add("hermes", "keys before a name", "<tool_call>{" + fill('"k": 1, '))
    add("hermes", "key in envelope without end", '<tool_call>{"' + "k" * SIZE)
    add("hermes", "brackets before a name", '<tool_call>{"x": ' + "[" * SIZE)
    add("hermes", "list of objects", "<tool_call>[" + fill('{"name": "ping"}, '))
    add("hermes", "nested openers", fill('{"a":{<tool_call>'))
    add("hermes", "openers in strings", fill('<tool_call>{"a": "'))
    add("qwen3_coder", "name without end", "<tool_call><function=" + "n" * SIZE)
    add("qwen3_coder", "key without end", "<tool_call><function=book><parameter=" + "k" * SIZE)
    add("qwen3_coder", "closers without followers", STRING_HEADS["qwen3_coder"] + fill("</parameter> x "))
    add(
        "qwen3_coder",
        "closers and blanks",
        STRING_HEADS["qwen3_coder"] + fill("</parameter>" + " " * 100 + "</func"),
    )
    add("qwen3_coder", "closer pairs", STRING_HEADS["qwen3_coder"] + fill("</parameter>\n</function"))
    add("qwen3_coder", "function closers", STRING_HEADS["qwen3_coder"] + fill("</function>\n<"))
    add(
        "qwen3_coder",
        "blanks after a closer",
        STRING_HEADS["qwen3_coder"] + "</parameter>" + "\n" * SIZE + "x",
    )
    add("qwen3_coder", "parameters by the thousand", "<function=nope>" + fill("<parameter=a>1</parameter>"))
    add(
        "qwen3_coder",
        "parameter openers at line starts",
        STRING_HEADS["qwen3_coder"] + fill("\n<parameter=zzz>"),
    )
    add("qwen3_coder", "declared parameter openers", STRING_HEADS["qwen3_coder"] + fill("\n<parameter=path>"))
    add("qwen3_coder", "bare head and blanks", "<function=ping>" + "\n" * SIZE + "x")
    for kind in ("tags", "opts", "seats", "note", "ref"):
        head = f"<tool_call><function=book><parameter={kind}>"
        for name, unit in (
            ("brackets", "["),
            ("digits", "1"),
            ("quotes", '"'),
            ("newlines", "\n"),
            ("braces", '{"a":'),
            ("tuples", "("),
            ("minus", "-"),
        ):
            add("qwen3_coder", f"{name} in a typed value ({kind})", head + fill(unit))
            add(
                "qwen3_coder",
                f"{name} in a closed typed value ({kind})",
                head + fill(unit) + "</parameter></function></tool_call>",
            )
    add("llama4_pythonic", "name without end", "[" + "n" * SIZE)
    add("llama4_pythonic", "key without end", "[book(" + "k" * SIZE)
    for name, unit in (
        ("brackets", "["),
        ("tuples", "("),
        ("dicts", "{1:"),
        ("digits", "1"),
        ("words", "w"),
        ("lists", "[1],"),
        ("minus", "-"),
        ("triple quotes", "'''"),
        ("junk", "=,"),
        ("calls", "f("),
    ):
        add("llama4_pythonic", f"{name} as a value", "[book(tags=" + fill(unit, LONG))
    add("llama4_pythonic", "calls by the thousand", "[" + fill("ping(), ") + "ping()]")
    add("llama4_pythonic", "quotes without followers", "[write_file(content='" + fill("' x"))
    add("llama4_pythonic", "quotes and blanks", "[write_file(content='" + fill("'" + " " * 100))
    for dialect, head, quote in (
        ("gemma4", "<|tool_call>call:book{", '<|"|>'),
        ("functiongemma", "<start_function_call>call:book{", "<escape>"),
    ):
        add(dialect, "name without end", head[:-5] + "n" * SIZE)
        add(dialect, "key without end", head + "k" * SIZE)
        for name, unit in (
            ("brackets", "["),
            ("braces", "{a:"),
            ("digits", "1"),
            ("words", "w "),
            ("lists", "[1],"),
            ("quotes", '"'),
            ("quote tokens", quote),
            ("half quote tokens", quote[:-1]),
            ("strings", f"[{quote}a{quote},"),
            ("parentheses", "("),
            ("less-than", "<"),
            ("equals", "="),
            ("keys", "a:1,"),
        ):
            add(dialect, f"{name} as a value", head + "tags:" + fill(unit, LONG))
            add(dialect, f"{name} as a key", head + fill(unit))
    add("lfm2", "blanks behind the bracket", "<|tool_call_start|>[" + " " * SIZE)
    add("lfm2", "half closers in a value", "<|tool_call_start|>[book(tags=" + fill("<|tool_call_end"))
    add("olmo3", "calls by the thousand", "<function_calls>" + fill("ping()\n") + "ping()")
    add("olmo3", "half closers in a value", "<function_calls>book(tags=" + fill("</function_call"))
    add("kimi_k2", "noise", "<|tool_calls_section_begin|>" + fill("noise "))
    add(
        "kimi_k2",
        "noise after a call",
        JSON_HEADS["kimi_k2"] + "{}<|tool_call_end|>" + fill("noise <|tool_call_"),
    )
    add("kimi_k2", "id without end", "<|tool_calls_section_begin|><|tool_call_begin|>functions." + "n" * SIZE)
    add(
        "kimi_k2",
        "calls by the thousand",
        "<|tool_calls_section_begin|>"
        + fill("<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|>"),
    )
    add("deepseek_v31", "name without end", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>" + "n" * SIZE)
    add(
        "deepseek_v31",
        "calls by the thousand",
        "<｜tool▁calls▁begin｜>" + fill("<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>"),
    )
    add("mistral", "name without end", "[TOOL_CALLS]" + "n" * SIZE)
    add("mistral", "id without end", "[TOOL_CALLS]ping[CALL_ID]" + "n" * SIZE)
    add("gpt_oss", "header without end", "<|channel|>" + "n" * SIZE)
    add("gpt_oss", "broken headers", fill("<|channel|>x<|end|><|start|>assistant"))
    add("gpt_oss", "recipients", fill(" to=functions.ping"))
    dsml = '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="book">\n'
    title = '<｜DSML｜parameter name="title" string="true">'
    add("deepseek_v4", "name without end", '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="' + "n" * SIZE)
    add("deepseek_v4", "attribute without end", dsml + '<｜DSML｜parameter name="title" string="' + "n" * SIZE)
    add("deepseek_v4", "parameters", dsml + fill(title + "x</｜DSML｜parameter>\n"))
    add("deepseek_v4", "blanks in a wrapper", dsml + '<｜DSML｜parameter name="input" string="true">' + " " * SIZE)
    add("deepseek_v4", "JSON value", dsml + '<｜DSML｜parameter name="opts" string="false">' + fill('{"a":'))
    invoke = ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="book">'
    for key in ("opts", "tags", "note", "zzz"):
        head = invoke + f"]<]minimax[>[<{key}>"
        add("minimax_m3", f"trees ({key})", invoke + fill(f"]<]minimax[>[<{key}>", LONG))
        add("minimax_m3", f"items ({key})", head + fill("]<]minimax[>[<item>x]<]minimax[>[</item>"))
        add("minimax_m3", f"blanks ({key})", head + " " * SIZE + "x")
        add("minimax_m3", f"mixed text ({key})", head + fill("]<]minimax[>[<a>]<]minimax[>[</a>x<"))
        add("minimax_m3", f"markers ({key})", head + "]<]minimax[>[<a>" + fill("]<]minimax[>[ "))
    add("minimax_m3", "closers", invoke + fill("]<]minimax[>[</a>"))
    add("minimax_m3", "tag without end", invoke + "]<]minimax[>[<" + "t" * SIZE)
    add("minimax_m3", "tags without end in text", STRING_HEADS["minimax_m3"] + fill("]<]minimax[>[<" + "t" * 250))
    add("minimax_m3", "closers and blanks", STRING_HEADS["minimax_m3"] + fill("]<]minimax[>[</content>" + " " * 100))
    add("minimax_m3", "bare closers and tags", STRING_HEADS["minimax_m3"] + fill("</content>]<]minimax[>[</content"))
    return cases


ADVERSARIES = adversaries()


def consume(parser: ResponseParser, text: str, size: int) -> None:
    feed: Callable[[str], Any] = parser.feed
    for chunk in pieces(text, size):
        for _ in feed(chunk):
            pass
    for _ in parser.finish():
        pass


def std_parser(dialect: str, **options: Any) -> ResponseParser:
    return ResponseParser(dialect, tools=std_tools(), make_id=make_id, **options)


@pytest.mark.parametrize("line", all_lines(), ids=str)
def test_corpus_line(line: CorpusLine) -> None:
    for size in (1, 4, max(1, len(line.raw))):
        parser = new_parser(line)
        consume(parser, line.raw, size)
        assert parser.examined <= PER_CHARACTER * len(line.raw) + FIXED, f"chunks of {size}"


@pytest.mark.parametrize("size", [1, LONG * 2], ids=["charwise", "whole"])
@pytest.mark.parametrize("case", sorted(ADVERSARIES))
def test_adversary(case: str, size: int) -> None:
    dialect, text = ADVERSARIES[case]
    parser = std_parser(dialect)
    started = time.process_time()
    consume(parser, text, size)
    spent = time.process_time() - started
    assert parser.examined <= PER_CHARACTER * len(text) + FIXED
    assert spent < 10, f"{spent:.1f} s for {len(text)} characters in chunks of {size}"


MEGABYTES = {
    "content": lambda dialect: CONTENT_HEADS[dialect] + fill("all work and no play ", MEGABYTE),
    "a string without a closer": lambda dialect: STRING_HEADS[dialect] + fill("all work and no play ", MEGABYTE),
}


@pytest.mark.parametrize("dialect", list_dialects())
@pytest.mark.parametrize("what", sorted(MEGABYTES))
def test_megabyte(dialect: str, what: str) -> None:
    text = MEGABYTES[what](dialect)
    parser = std_parser(dialect)
    started = time.process_time()
    consume(parser, text, 4)
    spent = time.process_time() - started
    assert parser.examined <= PER_CHARACTER * len(text) + FIXED
    assert spent < 20, f"{spent:.1f} s for a megabyte in chunks of 4"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", '<tool_call>{"arguments": {"path": "' + "x" * MEGABYTE),
        ("qwen3_coder", "<tool_call>\n<function=book>\n<parameter=tags>\n" + fill('["a", ', MEGABYTE)),
        ("llama4_pythonic", "[book(tags=" + fill("'a', ", MEGABYTE // 4)),
        ("gpt_oss", "<|channel|>" + "x" * MEGABYTE),
    ],
    ids=["arguments before a name", "a typed value", "a list as it comes", "a header"],
)
def test_megabyte_held(dialect: str, text: str) -> None:
    """What may only go out as a whole is held without copying it again for every chunk."""
    parser = std_parser(dialect)
    started = time.process_time()
    consume(parser, text, 4)
    spent = time.process_time() - started
    assert parser.examined <= PER_CHARACTER * len(text) + FIXED
    assert spent < 20, f"{spent:.1f} s for {len(text)} characters in chunks of 4"


@pytest.mark.parametrize("copies", [1, 8])
def test_complete_mode_is_linear(copies: int) -> None:
    """arguments="complete" holds a call's deltas and releases them once."""
    text = STRING_HEADS["hermes"] + "x" * (SIZE * copies) + '"}}\n</tool_call>'
    parser = std_parser("hermes", arguments="complete")
    consume(parser, text, 4)
    assert parser.examined <= PER_CHARACTER * len(text) + FIXED
