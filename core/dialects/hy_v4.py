"""Hunyuan 4: as Hunyuan 3, without the separator and without any blanks.

Models: Hy4-preview, Hy4-preview-FP8.
Source: the chat template of the model; vLLM's parser of that name. Every marker carries the checkpoint's suffix:
``:6124c78e`` (here and by default); the tokenizer tells. Canonical spelling, with S for the suffix::

    <tool_callsS><tool_callS>get_weather<arg_keyS>city</arg_keyS><arg_valueS>Rome</arg_valueS></tool_callS></tool_callsS>

A string is verbatim, newlines at its ends included. Values, closers inside them and what is read besides are as in
hy_v3.py. The name is plain text: it counts only if a pair, JSON or ``</tool_callS>`` follows.

Reasoning: ``…</think>``, opened by the prompt unless ``reasoning_effort`` is ``no_think``; a call ends it.
"""

from dataclasses import replace
from functools import lru_cache

from ..registry import register
from ..spec import Dialect, Engines, Variants
from .hy_v3 import hunyuan


@lru_cache
def hy_v4(suffix: str) -> Dialect:
    """The dialect with the suffix of a checkpoint."""
    shared = hunyuan("hy_v4", suffix, gap="", closers=("/tool_call",))
    return replace(
        shared,
        start=replace(shared.start, region="reasoning"),
        summary="Hy4-preview",
        engines=Engines(vllm="hy_v4", sglang="hunyuan"),
        variants=Variants("<tool_calls{suffix}>", hy_v4),
    )


register(hy_v4(":6124c78e"))
