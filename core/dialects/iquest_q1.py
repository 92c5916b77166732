"""IQuest-Q1: ``<iquest_tool_call>`` name, then ``<arg_key>`` and ``<arg_value>`` pairs, all in one line.

Models: IQuestLab/IQuest-Q1.
Source: the chat template of the model. Canonical spelling::

    <iquest_tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value></iquest_tool_call>

Newlines between the tags are read. Values and closers are as in glm45.py.

Reasoning: ``…</think>`` without newlines, opened by the prompt (``<|iquest_assistant|><think>``) unless thinking is
off; a call ends it.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start
from ._shapes import pairs

register(
    Dialect(
        "iquest_q1",
        openers=pairs(
            "iquest_tool_call",
            head="{name}",
            argument="<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
            framing=0,
            confirm=False,
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end"),
        start=Start("reasoning", kwargs=("enable_thinking", "thinking"), turn="<|iquest_assistant|>"),
        aliases=("iquest",),
        stops=("<|iquest_end|>",),
        keep_special=True,
        summary="IQuest-Q1",
        engines=Engines(vllm="iquest_q1", sglang="iquest_q1"),
    )
)
