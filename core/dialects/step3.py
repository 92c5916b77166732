"""Step-3: a section of calls between control tokens, each an ``<steptml:invoke>`` element.

Models: Step3, Step3-FP8.
Source: vLLM's and SGLang's parsers of that name, whose authors made the model. Canonical spelling::

    <｜tool_calls_begin｜>
    <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">
    <steptml:parameter name="city">Rome</steptml:parameter>
    </steptml:invoke><｜tool_call_end｜>
    <｜tool_calls_end｜>

The bars are U+FF5C. A call of another type than ``function`` is none. A value is verbatim; one that stands on lines of
its own loses the newline on each side. ``</steptml:parameter>`` ends a value by what follows it (see tagged_guard.py).

Reasoning: ``…\\n</think>``, opened by the prompt (``<think>\\n``).
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Pop, Push, Reasoning, Region, Sink, Start, Tagged, on

CALL = CallBlock(
    Tagged(
        head='function<｜tool_sep｜><steptml:invoke name="{name}">\n',
        argument='<steptml:parameter name="{key}">{value}</steptml:parameter>\n',
        tail="</steptml:invoke>",
        around=("<｜tool_call_begin｜>", "<｜tool_call_end｜>", "<｜tool_calls_end｜>"),
        padded=True,
    ),
    close=("<｜tool_call_end｜>",),
)

register(
    Dialect(
        "step3",
        openers=(on(Push("section"), "<｜tool_calls_begin｜>", trim=(1, 0)),),
        reasoning=Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 1)),
        regions=(
            Region(
                "section",
                Sink.SECTION,
                (on(Call(CALL), "<｜tool_call_begin｜>"), on(Pop(), "<｜tool_calls_end｜>")),
                between="\n",
                pad=("\n", "\n"),
                repeat=True,
            ),
        ),
        start=Start("reasoning", turn="<|BOT|>assistant\n"),
        stops=("<|EOT|>",),
        keep_special=True,
        summary="Step3",
        engines=Engines(vllm="step3", sglang="step3"),
    )
)
