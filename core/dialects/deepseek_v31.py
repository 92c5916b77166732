"""DeepSeek V3.1: a section of calls, each a name and JSON between control tokens.

Models: DeepSeek-V3.1, V3.1-Terminus, V3.2-Exp (the final V3.2 speaks DSML).
Source: the chat templates of these models. Nothing stands between the tokens, and no newline anywhere::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>

The bars are U+FF5C, the gaps U+2581. The tokenizer maps marker text inside a JSON string to the marker ids as well,
so only the JSON tells a marker from data.

Reasoning: ``…</think>``, opened by the prompt with ``thinking=true``; a call inside it ends it.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Named, Pop, Push, Reasoning, Region, Sink, Start, on

CALL = CallBlock(
    Named(head="{name}<｜tool▁sep｜>"),
    close=("<｜tool▁call▁end｜>",),
    until=("<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>"),
)

register(
    Dialect(
        "deepseek_v31",
        openers=(on(Push("section"), "<｜tool▁calls▁begin｜>"),),
        reasoning=Reasoning("<think>", "</think>", calls="end"),
        regions=(
            Region(
                "section",
                Sink.SECTION,
                (on(Call(CALL), "<｜tool▁call▁begin｜>"), on(Pop(), "<｜tool▁calls▁end｜>")),
                repeat=True,
            ),
        ),
        start=Start("plain", kwargs=("thinking", "enable_thinking"), turn="<｜Assistant｜>"),
        aliases=("deepseekv31", "deepseek31"),
        stops=("<｜end▁of▁sentence｜>",),
        keep_special=True,
        summary="DeepSeek-V3.1, V3.1-Terminus, V3.2-Exp",
        engines=Engines(vllm="deepseek_v31", sglang="deepseekv31"),
    )
)
