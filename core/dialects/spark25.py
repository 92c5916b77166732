"""Spark X2.5: ``<tool_call>`` name, then one ``<arg_key>`` and ``<arg_value>`` pair a line.

Models: XHToken Spark-X2.5-1.7B, Spark-X2.5-4B.
Source: SGLang's parser of that name, whose authors made the model. Canonical spelling::

    <tool_call>get_weather
    <arg_key>city</arg_key><arg_value>Rome</arg_value>
    </tool_call>

Newlines between the tags are optional. Values and closers are as in glm45.py; so ``null`` is a string where the schema
takes nothing else (SGLang makes it null for every type).

Reasoning: ``<think>…</think>``, opened by the prompt where thinking is on; a call ends it.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start
from ._shapes import pairs

register(
    Dialect(
        "spark25",
        openers=pairs(
            "tool_call",
            head="{name}\n",
            argument="<arg_key>{key}</arg_key><arg_value>{value}</arg_value>\n",
            framing=1,
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_open=(0, 1), trim_close=(1, 2)),
        start=Start("plain", kwargs=("enable_thinking",), turn="<|Bot|>"),
        aliases=("spark2_5", "spark"),
        stops=("<｜end▁of▁sentence｜>",),
        between="\n",
        summary="Spark-X2.5",
        engines=Engines(sglang="spark25"),
    )
)
