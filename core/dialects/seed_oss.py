"""Seed-OSS: the Qwen XML in ``<seed:tool_call>``, with values in line.

Models: Seed-OSS-36B-Instruct.
Source: the chat template of the model. Canonical spelling::

    <seed:tool_call>
    <function=get_weather>
    <parameter=city>Rome</parameter>
    </function>
    </seed:tool_call>

A value is verbatim; one that stands on lines of its own, which the template never writes, loses the newline on each
side. All but strings is as Python prints it (``True``, ``{'a': 1}``). Closers inside values are as in qwen3_coder.py.

Reasoning: ``<seed:think>…</seed:think>\\n``, written by the model; the prompt opens it where the thinking budget is 0.
``<seed:cot_budget_reflect>`` tags stand inside it; their text is reasoning. A call ends it.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start, Tagged
from ._shapes import wrapped

FUNCTION = Tagged(
    head="<function={name}>\n",
    argument="<parameter={key}>{value}</parameter>\n",
    tail="</function>\n",
    around=("<seed:tool_call>", "</seed:tool_call>"),
    padded=True,
)

OPENERS, REGIONS = wrapped(FUNCTION, framing=2, pad=("\n", ""))

register(
    Dialect(
        "seed_oss",
        openers=OPENERS,
        reasoning=Reasoning(
            "<seed:think>",
            "</seed:think>",
            calls="end",
            trim_close=(0, 1),
            skip=("<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"),
        ),
        regions=REGIONS,
        start=Start("plain", turn="<seed:bos>assistant\n"),
        stops=("<seed:eos>",),
        between="\n",
        summary="Seed-OSS-36B",
        engines=Engines(vllm="seed_oss"),
    )
)
