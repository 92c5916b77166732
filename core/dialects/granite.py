"""Granite 3: ``<|tool_call|>`` and a JSON list of calls, without a closer.

Models: Granite 3.0 to 3.3 Instruct.
Source: the chat templates of these models, which ask for the marker "followed by a JSON list of tools used". One blank
may stand between them. The list ends with its bracket; what follows is content. ``<tool_call>``, as ordinary text, is
written too, and a marker without a list behind it is text.

Reasoning, with ``thinking=true``: 3.2 writes sentences, "Here is my thought process:" and "Here is my response:" (or
"Here's my …"), 3.3 ``<think>…</think><response>…</response>``. A call inside it stays reasoning. The blanks round the
sentences are text.
"""

from ..registry import register
from ..spec import Answer, Call, CallBlock, Dialect, Engines, Envelope, Reasoning, Start, on

BLOCK = CallBlock(Envelope(shape="array"))

register(
    Dialect(
        "granite",
        openers=(on(Call(BLOCK), "<|tool_call|>"), on(Call(BLOCK), "<tool_call>", plain=True)),
        reasoning=Reasoning(
            "<think>",
            "</think>",
            calls="keep",
            also=(
                Reasoning("Here is my thought process:", "Here is my response:"),
                Reasoning("Here's my thought process:", "Here's my response:"),
            ),
        ),
        answer=Answer("<response>", "</response>", trim_open=(2, 0)),
        start=Start("plain", turn="<|start_of_role|>assistant<|end_of_role|>"),
        aliases=("granite3",),
        stops=("<|end_of_text|>",),
        keep_special=True,
        summary="Granite 3.0 to 3.3",
        engines=Engines(vllm="granite"),
    )
)
