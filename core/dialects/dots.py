"""dots3: ``<invoke>`` and ``<parameter>`` elements inside ``<dots_function_call>``.

Models: rednote dots3-note-prev and related.
Source: vLLM's and SGLang's parsers of that name, whose authors made the model. Canonical spelling::

    <dots_function_call>
    <invoke name="get_weather">
    <parameter name="city">Rome</parameter>
    </invoke>
    </dots_function_call>

Values and closers are as in minimax_m2.py: a value on lines of its own loses the newline on each side. Also read, as
the model writes it now and then: JSON with name and arguments inside the block, the opener twice, a bare ``<invoke``,
other quotes around names or none. ``null`` is a string where the schema takes nothing else.

Reasoning: ``<think>\\n…\\n</think>\\n\\n``, written by the model or opened by the prompt; a call ends it.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Reasoning, Skip, Start, Tagged, on
from ._shapes import wrapped

INVOKE = Tagged(
    head='<invoke name="{name}">\n',
    argument='<parameter name="{key}">{value}</parameter>\n',
    tail="</invoke>",
    around=("<dots_function_call>", "</dots_function_call>"),
    padded=True,
)

OPENERS, REGIONS = wrapped(
    INVOKE,
    framing=1,
    between="\n",
    pad=("\n", "\n"),
    repeat=True,
    also=(on(Call(CallBlock(Envelope())), "{", consume=False), on(Skip(), "<dots_function_call>")),
)

register(
    Dialect(
        "dots",
        openers=OPENERS,
        reasoning=Reasoning("<think>", "</think>", calls="end", trim_open=(0, 1), trim_close=(1, 2)),
        regions=REGIONS,
        start=Start("plain", kwargs=("enable_thinking",), turn="<|response|>"),
        aliases=("dots3",),
        stops=("<|endofresponse|>",),
        summary="dots3-note",
        engines=Engines(vllm="dots", sglang="dots"),
    )
)
