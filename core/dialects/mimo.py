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
from ..spec import Dialect, Engines, Reasoning, Start, Tagged
from ._shapes import wrapped

FUNCTION = Tagged(
    head="<function={name}>",
    argument="<parameter={key}>{value}</parameter>",
    tail="</function>",
    around=("<tool_call>", "</tool_call>"),
)

OPENERS, REGIONS = wrapped(FUNCTION, framing=0)

register(
    Dialect(
        "mimo",
        openers=OPENERS,
        reasoning=Reasoning("<think>", "</think>"),
        regions=REGIONS,
        start=Start("plain", turn="<|im_start|>assistant\n"),
        stops=("<|im_end|>",),
        summary="MiMo-V2-Flash, MiMo-V2.5, MiMo-V2.6",
        engines=Engines(vllm="mimo", sglang="mimo"),
    )
)
