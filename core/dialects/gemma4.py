"""Gemma 4: ``<|tool_call>call:NAME{key:value,…}<tool_call|>``.

Models: gemma-4-31B-it, 26B-A4B-it, 12B-it, E2B-it, E4B-it.
Source: the chat template of these models. Canonical spelling (one line), where the token ``<|"|>`` is the quote::

    <|tool_call>call:book{note:null,tags:[<|"|>x<|"|>],title:<|"|>a, "b"<|"|>}<tool_call|>
    <|tool_call>call:ping{}<tool_call|>

Keys are sorted, bare and unescaped, and so is the text between two quotes: newlines, quotes, braces and markers there
are data. A quote token closes a string only if ``,``, ``}``, ``]``, ``<tool_call|>`` or the end of the input
follows, blanks between; else it stands for ``"`` (code with quotes in it). The template prints null as ``None``; both
are null. A bare word is typed by the schema.

Also read: ``:name{``, ``name(…)``, ``=`` for ``:``, quoted keys, strings in Python's or JSON's quotes, a
missing bracket or closer.

Reasoning: ``<|channel>thought\\n…\\n<channel|>``, opened by the model itself; the label may be missing. A call inside
it ends it. Without thinking the prompt holds an empty channel.
"""

from dataclasses import replace

from ..registry import register
from ..spec import Call, CallBlock, CallSyntax, Dialect, Engines, Reasoning, Skip, Start, on

NOTATION = CallSyntax(
    head="call:{name}{",
    assign=":",
    tail="}",
    wrap=("", ""),
    between="",
    comma=",",
    words=("true", "false", "null"),
    quote='<|"|>',
)
CALL = CallBlock(
    replace(NOTATION, variants=(("call:", ":"), ("{", "("))),
    close=("<tool_call|>",),
    until=("<|tool_call>",),
)

register(
    Dialect(
        "gemma4",
        openers=(on(Call(CALL), "<|tool_call>"), on(Skip(), "<tool_call|>", at="after_call")),
        reasoning=Reasoning(
            "<|channel>thought",
            "<channel|>",
            calls="end",
            trim_open=(0, 1),
            trim_close=(1, 0),
            also=(Reasoning("<|channel>", "<channel|>", trim_open=(0, 1), trim_close=(1, 0), at="anywhere"),),
            at="anywhere",
        ),
        start=Start("plain", turn="<|turn>model\n"),
        aliases=("gemma_4", "gemma-4"),
        stops=("<turn|>", "<|tool_response>", "<eos>"),
        keep_special=True,
        summary="Gemma 4",
        engines=Engines(vllm="gemma4", sglang="gemma4"),
    )
)
