"""Cohere Command: ``<|START_ACTION|>``, a JSON list of calls that number themselves, ``<|END_ACTION|>``.

Models: Command R7B 12-2024, Command A 03-2025, Command A Reasoning (cmd3); Command A Plus, North (cmd4).
Source: the chat templates of these models, which Cohere keeps in cohere-ai/melody. Canonical spelling::

    <|START_THINKING|>…<|END_THINKING|><|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}},
        {"tool_call_id": "1", "tool_name": "ping", "parameters": {}}
    ]<|END_ACTION|>

The number is the call's id and counts the calls of the whole conversation. Also read: one object without the list, a
code fence around it.

An answer stands between ``<|START_RESPONSE|>`` and ``<|END_RESPONSE|>``, in cmd4 ``<|START_TEXT|>`` and
``<|END_TEXT|>``; these four are not shown, nor are a citation's tags: of ``<co>5°</co: 0:[1,2]>`` the span stays. Its
sources are counted as noise.

Reasoning is opened by the prompt, or by the model itself; a call or an answer inside it ends it. With
``reasoning=false`` the prompt holds an empty block.
"""

from typing import Literal

from ..registry import register
from ..spec import (
    Call,
    CallBlock,
    Dialect,
    Engines,
    Envelope,
    FirstChar,
    Goto,
    Pop,
    Push,
    Reasoning,
    Region,
    Sink,
    Skip,
    Start,
    on,
)


def calls(shape: Literal["object", "array"]) -> Envelope:
    return Envelope(
        name="tool_name",
        arguments=("parameters",),
        id="tool_call_id",
        shape=shape,
        canonical='{"tool_call_id": "{index}", "tool_name": "{name}", "parameters": {arguments}}',
        brackets=("[\n    ", "\n]"),
        between=",\n    ",
    )


ACTION = CallBlock(
    FirstChar((("{", calls("object")),), calls("array")),
    close=("<|END_ACTION|>", "```<|END_ACTION|>"),
    ids="{index}",
)

register(
    Dialect(
        "cohere_command",
        openers=(
            on(Call(ACTION), "<|START_ACTION|>", "<|START_ACTION|>```json"),
            on(Skip(), "<|END_ACTION|>", at="after_call"),
            on(Goto("plain"), "<|START_RESPONSE|>", "<|START_TEXT|>", trim=(1, 0)),
            on(Goto("plain"), "<|END_RESPONSE|>", "<|END_TEXT|>"),
            on(Skip(), "<co>", plain=True),
            on(Push("sources"), "</co: ", plain=True),
        ),
        reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>", calls="end"),
        regions=(Region("sources", Sink.SECTION, (on(Pop(), "]>"),), noise=64),),
        start=Start("plain", kwargs=("reasoning",), turn="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"),
        aliases=("cohere_command3", "cohere_command4", "cohere"),
        stops=("<|END_OF_TURN_TOKEN|>",),
        keep_special=True,
        summary="Command R7B, Command A, Command A Reasoning, Command A Plus, North",
        engines=Engines(vllm="cohere_command3 cohere_command4", sglang="cohere_command4"),
    )
)
