"""EXAONE 4: Hermes JSON without newlines.

Models: EXAONE-4.0-32B, EXAONE-4.0-1.2B, 4.0.1.
Source: the chat template of these models. Canonical spelling::

    <tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>

Everything else is as in hermes.py.

Reasoning: ``…\\n</think>\\n\\n``, opened by the prompt (``[|assistant|]\\n<think>\\n``) where thinking is on, else
closed by it.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Reasoning, Skip, Start, on

BLOCK = CallBlock(Envelope(), close=("</tool_call>",))

register(
    Dialect(
        "exaone",
        openers=(
            on(Call(BLOCK), "<tool_call>", trim=(1, 0)),
            on(Skip(), "</tool_call>", at="after_call"),
        ),
        reasoning=Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 2)),
        start=Start("plain", kwargs=("enable_thinking",), turn="[|assistant|]\n"),
        aliases=("exaone4",),
        stops=("[|endofturn|]",),
        between="\n",
        summary="EXAONE 4.0",
        engines=Engines(vllm="hermes", sglang="hermes qwen25", lmdeploy="qwen"),
    )
)
