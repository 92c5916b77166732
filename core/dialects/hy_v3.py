"""Hunyuan 3: a section of calls, each a name and ``<arg_key>``, ``<arg_value>`` pairs.

Models: Hy3, Hy3-FP8, Hy3-preview.
Source: the chat templates of these models. Every marker carries the checkpoint's suffix: ``:opensource`` (here and by
default), none in Hy3-preview, a number elsewhere; the tokenizer tells. Canonical spelling, with S for the suffix::

    <tool_callsS>
    <tool_callS>get_weather<tool_sepS>
    <arg_keyS>city</arg_keyS>
    <arg_valueS>Rome</arg_valueS>
    </tool_callS>
    </tool_callsS>

A string is verbatim; all else is JSON, and only the schema tells. Blanks between the tags are optional. A value ends at
``</arg_valueS>`` if a pair or the call's closer follows (see tagged_guard.py). Also read, because the models write it
now and then: a call without the section or the separator, JSON in place of the pairs, ``</arg_valueS>`` in place of the
separator, no ``<arg_valueS>`` in front of a value, and the closer ``<end_of_tool_callS>``.

Reasoning: ``…</think>``, opened by the prompt unless ``reasoning_effort`` is ``no_think``, the default; a call ends it.
"""

from dataclasses import replace
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


def hunyuan(name: str, suffix: str, *, gap: str, separator: tuple[str, ...] = (), closers: tuple[str, ...]) -> Dialect:
    """What the generations share. ``gap``: the newline behind every tag, if there is one; ``separator``: the tag behind
    a name; ``closers``: those of a call."""

    def tag(word: str) -> str:
        return f"<{word}{suffix}>"

    separators, ends = tuple(map(tag, separator)), tuple(map(tag, closers))
    call = CallBlock(
        Tagged(
            head="{name}" + "".join(separators) + gap,
            argument=f"{tag('arg_key')}{{key}}{tag('/arg_key')}{gap}{tag('arg_value')}{{value}}{tag('/arg_value')}{gap}",
            tail="",
            around=(tag("tool_call"), *ends, tag("/tool_calls")),
            optional=separators,
        ),
        close=ends,
        confirm=not separator,
    )
    section = (on(Call(call), tag("tool_call")), on(Pop(), tag("/tool_calls")))
    return Dialect(
        name,
        openers=(
            on(Push("section"), tag("tool_calls")),
            on(Call(call), tag("tool_call")),
            on(Skip(), tag("/tool_calls"), at="after_call"),
        ),
        reasoning=Reasoning(tag("think"), tag("/think"), calls="end"),
        regions=(Region("section", Sink.SECTION, section, between=gap, pad=(gap, gap), repeat=True),),
        start=Start("plain", kwargs=("reasoning_effort",), turn=f"<｜hy_Assistant{suffix}｜>"),
        stops=(f"<｜hy_eos{suffix}｜>",),
        keep_special=True,
    )


@lru_cache
def hy_v3(suffix: str) -> Dialect:
    """The dialect with the suffix of a checkpoint."""
    closers = ("/tool_call", "end_of_tool_call")
    return replace(
        hunyuan("hy_v3", suffix, gap="\n", separator=("tool_sep",), closers=closers),
        aliases=("hunyuan",),
        summary="Hy3, Hy3-preview",
        engines=Engines(vllm="hy_v3", sglang="hunyuan"),
        variants=Variants("<tool_calls{suffix}>", hy_v3),
    )


register(hy_v3(":opensource"))
