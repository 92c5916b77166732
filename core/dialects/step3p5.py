"""Step-3.5: the Qwen XML, by models that always reason first.

Models: Step-3.5-Flash, Step-3.7-Flash, Step-5.
Source: the chat template of Step-3.7-Flash. A call is spelled as in qwen3_coder.py; nothing stands between content and
the first ``<tool_call>``, nor between two blocks (models write a newline there now and then). Lists and objects are
JSON, all else is as Python prints it (``True``). A bare ``<function=NAME>`` is a call if a parameter or ``</function>``
follows.

Reasoning: ``…\\n</think>\\n``, opened by the prompt (``<think>\\n``), with no way to switch it off.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start
from ._shapes import wrapped
from .qwen3_coder import FUNCTION

OPENERS, REGIONS = wrapped(FUNCTION, framing=0, pad=("\n", ""))

register(
    Dialect(
        "step3p5",
        openers=OPENERS,
        reasoning=Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 1)),
        regions=REGIONS,
        start=Start("reasoning", turn="<|im_start|>assistant\n"),
        aliases=("step5",),
        stops=("<|im_end|>",),
        summary="Step-3.5-Flash, Step-3.7-Flash, Step-5",
        engines=Engines(vllm="step3p5", sglang="step3p5"),
    )
)
