"""DeepSeek V3 and R1: a section of calls, each a type word, a name and JSON in a Markdown fence.

Models: DeepSeek-V3, V3-0324, R1, R1-0528 (V3.1 has a format of its own).
Source: the chat templates of these models. Content stands directly against the section; the template writes a newline
between two calls, and the models none as well::

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add
    ```json
    {"a": 1}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>

The bars are U+FF5C, the gaps U+2581. The fence belongs to the call; inside the JSON it is data, as any marker is. Also
read: no fence; no type word, as V3.1 writes it (``name<｜tool▁sep｜>{…}``); a missing closer of a call or the section.

Reasoning: ``…\\n</think>\\n\\n``, opened by R1's prompt or by R1 itself; a call inside it ends it. V3 has none.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Named, Pop, Push, Reasoning, Region, Sink, Skip, Start, on

CLOSE = ("```<｜tool▁call▁end｜>", "```", "<｜tool▁call▁end｜>")
UNTIL = ("<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>")
FENCED = CallBlock(Named("{name}\n```json\n", optional=("```json",)), close=CLOSE, until=UNTIL, pad=("", "\n"))
UNTYPED = CallBlock(Named("{name}<｜tool▁sep｜>"), close=CLOSE, until=UNTIL)

register(
    Dialect(
        "deepseek_v3",
        openers=(on(Push("section"), "<｜tool▁calls▁begin｜>"),),
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_open=(0, 1), trim_close=(1, 2)),
        regions=(
            Region(
                "section",
                Sink.SECTION,
                (
                    on(Call(FENCED), "<｜tool▁call▁begin｜>function<｜tool▁sep｜>"),
                    on(Pop(), "<｜tool▁calls▁end｜>"),
                    on(Call(UNTYPED), "<｜tool▁call▁begin｜>"),
                    on(Skip(), "<｜tool▁call▁end｜>"),
                ),
                between="\n",
                repeat=True,
            ),
        ),
        start=Start("plain", turn="<｜Assistant｜>"),
        aliases=("deepseekv3", "deepseek", "deepseek_r1", "deepseek-r1"),
        stops=("<｜end▁of▁sentence｜>",),
        keep_special=True,
        summary="DeepSeek-V3, V3-0324, R1, R1-0528",
        engines=Engines(vllm="deepseek_v3", sglang="deepseekv3"),
    )
)
