"""MiniMax M2: ``<invoke>`` and ``<parameter>`` elements inside ``<minimax:tool_call>``.

Models: MiniMax-M2, M2.1, M2.5, M2.7.
Source: the chat templates of these models. All calls of a response stand in one block::

    <minimax:tool_call>
    <invoke name="get_weather">
    <parameter name="city">Rome</parameter>
    </invoke>
    </minimax:tool_call>

A value is verbatim; one that stands on lines of its own, which the template never writes, loses the newline on each
side. Nothing is escaped. ``</parameter>`` ends a value if the next one, ``</invoke>`` or what implies it follows
(see tagged_guard.py). Other quotes around names, or none, are read, and so is a bare ``<invoke name="…">`` if a
parameter or ``</invoke>`` follows.

Reasoning: ``…\\n</think>\\n\\n``, always opened by the prompt (``<think>\\n``); a call ends it.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start, Tagged
from ._shapes import wrapped

INVOKE = Tagged(
    head='<invoke name="{name}">\n',
    argument='<parameter name="{key}">{value}</parameter>\n',
    tail="</invoke>",
    around=("<minimax:tool_call>", "</minimax:tool_call>"),
    padded=True,
)

OPENERS, REGIONS = wrapped(INVOKE, framing=1, between="\n", pad=("\n", "\n"), repeat=True)

register(
    Dialect(
        "minimax_m2",
        openers=OPENERS,
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_open=(0, 1), trim_close=(1, 2)),
        regions=REGIONS,
        start=Start("reasoning", turn="]~b]ai\n"),
        aliases=("minimax", "minimax-m2"),
        stops=("[e~[",),
        summary="MiniMax-M2, M2.1, M2.5, M2.7",
        engines=Engines(vllm="minimax_m2", sglang="minimax-m2"),
    )
)
