"""FunctionGemma: ``<start_function_call>call:NAME{key:value,…}<end_function_call>``.

Models: functiongemma-270m-it and its fine-tunes.
Source: the model's chat template and formatting guide. The notation of Gemma 4 (see gemma4.py) with ``<escape>`` as
the quote, which stands on both sides of every string; other values are bare and typed by the schema. What stands
between two quotes is a string, also where it looks like a number.

No reasoning; fine-tunes that write ``<think>`` write it as text. The model stops at ``<start_function_response>``.
"""

from dataclasses import replace

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Skip, Start, on
from .gemma4 import NOTATION

CALL = CallBlock(
    replace(NOTATION, quote="<escape>"), close=("<end_function_call>",), until=("<start_function_call>",)
)

register(
    Dialect(
        "functiongemma",
        openers=(on(Call(CALL), "<start_function_call>"), on(Skip(), "<end_function_call>", at="after_call")),
        start=Start("plain", turn="<start_of_turn>model\n"),
        aliases=("function_gemma", "function-gemma"),
        stops=("<end_of_turn>", "<start_function_response>", "<eos>"),
        keep_special=True,
        summary="FunctionGemma",
        engines=Engines(vllm="functiongemma"),
    )
)
