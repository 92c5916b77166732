"""MiMo: the Qwen XML without any blanks.

Models: MiMo-V2-Flash, MiMo-V2.5, MiMo-V2.5-Pro, MiMo-V2.6.
Source: the chat templates of these models. Canonical spelling of the last::

    <tool_call><function=get_weather><parameter=city>Rome</parameter></function></tool_call>

Earlier models write newlines between the tags, but not around values: a value is verbatim, newlines at its ends
included. Scalars are as Python prints them (``True``). Otherwise values, closers inside them and a bare
``<function=NAME>`` are as in qwen3_coder.py.

Reasoning: ``<think>…</think>``, written by the model; without thinking the prompt holds an empty block.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Pop, Push, Reasoning, Region, Sink, Skip, Start, Tagged, on

FUNCTION = Tagged(
    head="<function={name}>",
    argument="<parameter={key}>{value}</parameter>",
    tail="</function>",
    around=("<tool_call>", "</tool_call>"),
)

register(
    Dialect(
        "mimo",
        openers=(
            on(Push("tool_call"), "<tool_call>"),
            on(Call(CallBlock(FUNCTION, confirm=True)), "<function=", consume=False),
            on(Skip(), "</tool_call>", at="after_call"),
        ),
        reasoning=Reasoning("<think>", "</think>"),
        regions=(
            Region(
                "tool_call",
                Sink.SECTION,
                (on(Call(CallBlock(FUNCTION)), "<function=", consume=False), on(Pop(), "</tool_call>")),
            ),
        ),
        start=Start("plain", turn="<|im_start|>assistant\n"),
        stops=("<|im_end|>",),
        summary="MiMo-V2-Flash, MiMo-V2.5, MiMo-V2.6",
        engines=Engines(vllm="mimo", sglang="mimo"),
    )
)
