"""Hermes JSON: ``<tool_call>`` JSON ``</tool_call>``.

Models: NousResearch Hermes 2 Pro to 4, Qwen2.5, QwQ, Qwen3 (not Qwen3-Coder, not Qwen3.5 and later), Arcee Trinity.
Source: the chat templates of these models. Canonical spelling::

    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Rome"}}
    </tool_call>

Also read: no newlines, arguments before the name, ``parameters``, a list or several objects in one block.
Position decides what a ``</tool_call>`` is: inside a JSON string it is data.

Reasoning: ``<think>\\n…\\n</think>\\n\\n``; written by hybrid Qwen3 itself, opened by the prompt for Thinking models.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Reasoning, Skip, Start, on

BLOCK = CallBlock(Envelope(), close=("</tool_call>",), pad=("\n", "\n"))

register(
    Dialect(
        "hermes",
        openers=(
            on(Call(BLOCK), "<tool_call>", trim=(1, 0)),
            on(Skip(), "</tool_call>", at="after_call"),
        ),
        reasoning=Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 2)),
        start=Start("plain", turn="<|im_start|>assistant\n"),
        aliases=("qwen", "qwen25", "qwen2d5", "qwen3", "qwen3_json", "trinity"),
        stops=("<|im_end|>", "<|endoftext|>"),
        between="\n",
        summary="Hermes 2 Pro to 4, Qwen2.5, QwQ, Qwen3, Arcee Trinity",
        engines=Engines(vllm="hermes qwen3_json", sglang="hermes qwen qwen25 trinity", lmdeploy="qwen qwen2d5 qwen3"),
    )
)
