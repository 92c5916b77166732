"""K2-Horizon: a section of calls, each a name and ``<ifm|arg_key>``, ``<ifm|arg_value>`` pairs, or JSON.

Models: IFM K2-Horizon 0.9B to 375B-A23B, MoVA-36B-A4B.
Source: the chat template of these models. Canonical spelling::

    <ifm|tool_calls>
    <ifm|tool_call>get_weather
    <ifm|arg_key>city</ifm|arg_key>
    <ifm|arg_value>Rome</ifm|arg_value>
    </ifm|tool_call>
    </ifm|tool_calls>

The template argument ``tool_call_format`` knows two more: ``xml_typed`` adds ``<ifm|arg_type>string</ifm|arg_type>``
behind the key, ``json`` puts ``{"name": …, "arguments": …}`` into the call. Small models mix them, so all are read, as
is a call outside the section. A string is verbatim; all else is JSON. The schema tells, and the type where one is
written; a type ``string`` is text unless the schema takes none.

Reasoning: ``…</ifm|think>\\n``, always opened by the prompt; ``reasoning_effort`` makes it ``think``, ``think_fast`` or
``think_faster``. A call ends it.
"""

from ..registry import register
from ..spec import (
    Call,
    CallBlock,
    Dialect,
    Engines,
    Envelope,
    FirstChar,
    Pop,
    Push,
    Reasoning,
    Region,
    Sink,
    Skip,
    Start,
    Tagged,
    on,
)

KEY = "<ifm|arg_key>{key}</ifm|arg_key>\n"
VALUE = "<ifm|arg_value>{value}</ifm|arg_value>\n"
PAIRS = Tagged(
    head="{name}\n",
    argument=KEY + VALUE,
    tail="",
    around=("<ifm|tool_call>", "</ifm|tool_call>", "</ifm|tool_calls>"),
    reads=KEY + "<ifm|arg_type>{type}</ifm|arg_type>\n" + VALUE,
    optional=("<ifm|arg_type>", "</ifm|arg_type>"),
    words=(("string", "string"),),
)
CALL = on(
    Call(CallBlock(FirstChar((("{", Envelope()), ("[", Envelope())), PAIRS), close=("</ifm|tool_call>",))),
    "<ifm|tool_call>",
)


def think(word: str, also: tuple[Reasoning, ...] = ()) -> Reasoning:
    """The reasoning of one effort."""
    return Reasoning(
        f"<ifm|{word}>", f"</ifm|{word}>", calls="end", trim_open=(0, 1), trim_close=(1, 1), also=also
    )


register(
    Dialect(
        "k2_horizon",
        openers=(
            on(Push("section"), "<ifm|tool_calls>", trim=(1, 0)),
            CALL,
            on(Skip(), "</ifm|tool_calls>", at="after_call"),
        ),
        reasoning=think("think", (think("think_fast"), think("think_faster"))),
        regions=(
            Region(
                "section",
                Sink.SECTION,
                (CALL, on(Pop(), "</ifm|tool_calls>")),
                between="\n",
                pad=("\n", "\n"),
                repeat=True,
            ),
        ),
        start=Start("reasoning", kwargs=("reasoning_effort",), turn="<|ifm|im_start|>assistant\n"),
        aliases=("k2_v3",),
        stops=("<|ifm|im_end|>",),
        keep_special=True,
        summary="K2-Horizon",
        engines=Engines(vllm="k2_horizon", sglang="k2_horizon"),
    )
)
