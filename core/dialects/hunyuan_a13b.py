"""Hunyuan A13B: one ``<tool_calls>`` block with a JSON list.

Models: Hunyuan-A13B-Instruct.
Source: the chat template of the model: ``<tool_calls>[{"name": "f", "arguments": {…}}, …]</tool_calls>``. Arguments may
be a JSON string that holds the object. The tags are ordinary text of several tokens.

An answer without a call begins with ``助手：``, which is not shown. Reasoning is ``<think>\\n…\\n</think>\\n``, the
answer behind it ``<answer>\\n…\\n</answer>``; a call inside the reasoning is no call.
"""

from ..registry import register
from ..spec import Answer, Call, CallBlock, Dialect, Engines, Envelope, Reasoning, Skip, Start, on

BLOCK = CallBlock(Envelope(shape="array"), close=("</tool_calls>",))

register(
    Dialect(
        "hunyuan_a13b",
        openers=(
            on(Call(BLOCK), "<tool_calls>", plain=True),
            on(Skip(), "</tool_calls>", at="after_call"),
            on(Skip(), "助手：", at="start"),
        ),
        reasoning=Reasoning("<think>", "</think>", calls="keep", trim_open=(0, 1), trim_close=(1, 1)),
        answer=Answer("<answer>", "</answer>", trim_open=(0, 1), trim_close=(1, 0)),
        start=Start("plain", kwargs=("enable_thinking",), turn="<|extra_0|>"),
        aliases=("hunyuan-a13b",),
        stops=("<|eos|>",),
        summary="Hunyuan-A13B-Instruct",
        engines=Engines(vllm="hunyuan_a13b"),
    )
)
