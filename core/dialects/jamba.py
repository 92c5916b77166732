"""Jamba: one ``<tool_calls>`` block with a JSON list.

Models: AI21-Jamba-1.5-Mini and -Large, Jamba 1.6, 1.7.
Source: the chat template of these models. Canonical spelling, usually behind a blank::

    <tool_calls>[
        {"name": "get_weather", "arguments": {"city": "Oslo"}},
        {"name": "ping", "arguments": {}}
    ]</tool_calls>

Both tags are tokens of the vocabulary. No reasoning.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Skip, Start, on

BLOCK = CallBlock(Envelope(shape="array"), close=("</tool_calls>",))

register(
    Dialect(
        "jamba",
        openers=(on(Call(BLOCK), "<tool_calls>"), on(Skip(), "</tool_calls>", at="after_call")),
        start=Start("plain", turn="<|bom|><|assistant|>"),
        stops=("<|eom|>", "<|endoftext|>"),
        keep_special=True,
        summary="Jamba 1.5, 1.6, 1.7",
        engines=Engines(vllm="jamba"),
    )
)
