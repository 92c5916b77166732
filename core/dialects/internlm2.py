"""InternLM 2: ``<|action_start|><|plugin|>`` JSON ``<|action_end|>``.

Models: InternLM2-chat, InternLM2.5-chat, Intern-S1 and S1-mini (InternS2-preview writes Qwen XML).
Source: InternLM's chat-format page and these models' chat templates. Canonical spelling, a block for each call::

    <|action_start|><|plugin|>
    {"name": "get_weather", "parameters": {"city": "Rome"}}<|action_end|>

A detokenizer that puts blanks between special tokens writes one between the two markers. ``arguments`` is read as
well. ``<|interpreter|>`` in place of ``<|plugin|>``, with a newline behind it, holds code: no function call, dropped
and counted.

Reasoning: ``<think>\\n…\\n</think>\\n\\n`` of Intern-S1, opened by the prompt or by the model.
"""

from ..registry import register
from ..spec import Builtin, Call, CallBlock, Dialect, Engines, Envelope, Push, Reasoning, Region, Sink, Skip, Start, on

CLOSE = ("<|action_end|>",)
PLUGIN = CallBlock(
    Envelope(
        arguments=("parameters", "arguments"),
        canonical='{"name": "{name}", "parameters": {arguments}}',
    ),
    close=CLOSE,
    pad=("\n", ""),
)

register(
    Dialect(
        "internlm2",
        openers=(
            on(Push("action"), "<|action_start|>"),
            on(Skip(), "<|action_end|>", at="after_call"),
        ),
        reasoning=Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 2)),
        regions=(
            Region(
                "action",
                Sink.SECTION,
                (
                    on(Call(PLUGIN), "<|plugin|>"),
                    on(Call(CallBlock(Builtin(), close=CLOSE)), "<|interpreter|>\n"),
                ),
            ),
        ),
        start=Start("plain", kwargs=("enable_thinking",), turn="<|im_start|>assistant\n"),
        aliases=("internlm", "intern-s1", "interns1"),
        stops=("<|im_end|>",),
        keep_special=True,
        summary="InternLM2, InternLM2.5, Intern-S1",
        engines=Engines(vllm="internlm", sglang="interns1", lmdeploy="internlm intern-s1"),
    )
)
