"""GigaChat 3.5: DeepSeek's DSML with ``GCML`` in its tags.

Models: GigaChat3.5-432B-A28B.
Source: the chat template of the model, and SGLang's parser of that name. Canonical spelling::

    <｜GCML｜tool_calls>
    <｜GCML｜invoke name="get_weather">
    <｜GCML｜parameter name="city" string="true">Rome</｜GCML｜parameter>
    </｜GCML｜invoke>
    </｜GCML｜tool_calls>

Everything is as in deepseek_dsml.py (V4), but a call without arguments has no empty line.

Reasoning: ``…</think>\\n\\n``, opened by the prompt with ``reasoning=true``; a call ends it.
"""

from dataclasses import replace

from ..registry import register
from ..spec import Engines, Reasoning, Start
from .deepseek_dsml import dsml

DSML = dsml(
    "gigachat35",
    ("tool_calls",),
    "",
    aliases=("gigachat3.5",),
    summary="GigaChat 3.5",
    engines=Engines(sglang="gigachat35"),
    mark="｜GCML｜",
)

register(
    replace(
        DSML,
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_close=(0, 2)),
        start=Start("plain", kwargs=("reasoning",), turn="assistant<|role_sep|>\n"),
        stops=("<|message_sep|>", "</s>"),
    )
)
