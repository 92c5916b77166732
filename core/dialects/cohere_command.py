"""Cohere Command: calls that number themselves, in a JSON list or in elements; answers and citations in tags.

Models: Command R7B 12-2024, Command A 03-2025, Command A Reasoning (cmd3), Command A Plus, North (cmd4).
Source: the chat templates of these models, which Cohere keeps in cohere-ai/melody. Canonical spelling::

    <|START_THINKING|>…<|END_THINKING|><|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}},
        {"tool_call_id": "1", "tool_name": "ping", "parameters": {}}
    ]<|END_ACTION|>

and of cofl, without any blanks::

    <cofl:tool_calls><cofl:tool_call id="0" name="add"><cofl:tool_param name="a" string="false">1</cofl:tool_param>
    </cofl:tool_call></cofl:tool_calls>

(one line; cofl is what the cmd5 template writes, and no public model follows it yet). The number is the call's id and
counts the calls of the whole conversation. Also read: one object without the list, a code fence around it. In cofl
``string="true"`` is text and ``"false"`` JSON; ``<``, ``>`` and ``&`` are written as in XML. The template has a sibling
with nested ``<cofl:value>`` elements, and one that escapes nothing; they are not read.

An answer stands between ``<|START_RESPONSE|>`` and ``<|END_RESPONSE|>``, from cmd4 on ``<|START_TEXT|>`` and
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
    Edge,
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
    Tagged,
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
ELEMENT = CallBlock(
    Tagged(
        head='<cofl:tool_call id="{id}" name="{name}">',
        argument='<cofl:tool_param name="{key}" string="{type}">{value}</cofl:tool_param>',
        tail="</cofl:tool_call>",
        around=("<cofl:tool_calls>", "</cofl:tool_calls>"),
        optional=('" string="',),
        words=(("string", "true"), ("", "false")),
        entities=True,
        xml=True,
    ),
    ids="{index}",
)
ELEMENTS = Region(
    "calls",
    Sink.SECTION,
    (on(Call(ELEMENT), "<cofl:tool_call id=", consume=False), on(Pop(), "</cofl:tool_calls>")),
    repeat=True,
)


def command(
    name: str, *openers: Edge, section: tuple[Region, ...], aliases: tuple[str, ...], summary: str, engines: Engines
) -> Dialect:
    return Dialect(
        name,
        openers=(
            *openers,
            on(Goto("plain"), "<|START_RESPONSE|>", "<|START_TEXT|>", trim=(1, 0)),
            on(Goto("plain"), "<|END_RESPONSE|>", "<|END_TEXT|>"),
            on(Skip(), "<co>", plain=True),
            on(Push("sources"), "</co: ", plain=True),
        ),
        reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>", calls="end"),
        regions=(*section, Region("sources", Sink.SECTION, (on(Pop(), "]>"),), noise=64)),
        start=Start("plain", kwargs=("reasoning",), turn="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"),
        aliases=aliases,
        stops=("<|END_OF_TURN_TOKEN|>",),
        keep_special=not section,
        summary=summary,
        engines=engines,
    )


register(
    command(
        "cohere_command",
        on(Call(ACTION), "<|START_ACTION|>", "<|START_ACTION|>```json"),
        on(Skip(), "<|END_ACTION|>", at="after_call"),
        section=(),
        aliases=("cohere_command3", "cohere_command4", "cohere"),
        summary="Command R7B, Command A, Command A Reasoning, Command A Plus, North",
        engines=Engines(vllm="cohere_command3 cohere_command4", sglang="cohere_command4"),
    )
)
register(
    command(
        "cofl",
        on(Push("calls"), "<cofl:tool_calls>"),
        on(Skip(), "</cofl:tool_calls>", at="after_call"),
        section=(ELEMENTS,),
        aliases=("cohere_command5",),
        summary="Cohere's cmd5 template",
        engines=Engines(),
    )
)
