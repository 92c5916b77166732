"""Hunyuan 4: as Hunyuan 3, without the separator and without any blanks.

Models: Hy4-preview, Hy4-preview-FP8.
Source: the chat template of the model; vLLM's parser of that name. Every marker carries the checkpoint's suffix:
``:6124c78e`` (here and by default); the tokenizer tells. Canonical spelling, with S for the suffix::

    <tool_callsS><tool_callS>get_weather<arg_keyS>city</arg_keyS><arg_valueS>Rome</arg_valueS></tool_callS></tool_callsS>

A string is verbatim, newlines at its ends included. Values, closers inside them and what is read besides are as in
hy_v3.py. The name is plain text: it counts only if a pair, JSON or ``</tool_callS>`` follows.

Reasoning: ``…</think>``, opened by the prompt unless ``reasoning_effort`` is ``no_think``; a call ends it.
"""

from functools import lru_cache

from ..registry import register
from ..spec import (
    Call,
    CallBlock,
    Dialect,
    Engines,
    Pop,
    Push,
    Reasoning,
    Region,
    Sink,
    Skip,
    Start,
    Tagged,
    Variants,
    on,
)


@lru_cache
def hy_v4(suffix: str) -> Dialect:
    """The dialect with the suffix of a checkpoint."""

    def tag(name: str) -> str:
        return f"<{name}{suffix}>"

    call = CallBlock(
        Tagged(
            head="{name}",
            argument=f"{tag('arg_key')}{{key}}{tag('/arg_key')}{tag('arg_value')}{{value}}{tag('/arg_value')}",
            tail="",
            around=(tag("tool_call"), tag("/tool_call"), tag("/tool_calls")),
        ),
        close=(tag("/tool_call"),),
        confirm=True,
    )
    return Dialect(
        "hy_v4",
        openers=(
            on(Push("section"), tag("tool_calls")),
            on(Call(call), tag("tool_call")),
            on(Skip(), tag("/tool_calls"), at="after_call"),
        ),
        reasoning=Reasoning(tag("think"), tag("/think"), calls="end"),
        regions=(
            Region(
                "section",
                Sink.SECTION,
                (on(Call(call), tag("tool_call")), on(Pop(), tag("/tool_calls"))),
                repeat=True,
            ),
        ),
        start=Start("reasoning", kwargs=("reasoning_effort",), turn=f"<｜hy_Assistant{suffix}｜>"),
        stops=(f"<｜hy_eos{suffix}｜>",),
        keep_special=True,
        summary="Hy4-preview",
        engines=Engines(vllm="hy_v4", sglang="hunyuan"),
        variants=Variants("<tool_calls{suffix}>", hy_v4),
    )


register(hy_v4(":6124c78e"))
