"""LFM2: a list of Python calls between ``<|tool_call_start|>`` and ``<|tool_call_end|>``.

Models: LFM2-350M to 8B-A1B, LFM2-1.2B-Tool, LFM2-VL, LFM2.5.
Source: the chat templates of these models. Canonical spelling::

    <|tool_call_start|>[get_weather(city="Oslo", days=3), ping()]<|tool_call_end|>

The template of LFM2.5 renders strings in single quotes without any escaping, objects as JSON and the rest as Python
does, so models write quotes and newlines that are not escaped: see the rule of llama4_pythonic. Also read: the JSON
list of LFM2's earlier template, and calls without the brackets.

Reasoning: ``<think>…</think>``, opened by the model itself (LFM2.5 Thinking).
"""

from ..registry import register
from ..spec import Call, CallBlock, CallSyntax, Dialect, Engines, Envelope, FirstChar, Reasoning, Skip, Start, on

BLOCK = CallBlock(
    FirstChar((("[{", Envelope()), ("{", Envelope())), CallSyntax(loose=True)),
    close=("<|tool_call_end|>",),
    until=("<|tool_call_start|>",),
)

register(
    Dialect(
        "lfm2",
        openers=(on(Call(BLOCK), "<|tool_call_start|>"), on(Skip(), "<|tool_call_end|>", at="after_call")),
        reasoning=Reasoning("<think>", "</think>"),
        start=Start("plain", turn="<|im_start|>assistant\n"),
        aliases=("lfm2_5", "lfm"),
        stops=("<|im_end|>", "<|endoftext|>"),
        keep_special=True,
        summary="LFM2, LFM2.5",
        engines=Engines(vllm="lfm2", sglang="lfm2"),
    )
)
