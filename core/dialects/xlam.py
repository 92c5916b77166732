"""xLAM: the whole answer is a JSON list of calls.

Models: Llama-xLAM-2-8b-fc-r and -70b-fc-r, xLAM-2-1b/3b/32b-fc-r, the older xLAM-7b-fc-r.
Source: vLLM's chat templates for these models. Canonical spelling::

    [{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "ping", "arguments": {}}]

``[`` and a Markdown fence open calls only at the start of the response; ``[TOOL_CALLS]`` and ``<tool_call>`` in front
of the list, anywhere. All of them are ordinary text, and an answer may be JSON: a call is what has both a name and
arguments, and what is cut before that is text. An empty list, which the templates write for no call, is text too.

Reasoning: ``<think>…</think>``, by some fine-tunes. A ``</think>`` that nothing opened is text.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Reasoning, Start, on

LIST = CallBlock(Envelope(shape="array"), confirm=True)
FENCED = CallBlock(Envelope(shape="array"), close=("```",), confirm=True)
TAGGED = CallBlock(Envelope(shape="array"), close=("</tool_call>",), confirm=True)

register(
    Dialect(
        "xlam",
        openers=(
            on(Call(LIST), "[", at="start", consume=False),
            on(Call(FENCED), "```json", "```", at="start", plain=True),
            on(Call(LIST), "[TOOL_CALLS]", plain=True),
            on(Call(TAGGED), "<tool_call>", plain=True),
        ),
        reasoning=Reasoning("<think>", "</think>"),
        start=Start("plain", turn="<|im_start|>assistant\n"),
        stops=("<|eot_id|>", "<|im_end|>"),
        summary="xLAM 2",
        engines=Engines(vllm="xlam"),
    )
)
