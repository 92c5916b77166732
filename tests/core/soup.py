"""Marker soup, and what must hold for it: no exception, one result for any chunking, linear work, nothing lost.

Conservation is checked with unique words strewn into the soup. Each word is found at most once in what came
out; within content, within reasoning, within one call's arguments and along the names the order is the
input's; and the words that are missing are no longer, together, than the characters the parser counted as
dropped.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any

from harness import Result, Spans, chunkings, counters, listed, make_id, run
from material import Derived, payloads_of, pieces_of, writes_types

from toolglot.core import ResponseParser
from toolglot.core.spec import Elements

PER_CHARACTER = 12  # characters looked at for each one received
FIXED = 64  # what a short text may cost on top
WORD = re.compile(r"zq\d+qz")
SLOT = "@"  # stands for a word of its own


COMMON = listed(
    '@¦@¦@¦@¦@¦@¦@ ¦ @¦"@"¦@: ¦<think>¦</think>¦\n<think>¦<thi¦</¦ ¦  ¦\n¦\n\n¦\r\n¦\t¦'
    f"{' ' * 40}¦{'x' * 260}¦"
    "é¦東京¦😀¦\ud83d¦\udc00¦@¦\u2028¦{¦}¦[¦]¦(¦)¦\"¦'¦\\¦,¦:¦=¦<¦>¦|¦-¦.¦<|¦|>¦<|im_end|>¦{}¦[]¦null¦"
    'true¦None¦1¦-0.5e+3¦007¦NaN¦Infinity¦{"a": 1, "b": 2}¦{"a": ¦{"city": "¦"days": 3}¦"}¦"}}¦\\"¦\\n¦'
    "\\u00e9¦\\ud83d¦\\u12¦]}¦}}¦[{¦/*¦add¦ping¦write_file¦get_weather¦book¦order¦nope¦no such¦a.b-c¦"
    "functions.ping"
)


def hunyuan(suffix: str, separator: str, newline: str) -> list[str]:
    """Pieces of hy_v3 and hy_v4, which differ in the suffix and the blanks."""
    plain = (
        "<tool_callsS>N<tool_callS>pingT</tool_callS>N</tool_callsS>¦<tool_callS>write_fileT¦<tool_callS>nopeT¦"
        "<tool_callS>@T¦<tool_callsS>N<tool_callS>¦<arg_keyS>path</arg_keyS>N<arg_valueS>¦<arg_keyS>@</arg_keyS>N¦"
        "</arg_valueS>N¦<arg_keyS>content</arg_keyS>N<arg_valueS>¦</arg_valueS>N</tool_callS>N¦<arg_keyS>b</arg_keyS>¦"
        "</arg_¦<tool_call¦</think"
    )
    return listed(plain.replace("S>", suffix + ">").replace("T", separator).replace("N", newline))


OWN: Derived[list[str]] = Derived(pieces_of, {
    "hermes": listed(
        '{"name": "¦{"name": "ping"¦{"name": "add", "arguments": {¦, "arguments": ¦"arguments": {¦'
        '"parameters": ¦{"arguments": {"path": "@"}, "name": "write_file"}¦'
        '{"name": "nope", "arguments": {"k": "@"}}¦{"name": "ping", "arguments": {}}¦'
        '"arguments": "{\\"a\\": ¦<tool_call>\n¦\n</tool_call>¦\n</tool_call>\n<tool_call>\n¦"name": 3¦'
        '"name": "@"¦"@": [1, "@"], '
    ),
    "qwen3_coder": listed(
        "<function=¦<function=ping>¦<function=add>\n¦<function=write_file>¦<function=nope>¦"
        "<function=@>¦>¦<parameter=¦<parameter=a>\n¦<parameter=b>¦<parameter=path>¦"
        "\n<parameter=content>\n¦<parameter=tags>¦<parameter=note>¦<parameter=@>¦\n</parameter>¦"
        "</parameter>\n¦</function>¦</function>\n¦"
        "<tool_call>\n<function=write_file>\n<parameter=content>\n¦</parameter></function></tool_call>¦"
        '[{"k": "@"}]¦</param¦</func¦<function=book>\n<parameter=opts>\n'
    ),
    "deepseek_v31": listed(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>¦"
        "<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>¦<｜tool▁call▁begin｜>nope<｜tool▁sep｜>¦"
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>{"path": "@", "content": "¦'
        "<｜tool▁¦<｜¦｜>¦<｜tool▁call"
    ),
    "deepseek_v3": listed(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>¦"
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>ping\n```json\n{}\n```<｜tool▁call▁end｜>¦"
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>¦<｜tool▁call▁begin｜>function<｜tool▁sep｜>nope\n```json\n¦"
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write_file\n```json\n{"path": "¦'
        "\n```json\n¦\n```¦```<｜tool▁call▁end｜>¦<｜tool▁call▁begin｜>ping<｜tool▁sep｜>¦"
        "\n<｜tool▁call▁begin｜>¦<｜tool▁¦```"
    ),
    "llama3_json": listed(
        '{"name": "ping", "parameters": {}}¦{"name": "¦{"name": "add", "parameters": ¦"parameters": {¦'
        '"type": "function", ¦; ¦<|python_tag|>{¦{"name": "nope", "parameters": {"k": "@"}}¦'
        '{"parameters": {"path": "@"}, "name": "write_file"}¦<function=add>{¦<function=ping>¦</function>¦'
        '{"name": "@"}¦"arguments": "{\\"a\\": ¦print(@)¦<|python_start|>¦<|python_end|>'
    ),
    "granite4": listed(
        '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>\n¦<tool_call>{"name": "¦'
        '{"name": "add", "arguments": "{¦\\"a\\": @¦'
        '<tool_call>\n{"name": "write_file", "arguments": {"path": "@", "content": "¦\n</tool_call>¦'
        '"arguments": "¦{"name": "nope", "arguments": "{\\"k\\": \\"@\\"}"}¦}}}\n</tool_call>'
    ),
    "granite": listed(
        '<|tool_call|>[{"name": "ping"}]¦<|tool_call|> [¦<tool_call>[¦'
        '{"name": "add", "arguments": {"a": 1, "b": 2}}, ¦{"name": "nope", "arguments": {"k": "@"}}]¦'
        '<|tool_call|>[{"name": "write_file", "arguments": {"path": "@", "content": "¦'
        "\nHere is my thought process:¦Here is my response:¦Here's my thought process:¦"
        "Here's my response:¦Here is¦<response>¦</response>¦"
        '{"name": "no_function", "arguments": {}}'
    ),
    "internlm2": listed(
        "<|action_start|><|plugin|>\n¦"
        '<|action_start|> <|plugin|>\n{"name": "ping", "parameters": {}}<|action_end|>¦'
        "<|action_start|><|interpreter|>\n¦<|action_start|><|interpreter|>\n@<|action_end|>¦"
        '{"name": "add", "parameters": {¦'
        '<|action_start|><|plugin|>\n{"name": "write_file", "parameters": {"path": "@", "content": "¦'
        '{"name": "nope", "arguments": {"k": "@"}}<|action_end|>¦<|action_end|>\n¦<|action_¦'
        "<|interpreter|>"
    ),
    "hunyuan_a13b": listed(
        '<tool_calls>[¦<tool_calls>[{"name": "ping", "arguments": {}}]</tool_calls>¦'
        '{"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": 2}"}, ¦'
        '{"name": "nope", "arguments": {"k": "@"}}]¦'
        '<tool_calls>[{"name": "write_file", "arguments": {"path": "@", "content": "¦助手：¦助¦<think>\n¦'
        "\n</think>\n¦<answer>\n¦\n</answer>¦</ans"
    ),
    "ernie45": listed(
        '\n</think>\n\n\n¦<tool_call>\n{"name": "ping"}\n</tool_call>\n¦\n<response>\n¦\n</response>\n¦'
        '<response>¦<tool_call>\n{"name": "write_file", "arguments": {"path": "@", "content": "¦'
        '{"name": "nope", "arguments": {"k": "@"}}¦\n</tool_call>\n¦</response>\n\n\n<tool_call>\n¦</resp'
    ),
    "jamba": listed(
        '<tool_calls>[¦<tool_calls>[{"name": "ping", "arguments": {}}]</tool_calls>¦{"name": "add", "arguments": {¦'
        '<tool_calls>[{"name": "write_file", "arguments": {"path": "@", "content": "¦{"name": "nope", "arguments": '
        '{"k": "@"}}¦"arguments": ¦"@": [1, "@"], ¦}]</tool_calls>¦<tool_ca'
    ),
    "apertus": listed(
        '<|tools_prefix|>[¦<|tools_prefix|>[{"ping": {}}]<|tools_suffix|>¦{"add": {"a": 1}}¦{"write_file": {"path": "@¦'
        '<|tools_prefix|>[{"nope": {"k": "@"}}¦{"@": 1}¦"@": [1, "@"], ¦}]<|tools_suffix|>¦<|inner_prefix|>¦'
        "<|inner_suffix|>¦<|tools_"
    ),
    "xlam": listed(
        '[{"name": "ping", "arguments": {}}]¦[{"name": "add", "arguments": {"a": ¦[{"name": "write_file", "arguments": '
        '{"path": "@", "content": "¦```json\n¦```¦\n```¦[TOOL_CALLS]¦[TOOL_CALLS][¦<tool_call>[¦</tool_call>¦'
        '{"name": "nope", "arguments": {"k": "@"}}¦"arguments": ¦"name": "ping"¦"@": [1, "@"], ¦}]'
    ),
    "phi4_mini": listed(
        'functools[¦functools[{"name": "ping", "arguments": {}}]¦functools¦functools [¦'
        '{"name": "add", "parameters": {"a": 1, "b": 2}}, ¦{"name": "nope", "arguments": {"k": "@"}}]¦'
        'functools[{"name": "write_file", "arguments": {"path": "@", "content": "¦'
        '<|tool_call|>[{"name": "ping"}]<|/tool_call|>¦<|tool_call|>{"name": "¦<|/tool_call|>¦funct'
    ),
    "kimi_k2": listed(
        "<|tool_calls_section_begin|><|tool_call_begin|>¦"
        "<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|>¦"
        "<|tool_call_begin|>functions.nope:1<|tool_call_argument_begin|>¦functions.¦:0¦:12¦"
        "functions.@:3¦<|tool_call¦<|tool_calls_¦"
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0"
        '<|tool_call_argument_begin|>{"path": "@", "content": "'
    ),
    "llama4_pythonic": listed(
        "[ping()]¦[add(a=1, b=2), ping()]¦[add(¦add(a=¦, b=¦[write_file(path='¦content=\"¦')]¦')¦\")]¦"
        "'''¦\"\"\"¦[nope(x='@')]¦<|python_start|>[¦<|python_start|>¦<|python_end|>¦{'a': [1, (2,)]}¦"
        "0x10¦1_000¦.5¦[book(opts={'@': 1}, ¦f(@, k=@)¦\\x41¦r'¦tags=['¦], "
    ),
    "glm45": listed(
        "<tool_call>ping\n</tool_call>¦<tool_call>add\n¦<tool_call>write_file\n¦<tool_call>nope\n¦<tool_call>@\n¦"
        "<arg_key>a</arg_key>\n<arg_value>¦<arg_key>path</arg_key>\n<arg_value>¦<arg_key>@</arg_key>¦</arg_value>\n¦"
        "\n<arg_key>content</arg_key>\n¦</arg_value>\n</tool_call>\n¦</arg_¦<arg_¦<tool_call>book\n<arg_key>opts"
    ),
    "glm47": listed(
        "<tool_call>ping</tool_call>¦<tool_call>add¦<tool_call>write_file¦<tool_call>nope¦<tool_call>@¦"
        "<arg_key>a</arg_key><arg_value>¦<arg_key>path</arg_key>¦<arg_key>@</arg_key>¦</arg_value></tool_call>¦"
        "<arg_key>tags</arg_key><arg_value>¦</arg_¦<arg_¦<tool_call>ping{¦"
    ),
    "mimo": listed(
        "<tool_call><function=ping></function></tool_call>¦<tool_call><function=write_file>¦<function=¦<function=nope>¦"
        "<parameter=path>¦<parameter=content>¦<parameter=@>¦\n<parameter=content>¦</parameter>¦"
        "</function></tool_call>¦<tool_call>\n<function=book>\n¦<parameter=seats>"
    ),
    "step3p5": listed(
        "<tool_call>\n<function=ping>\n</function>\n</tool_call>¦<function=ping>¦<function=@>\n¦<tool_call>\n<function=¦"
        "write_file>\n<parameter=path>\n¦\n</parameter>\n¦\n<parameter=content>\n¦<parameter=@>\n¦"
        "</function>\n</tool_call>"
    ),
    "seed_oss": listed(
        "<seed:tool_call>\n<function=ping>\n</function>\n</seed:tool_call>¦<seed:tool_call>\n¦<function=write_file>\n¦"
        "<function=@>¦<parameter=path>¦<parameter=content>\n¦\n</parameter>\n¦</parameter>\n¦</function>\n</seed:tool_call>¦"
        "<seed:cot_budget_reflect>¦</seed:cot_budget_reflect>¦<seed:¦\n<seed:think>"
    ),
    "minimax_m2": listed(
        '<minimax:tool_call>\n<invoke name="ping">\n</invoke>\n</minimax:tool_call>¦<invoke name="write_file">\n¦'
        "<invoke name=¦<invoke name='add'>¦<invoke name=\"@\">¦<minimax:tool_call>\n¦"
        '<parameter name="path">¦<parameter name="content">\n¦\n<parameter name=content>¦<parameter name="@">¦'
        '\n</parameter>\n¦</parameter>\n¦</invoke>\n¦<minimax:'
    ),
    "step3": listed(
        '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="ping">\n'
        "</steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>¦"
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="write_file">\n¦'
        '<｜tool_call_begin｜>function<｜tool_sep｜>¦function¦code<｜tool_sep｜>¦<steptml:invoke name="@">¦'
        '<steptml:parameter name="path">¦<steptml:parameter name="content">\n¦\n</steptml:parameter>\n¦'
        "</steptml:invoke><｜tool_call_end｜>\n¦<｜tool_¦</steptml:"
    ),
    "hy_v3": hunyuan(":opensource", "<tool_sep:opensource>\n", "\n")
    + listed("<end_of_tool_call:opensource>¦<tool_call:opensource>add<tool_sep:opensource>{¦<tool_sep:¦<tool_call>"),
    "hy_v4": hunyuan(":6124c78e", "", ""),
    "olmo3": listed(
        "<function_calls>ping()</function_calls>¦<function_calls>add(a=1, b=2)\nping()¦<function_calls>[¦add(a=¦, b=¦\n"
        "write_file(path='¦, content=\"¦')\n¦\")</function_calls>¦<function_calls>nope(x='@')\n¦f(@, k=@)¦</func¦"
        "true¦{'@': 1}¦book(opts={'@': 1}, ¦<function_calls>\n"
    ),
    "lfm2": listed(
        "<|tool_call_start|>[ping()]<|tool_call_end|>¦<|tool_call_start|>[add(a=1, b=2), ping()]¦[¦add(a=¦, b=¦"
        '<|tool_call_start|>[write_file(path=\'¦, content="¦\')]¦")]¦<|tool_call_start|>[nope(x=\'@\')¦<|tool_call_'
        '¦<|tool_call_start|>[{"name": "ping"¦, "arguments": {"k": "@"}}]¦<|tool_call_start|>ping()\n¦book(tags=["@"'
    ),
    "gemma4": listed(
        '<|tool_call>call:ping{}<tool_call|>¦<|tool_call>call:add{a:1,b:2}<tool_call|>¦<|tool_call>call:¦call:add{¦{¦'
        '(¦)¦<|tool_call>call:write_file{content:<|"|>¦,path:<|"|>¦<|"|>}<tool_call|>¦<|"|>¦<|"|>@<|"|>¦a:¦,b:¦'
        '<|tool_call>call:nope{x:<|"|>@<|"|>}¦<|tool_call>:ping{¦tags:[<|"|>@<|"|>,¦opts:{@:¦@:@,¦}<tool_call|>¦<|"¦'
        "<|channel>thought\n¦\n<channel|>¦<|channel>¦thought\n¦<|tool_call>call:book{¦note:¦=¦<|tool_ca"
    ),
    "functiongemma": listed(
        "<start_function_call>call:ping{}<end_function_call>¦<start_function_call>call:add{a:1,b:2}<end_function_call>¦"
        "<start_function_call>call:¦<start_function_call>call:write_file{content:<escape>¦,path:<escape>¦"
        "<escape>}<end_function_call>¦<escape>¦<escape>@<escape>¦a:¦,b:¦tags:[<escape>@<escape>,¦opts:{@:¦@:@,¦"
        "<start_function_call>call:nope{x:<escape>@<escape>}¦}<end_function_call>¦<esc¦<end_function_¦"
        "<start_function_call>call:book{¦note:¦="
    ),
    "mistral": listed(
        "[TOOL_CALLS]ping[ARGS]{}¦[TOOL_CALLS]write_file[ARGS]¦[TOOL_CALLS]nope[ARGS]¦"
        "[CALL_ID]123456789¦[CALL_ID]@¦[TOOL¦[AR¦\n[THINK]¦[/TH¦"
        '[TOOL_CALLS]write_file[ARGS]{"path": "@", "content": "¦[TOOL_CALLS] ['
    ),
    "gpt_oss": listed(
        "<|channel|>analysis<|message|>¦<|channel|>final<|message|>¦<|channel|>commentary<|message|>¦"
        "<|channel|>commentary to=functions.add <|constrain|>json<|message|>¦"
        " to=functions.ping<|channel|>commentary json<|message|>¦"
        "<|channel|>commentary to=python code<|message|>¦ to=¦analysis¦final¦ json¦<|start|>¦"
        "<|end|><|start|>assistant¦<|call|><|start|>assistant¦"
        '<|channel|>commentary to=functions.write_file<|message|>{"path": "@", "content": "¦'
        "<|channel|>@"
    ),
    **{
        dialect: listed(
            f'{block}¦<｜DSML｜{gap}invoke name="¦<｜DSML｜{gap}invoke name="ping">¦<｜DSML｜{gap}invoke name="ping"/>¦'
            f'{block}\n<｜DSML｜{gap}invoke name="write_file">\n<｜DSML｜{gap}parameter name="path" string="true">¦'
            f'<｜DSML｜{gap}parameter name="@" string="false">¦<｜DSML｜{gap}parameter name="content">¦'
            f'<｜DSML｜{gap}parameter name="arguments" string="true">¦<｜DSML｜{gap}invoke name="nope">¦'
            f'\n<｜DSML｜{gap}parameter name="tags" string="¦true">¦false">¦"/>¦'
            f'{block}<｜DSML｜{gap}invoke name="book">¦<｜DSML｜¦</｜DSML｜¦｜DSML｜¦'
            f'<｜DSML｜{gap}parameter name="path" string="true">@</｜DSML｜{gap}parameter>'
        )
        for dialect, block, gap in (
            ("deepseek_v32", "<｜DSML｜function_calls>", ""),
            ("deepseek_v4", "<｜DSML｜tool_calls>", ""),
            ("deepseek_v41", "<｜DSML｜ calls>", " "),
        )
    },
    "kimi_k3": listed(
        '<|open|>call tool="write_file" index="1"<|sep|>¦<|open|>call tool="¦" index="@"<|sep|>¦'
        '<|open|>argument key="path" type="string"<|sep|>¦<|open|>argument key="@" type="object"<|sep|>¦'
        '<|open|>argument key="content" type="¦<|open|>json type="object"<|sep|>¦<|close|>json<|sep|>¦<|sep|>¦'
        '<|open|>tools<|sep|><|open|>call tool="book" index="1"<|sep|>¦<|open|>argument key="tags"<|sep|>¦<|open|>¦'
        '<|close|>¦<|close|>think<|open|>response<|sep|>¦&amp;¦&quot;¦<|close|>think¦<|open|>call tool="nope"<|sep|>'
    ),
    "minimax_m3": listed(
        ']<]minimax[>[¦]<]minimax[>[<¦]<]minimax[>[</¦]<]minimax[>[<invoke name="¦]<]minimax[>[<path>¦'
        ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="write_file">]<]minimax[>[<content>¦]<]minimax[>[</path>¦'
        ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="order">]<]minimax[>[<items>]<]minimax[>[<item>¦'
        ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="book">¦]<]minimax[>[<opts>¦]<]minimax[>[<tags>¦'
        "]<]minimax[>[<item>¦]<]minimax[>[</item>¦]<]minimax[>[<@>¦]<]minimax[>[</@>¦]<]minimax[>[</content>¦</path>¦"
        '<tool_call>¦</tool_call>¦<invoke name="ping">¦</invoke>¦]<]minimax[>[<note>¦]<]minimax[>[<zzz>¦<path>¦<a>'
    ),
})


def numbered(soup: str) -> str:
    """The soup with each slot made a word of its own; no word is part of another."""
    parts = soup.split(SLOT)
    return parts[0] + "".join(f"zq{number}qz{part}" for number, part in enumerate(parts[1:]))


def protocol_words(dialect: str, text: str) -> set[str]:
    """Words inside markup that is no text and no call: channel names and types of a header, attributes of a tag."""
    if writes_types(dialect):
        attributes = re.findall(r"""(?:string|type|index)=["']?([^"'<>\n]*)""", text)
        return {word for attribute in attributes for word in WORD.findall(attribute)}
    if dialect == "inkling":
        return set(WORD.findall(" ".join(re.findall(r"(\S+)<\|content_invoke_tool_json\|>", text))))
    if dialect not in ("gpt_oss", "muse"):
        return set()
    headers = re.findall(r"(?s)(?:<\|channel\|>|to=|<\|constrain\|>|<\|start\|>assistant).*?(?:<\|message\|>|$)", text)
    return {word for header in headers for word in WORD.findall(header)}


def check_conservation(dialect: str, text: str, result: Result, anomalies: Mapping[str, int]) -> None:
    words = WORD.findall(text)
    order = {word: place for place, word in enumerate(words)}
    shown = [result.content or "", result.reasoning or "", "\n".join(call.name for call in result.calls)]
    shown += [call.arguments for call in result.calls]
    seen: list[str] = []
    texts_last = Elements in payloads_of(dialect)  # text between the elements of a tree becomes its last member
    for at, channel in enumerate(shown):
        found = WORD.findall(channel)
        in_order = found == sorted(found, key=lambda word: order.get(word, -1))
        assert in_order or (texts_last and at > 2), f"order of {found} in {channel!r}"
        seen += found
    assert len(seen) == len(set(seen)), f"shown twice: {sorted(word for word in set(seen) if seen.count(word) > 1)}"
    ids = {word for call in result.calls for word in WORD.findall(call.id)}
    known = {*seen, *ids, *protocol_words(dialect, text)}
    missing = [word for word in words if word not in known]
    lost = sum(map(len, missing))
    dropped = anomalies.get("dropped_characters", 0)
    assert lost <= dropped, f"{missing} missing, {dropped} characters counted as dropped"


def told(chunks: Iterable[str], controls: Spans) -> tuple[list[str], list[Spans]]:
    """The chunks with the control tokens in each, joined where one would be cut."""
    joined: list[str] = []
    inside: list[Spans] = []
    start, waiting = 0, ""
    for chunk in chunks:
        waiting += chunk
        end = start + len(waiting)
        if any(first < end < last for first, last in controls):
            continue
        joined.append(waiting)
        inside.append([(first - start, last - start) for first, last in controls if start <= first < end])
        start, waiting = end, ""
    return joined, inside


def check_text(
    dialect: str,
    text: str,
    options: Mapping[str, Any],
    tools: Any,
    reason: str | None,
    chunked: Iterable[tuple[str, list[str]]],
    controls: Spans | None = None,
) -> None:
    """One text: no exception, nothing lost uncounted, linear, the same under these other chunkings.

    ``controls``: spans that the engine knows to be control tokens; no chunk ends inside one.
    """

    def parsed(chunks: list[str]) -> tuple[Result, dict[str, int]]:
        parser = ResponseParser(dialect, tools=tools, make_id=make_id, **options)
        spans: Iterable[Spans | None] = repeat(None)
        if controls is not None:
            chunks, spans = told(chunks, controls)
        result = run(parser, chunks, reason, spans)
        assert parser.examined <= PER_CHARACTER * len(text) + FIXED, f"{parser.examined} looked at of {len(text)}"
        return result, counters(parser)

    whole = parsed([text])
    check_conservation(dialect, text, *whole)
    for name, chunks in chunked:
        assert parsed(chunks) == whole, name


def check_soup(dialect: str, text: str, options: Mapping[str, Any], tools: Any, reason: str | None, seed: int) -> None:
    """The same under a few chunkings."""
    check_text(dialect, text, options, tools, reason, chunkings(text, random.Random(seed)))
