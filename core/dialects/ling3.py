"""Ling 3: ``<tool_call>`` name, then ``<arg_key>`` and ``<arg_value>`` pairs, a newline inside each pair.

Models: Ling-3.0-flash, Ling-3.0-tiny.
Source: the chat templates of these models. Canonical spelling::

    <tool_call>get_weather<arg_key>city</arg_key>
    <arg_value>Rome</arg_value>
    </tool_call>

Between two pairs stands nothing. The tools are shown to the model with a newline behind every tag, the way of glm45.py;
that and the compact way of glm47.py are read as well. Values and closers are as there.

Reasoning: ``…</think>`` without newlines, opened by the prompt (``<role>ASSISTANT</role>\\n<think>``) unless thinking
is off; a call ends it.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start
from ._shapes import pairs

register(
    Dialect(
        "ling3",
        openers=pairs(
            "tool_call",
            head="{name}",
            argument="<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>",
            framing=1,
            pad=("", "\n"),
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end"),
        start=Start("reasoning", kwargs=("enable_thinking", "thinking"), turn="<role>ASSISTANT</role>\n"),
        aliases=("ling",),
        stops=("<|role_end|>",),
        between="\n",
        summary="Ling-3.0-flash, Ling-3.0-tiny",
        engines=Engines(vllm="ling3", sglang="ling3", lmdeploy="glm47"),
    )
)
