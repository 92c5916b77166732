"""Apertus: a JSON list between ``<|tools_prefix|>`` and ``<|tools_suffix|>``, each call an object with one key.

Models: Apertus-8B-Instruct-2509, Apertus-70B-Instruct-2509.
Source: the chat template of these models. Canonical spelling::

    <|tools_prefix|>[{"get_weather": {"city": "Oslo"}}, {"ping": {}}]<|tools_suffix|>

One object without the list is read as well.

Reasoning: ``<|inner_prefix|>…<|inner_suffix|>``, written by the model itself where it deliberates. Calls inside it are
calls, and it goes on behind them; what stands in brackets there are tool outputs of the history, and text.
"""

from dataclasses import replace

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, FirstChar, Reasoning, Skip, Start, on

LIST = Envelope(shape="array", key_is_name=True, canonical='{"{name}": {arguments}}')
BLOCK = CallBlock(FirstChar((("{", replace(LIST, shape="object")),), LIST), close=("<|tools_suffix|>",))

register(
    Dialect(
        "apertus",
        openers=(on(Call(BLOCK), "<|tools_prefix|>"), on(Skip(), "<|tools_suffix|>", at="after_call")),
        reasoning=Reasoning("<|inner_prefix|>", "<|inner_suffix|>", at="anywhere"),
        start=Start("plain", turn="<|assistant_start|>"),
        aliases=("apertus2509",),
        stops=("<|assistant_end|>",),
        keep_special=True,
        summary="Apertus 2509",
        engines=Engines(vllm="apertus", sglang="apertus2509"),
    )
)
