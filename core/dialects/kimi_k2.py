"""Kimi K2: a section of calls whose head is both id and name.

Models: Kimi-K2-Instruct, -0905, -Thinking, K2.5, K2.6.
Source: the chat templates of these models. Canonical spelling, without any blanks::

    <|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 1}
    <|tool_call_end|><|tool_calls_section_end|>

(one line). The number counts the calls of the whole conversation, and the id has to come back unchanged. Blanks round
the head and the JSON are tolerated, and so is a little text inside the section, which is dropped.

Reasoning: ``…</think>`` without newlines, opened by the prompt of Thinking and K2.5 and later; a call ends it.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Named, Pop, Push, Reasoning, Region, Sink, Start, on

CALL = CallBlock(
    Named(head="{id}<|tool_call_argument_begin|>"),
    close=("<|tool_call_end|>",),
    until=("<|tool_calls_section_end|>", "<|tool_call_begin|>"),
    ids="functions.{name}:{index}",
)

register(
    Dialect(
        "kimi_k2",
        openers=(on(Push("section"), "<|tool_calls_section_begin|>"),),
        reasoning=Reasoning("<think>", "</think>", calls="end"),
        regions=(
            Region(
                "section",
                Sink.SECTION,
                (on(Call(CALL), "<|tool_call_begin|>"), on(Pop(), "<|tool_calls_section_end|>")),
                noise=256,
                repeat=True,
            ),
        ),
        start=Start("plain", kwargs=("thinking", "enable_thinking"), turn="<|im_assistant|>assistant<|im_middle|>"),
        aliases=("kimi-k2", "kimik2"),
        stops=("<|im_end|>",),
        keep_special=True,
        summary="Kimi K2, K2-Thinking, K2.5, K2.6",
        engines=Engines(vllm="kimi_k2", sglang="kimi_k2", lmdeploy="kimi_k2 kimi-k2"),
    )
)
