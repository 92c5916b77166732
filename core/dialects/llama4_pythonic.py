"""Llama 4 pythonic calls: ``[f(a=1, b="x"), g()]``.

Models: Llama 4 Scout and Maverick, Llama 3.2 with Meta's own format.
Source: Meta's prompt-format pages for these models. The list is the whole message; ``<|python_start|>`` and
``<|python_end|>`` may stand around it.

``[`` opens calls only at the start of the response, ``<|python_start|>`` anywhere. Values are Python literals, typed by
themselves; a quote ends a string only if ``,)]}:`` or the end of the input follows, so that an unescaped quote
inside a string is data. The opener ``[`` is ordinary text: a list that is cut before its first ``(`` is text.
"""

from ..registry import register
from ..spec import Call, CallBlock, CallSyntax, Dialect, Engines, Start, on

BLOCK = CallBlock(CallSyntax(), close=("<|python_end|>",))

register(
    Dialect(
        "llama4_pythonic",
        openers=(
            on(Call(BLOCK), "<|python_start|>"),
            on(Call(BLOCK), "<|python_start|>", at="start", trim=(2, 0)),
            on(Call(BLOCK), "[", at="start", consume=False, trim=(2, 0)),
        ),
        start=Start("plain", turn="<|header_start|>assistant<|header_end|>\n\n"),
        aliases=("llama4", "pythonic"),
        stops=("<|eot|>", "<|eom|>", "<|eot_id|>"),
        keep_special=True,
        summary="Llama 4, Llama 3.2 (Meta's format)",
        engines=Engines(vllm="llama4_pythonic pythonic", sglang="pythonic"),
    )
)
