"""Qwen XML: ``<function=…><parameter=…>`` inside ``<tool_call>``.

Models: Qwen3-Coder, Qwen3-Coder-Next, Qwen3.5, 3.6, 3.8; close variants (Step-3.5, Nemotron 3, Nanbeige).
Source: the chat templates of these models. Canonical spelling::

    <tool_call>
    <function=get_weather>
    <parameter=city>
    Rome
    </parameter>
    </function>
    </tool_call>

Values are typed by the tool's schema only; no entities, no escapes. Exactly one newline on each side of a value is
markup. A closer inside a value counts only by what follows it (see tagged_guard.py).

Models often forget ``<tool_call>``: a bare ``<function=NAME>`` is a call if a parameter or ``</function>`` follows.

Reasoning: ``<think>\\n…\\n</think>\\n\\n``, opened by the prompt of Qwen3.5 and later; Qwen3-Coder has none.
"""

from ..registry import register
from ..spec import Dialect, Engines, Reasoning, Start, Tagged
from ._shapes import wrapped

FUNCTION = Tagged(
    head="<function={name}>\n",
    argument="<parameter={key}>\n{value}\n</parameter>\n",
    tail="</function>\n",
    around=("<tool_call>", "</tool_call>"),
)

OPENERS, REGIONS = wrapped(FUNCTION, framing=2, pad=("\n", ""))

register(
    Dialect(
        "qwen3_coder",
        openers=OPENERS,
        reasoning=Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 2)),
        regions=REGIONS,
        start=Start("plain", kwargs=("enable_thinking",), turn="<|im_start|>assistant\n"),
        aliases=("qwen3_xml", "qwen3coder", "qwen_xml", "qwen_coder", "nanbeige", "interns2-preview"),
        stops=("<|im_end|>", "<|endoftext|>"),
        between="\n",
        summary="Qwen3-Coder, Qwen3.5, Qwen3.6, Qwen3.8",
        engines=Engines(
            vllm="qwen3_coder qwen3_xml", sglang="qwen3_coder nanbeige", lmdeploy="qwen3coder interns2-preview"
        ),
    )
)
