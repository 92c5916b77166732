"""LongCat: ``<longcat_tool_call>`` with a name and key and value pairs, or with JSON.

Models: LongCat-Flash-Chat, LongCat-Flash-Thinking, Flash-Lite, Thinking-2601, LongCat-2.0, LongCat-Next.
Source: the model cards, and reports of what the models write. Form B, of the later models, is canonical::

    <longcat_tool_call>get_weather
    <longcat_arg_key>city</longcat_arg_key>
    <longcat_arg_value>Rome</longcat_arg_value>
    </longcat_tool_call>

Form A, of Flash-Chat, has ``{"name": "get_weather", "arguments": {"city": "Rome"}}`` inside, as in hermes.py. Each
block is read by its first character. In form B a string is verbatim, all else is JSON by the schema (see glm45.py);
newlines between the tags are optional, ``</longcat_arg_key>`` may be missing, and all arguments may stand in one
``<longcat_arg_key>`` as a JSON object.

Reasoning: ``<longcat_think>\\n…\\n</longcat_think>\\n``, opened by the prompt where thinking is on.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, FirstChar, Reasoning, Skip, Start, Tagged, on

PAIRS = Tagged(
    head="{name}\n",
    argument="<longcat_arg_key>{key}</longcat_arg_key>\n<longcat_arg_value>{value}</longcat_arg_value>\n",
    tail="",
    around=("<longcat_tool_call>", "</longcat_tool_call>"),
    optional=("</longcat_arg_key>",),
    body=("<longcat_arg_key>{", "</longcat_arg_key>"),
)
BLOCK = CallBlock(FirstChar((("{", Envelope()),), PAIRS), close=("</longcat_tool_call>",))

register(
    Dialect(
        "longcat",
        openers=(
            on(Call(BLOCK), "<longcat_tool_call>", trim=(1, 0)),
            on(Skip(), "</longcat_tool_call>", at="after_call"),
        ),
        reasoning=Reasoning("<longcat_think>", "</longcat_think>", trim_open=(0, 1), trim_close=(1, 1)),
        start=Start("plain", kwargs=("enable_thinking",), turn="<longcat_assistant>"),
        stops=("</longcat_s>",),
        keep_special=True,
        between="\n",
        summary="LongCat-Flash, LongCat-2.0",
        engines=Engines(vllm="longcat"),
    )
)
