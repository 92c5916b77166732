"""Phi-4-mini: ``functools`` and a JSON list of calls, or ``<|tool_call|>`` … ``<|/tool_call|>``.

Models: Phi-4-mini-instruct.
Source: vLLM's chat template for the model, which asks for ``functools[{"name": "f", "arguments": {…}}, …]`` without a
closing marker; the model's own template marks calls by the special tokens ``<|tool_call|>`` and ``<|/tool_call|>``,
an object or a list between them. ``parameters`` is read as well.

``functools`` is ordinary text: without a list of calls behind it, it is a word, and a list that is cut before its
first name is text.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Skip, Start, on

LIST = CallBlock(Envelope(shape="array"))
TAGGED = CallBlock(Envelope(), close=("<|/tool_call|>",))

register(
    Dialect(
        "phi4_mini",
        openers=(
            on(Call(LIST), "functools", plain=True),
            on(Call(TAGGED), "<|tool_call|>"),
            on(Skip(), "<|/tool_call|>", at="after_call"),
        ),
        start=Start("plain", turn="<|assistant|>"),
        aliases=("phi4_mini_json", "phi4"),
        stops=("<|end|>",),
        keep_special=True,
        summary="Phi-4-mini-instruct",
        engines=Engines(vllm="phi4_mini_json"),
    )
)
