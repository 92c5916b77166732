"""DeepSeek DSML: ``<｜DSML｜invoke>`` with parameters that say themselves whether they are text or JSON.

Models: DeepSeek-V3.2 (not V3.2-Exp), V4 (Flash, Pro), V4.1 (Flash).
Source: the prompt encoders that DeepSeek ships with the weights; there is no chat template. Canonical spelling of V4::

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="add">
    <｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>
    <｜DSML｜parameter name="note" string="true">as is</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls>

V3.2 calls the block ``function_calls``; V4.1 ``｜DSML｜ calls``, with a blank in front of the words of all tags. A call
without arguments has an empty line inside. The bars are U+FF5C.

``string="true"`` is text as it is, ``"false"`` JSON; where the schema takes no strings it decides over "true", and
without the attribute it decides alone. Nothing is escaped: a closer inside a value counts only by what follows (see
tagged_guard.py), and an ``<｜DSML｜invoke`` inside a value is data.

Also read, as the models write it now and then: other names of the block, no block at all, a tag that closes itself,
a JSON object in place of the parameters, and all arguments in one parameter ``arguments`` or ``input``.

Reasoning: ``…</think>`` without newlines, opened by the prompt; a call inside it ends it.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Pop, Push, Reasoning, Region, Sink, Skip, Start, Tagged, on


def dsml(
    name: str,
    blocks: tuple[str, ...],
    gap: str,
    *,
    aliases: tuple[str, ...],
    summary: str,
    engines: Engines,
    mark: str = "｜DSML｜",
) -> Dialect:
    """One generation: the names of its block, the canonical one first, and the ``gap`` in front of a tag's word.
    ``mark`` begins all tags."""
    openers = tuple(f"<{mark}{block}>" for block in blocks)
    closers = tuple(f"</{mark}{block}>" for block in blocks)
    invoke = Tagged(
        head=f'<{mark}{gap}invoke name="{{name}}">\n',
        argument=f'<{mark}{gap}parameter name="{{key}}" string="{{type}}">{{value}}</{mark}{gap}parameter>\n',
        tail=f"</{mark}{gap}invoke>",
        around=(openers[0], *closers),
        optional=('" string="',),
        words=(("string", "true"), ("", "false")),
        empty="/>",
        wrappers=("arguments", "input"),
    )
    opener = f"<{mark}{gap}invoke name="
    return Dialect(
        name,
        openers=(
            on(Push("block"), *openers, trim=(2, 0)),
            on(Call(CallBlock(invoke, confirm=True)), opener, consume=False, trim=(2, 0)),
            on(Skip(), *closers, at="after_call"),
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end"),
        regions=(
            Region(
                "block",
                Sink.SECTION,
                (on(Call(CallBlock(invoke)), opener, consume=False), on(Pop(), *closers)),
                between="\n",
                pad=("\n", "\n"),
                repeat=True,
            ),
        ),
        start=Start("plain", kwargs=("thinking", "enable_thinking"), turn="<｜Assistant｜>"),
        aliases=aliases,
        stops=("<｜end▁of▁sentence｜>",),
        keep_special=True,
        summary=summary,
        engines=engines,
    )


# The names of V4's block that the model was seen to write, V3.2's among them.
V4_BLOCKS = ("tool_calls", "function_calls", "toolcalls", "tool")

register(
    dsml(
        "deepseek_v32",
        ("function_calls", "tool_calls"),
        "",
        aliases=("deepseekv32", "deepseek-v32", "deepseek32"),
        summary="DeepSeek-V3.2",
        engines=Engines(vllm="deepseek_v32", sglang="deepseekv32", lmdeploy="deepseek-v32"),
    )
)
register(
    dsml(
        "deepseek_v4",
        V4_BLOCKS,
        "",
        aliases=("deepseekv4", "deepseek-v4"),
        summary="DeepSeek-V4-Flash, V4-Pro",
        engines=Engines(vllm="deepseek_v4", sglang="deepseekv4", lmdeploy="deepseek-v4"),
    )
)
register(
    dsml(
        "deepseek_v41",
        (" calls",),
        " ",
        aliases=("deepseekv41", "deepseek-v41"),
        summary="DeepSeek-V4.1-Flash",
        engines=Engines(vllm="deepseek_v41", sglang="deepseekv41"),
    )
)
