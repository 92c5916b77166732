"""Poolside Laguna: ``<tool_call>`` name, then ``<arg_key>`` and ``<arg_value>`` pairs, as GLM writes them.

Models: Laguna-XS.2, Laguna-XS-2.1, Laguna-S-2.1, Laguna-M.1.
Source: the chat templates of these models. Canonical spelling of 2.1::

    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>

XS.2 writes a newline behind the name and every tag; both are read. Values and closers are as in glm45.py.

Reasoning: ``<think>…</think>``, opened or closed by the prompt, which says ``</think>`` where thinking is off; a call
ends it. XS.2 writes newlines round the tags.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start
from ._shapes import pairs

register(
    Dialect(
        "poolside_v1",
        openers=pairs(
            "tool_call",
            head="{name}",
            argument="<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
            framing=1,
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_open=(1, 1), trim_close=(1, 1)),
        start=Start("plain", kwargs=("enable_thinking",), turn="<assistant>"),
        aliases=("poolside", "laguna"),
        stops=("</assistant>",),
        summary="Poolside Laguna XS.2, XS-2.1, S-2.1, M.1",
        engines=Engines(vllm="poolside_v1", sglang="poolside_v1", lmdeploy="glm47"),
    )
)
