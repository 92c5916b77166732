"""GLM with newlines: ``<tool_call>`` name, then ``<arg_key>`` and ``<arg_value>`` pairs.

Models: GLM-4.5, GLM-4.5-Air, GLM-4.6, and their vision variants.
Source: the chat templates of these models. Canonical spelling::

    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Rome</arg_value>
    </tool_call>

A string is verbatim, blanks and newlines at its ends included; all else is JSON, and only the schema tells. Newlines
between the tags are optional, so the compact spelling of later models is read as well. The name is plain text: it
counts only if a pair or ``</tool_call>`` follows.

Inside a value ``<tool_call>`` and ``</tool_call>`` are data; ``</arg_value>`` ends it if a pair or ``</tool_call>``
follows (see tagged_guard.py).

Reasoning: ``\\n<think>…</think>\\n``, written by the model, or opened and closed by the prompt; a call ends it.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start
from ._shapes import pairs

register(
    Dialect(
        "glm45",
        openers=pairs(
            "tool_call",
            head="{name}\n",
            argument="<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
            framing=1,
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_open=(1, 0), trim_close=(0, 1)),
        start=Start("plain", turn="<|assistant|>"),
        aliases=("glm", "glm45_moe"),
        stops=("<|endoftext|>", "<|user|>", "<|observation|>"),
        between="\n",
        summary="GLM-4.5, GLM-4.5-Air, GLM-4.6",
        engines=Engines(vllm="glm45", sglang="glm glm45", lmdeploy="glm47"),
    )
)
