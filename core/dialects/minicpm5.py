"""MiniCPM5: ``<function name="…">`` elements with ``<param name="…">``, values as XML text.

Models: MiniCPM5-1B, MiniCPM5-2B.
Source: the chat template of these models. Canonical spelling::

    <function name="get_weather"><param name="city">Rome</param></function>

A value with markup characters or newlines is a CDATA section, in which everything up to ``]]>`` is data; elsewhere
``&lt;`` and the like are decoded. A value on lines of its own loses the newline on each side; only the schema tells
strings from JSON. Also read: other quotes around names, a JSON object in place of the arguments, all in
``<arguments>``, and all arguments in one named ``arguments`` or ``properties``. ``<function name=`` may be ordinary
text: a call is what goes on with an argument or ``</function>``.

Reasoning: ``<think>\\n…\\n</think>\\n\\n``, written by the model or opened by the prompt.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Reasoning, Start, Tagged, on

FUNCTION = Tagged(
    head='<function name="{name}">',
    argument='<param name="{key}">{value}</param>',
    tail="</function>",
    padded=True,
    empty="/>",
    body=("<arguments>", "</arguments>"),
    wrappers=("arguments", "properties"),
    xml=True,
)

register(
    Dialect(
        "minicpm5",
        openers=(
            on(Call(CallBlock(FUNCTION, confirm=True)), "<function name=", consume=False, trim=(1, 0)),
        ),
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_open=(0, 1), trim_close=(1, 2)),
        start=Start("plain", kwargs=("enable_thinking",), turn="<|im_start|>assistant\n"),
        aliases=("minicpm",),
        stops=("<|im_end|>",),
        keep_special=True,
        between="\n",
        summary="MiniCPM5",
        engines=Engines(vllm="minicpm5", sglang="minicpm5"),
    )
)
