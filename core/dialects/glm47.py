"""GLM without newlines: ``<tool_call>`` name, then ``<arg_key>`` and ``<arg_value>`` pairs, all in one line.

Models: GLM-4.7, GLM-4.7-Flash, GLM-5 to GLM-5.3.
Source: the chat templates of these models. Canonical spelling::

    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>

Everything else is as in glm45.py; newlines between the tags, which these models still write now and then, are read.

Reasoning: ``…</think>`` without newlines, opened by the prompt (``<|assistant|><think>``) unless thinking is off; a
call ends it.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start
from ._shapes import pairs

register(
    Dialect(
        "glm47",
        openers=pairs(
            "tool_call",
            head="{name}",
            argument="<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
            framing=0,
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end"),
        start=Start("reasoning", kwargs=("enable_thinking", "thinking"), turn="<|assistant|>"),
        aliases=("glm47_moe",),
        stops=("<|endoftext|>", "<|user|>", "<|observation|>"),
        summary="GLM-4.7, GLM-5 to GLM-5.3",
        engines=Engines(vllm="glm47", sglang="glm47", lmdeploy="glm47"),
    )
)
