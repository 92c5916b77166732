"""Kimi K3 (XTML): a message of channels, each between ``<|open|>`` and ``<|close|>`` tags.

Models: Kimi-K3.
Source: the encoder that Moonshot ships with the weights (encoding_k3.py). Without any blanks::

    …<|close|>think<|sep|><|open|>response<|sep|>…<|close|>response<|sep|><|open|>tools<|sep|>
    <|open|>call tool="add" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>
    <|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>

(one line). The prompt has opened the think channel, or the response channel when thinking is off. The response channel
is content; its tags, and the message's closer, are never shown. The number of a call counts from 1 in each message and
is no id.

``type`` says what a value is: "string" is text as it is, the others are JSON; where the schema takes no strings it
decides over "string". Keys write ``&`` and ``"`` as ``&amp;`` and ``&quot;``, values nothing. A JSON object in a
``json`` element may stand in place of the arguments.

The tags' first and last words are control tokens, which the encoder never makes from text: where the engine says which
spans are, only those count. By text alone a tag inside a value counts by what follows it (see tagged_guard.py).

Reasoning ends at its closer, at any tag of the response channel, and at the tools channel: the model leaves the closer
out now and then. A response that it writes into the think channel is reasoning, as a stream has already said.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Goto, Pop, Push, Reasoning, Region, Sink, Start, Tagged, on


def opened(tag: str) -> str:
    return f"<|open|>{tag}<|sep|>"


def closed(tag: str) -> str:
    return f"<|close|>{tag}<|sep|>"


# The closer of the think channel without its end, directly in front of the next channel.
SHORT = "<|close|>think"
TYPES = ("string", "number", "boolean", "null", "object", "array")

CALL = Tagged(
    head=opened('call tool="{name}" index="{index}"'),
    argument=opened('argument key="{key}" type="{type}"') + "{value}" + closed("argument"),
    tail=closed("call"),
    around=(opened("tools"), closed("tools"), closed("message")),
    optional=('" index="', '" type="'),
    words=(("integer", "number"), *((name, name) for name in TYPES)),
    body=(opened('json type="object"'), opened("json"), closed("json")),
    entities=True,
    control=True,
)

register(
    Dialect(
        "kimi_k3",
        openers=(
            on(
                Push("tools"),
                closed("response") + opened("tools"),
                opened("tools"),
                SHORT + opened("tools"),
                control=True,
            ),
            on(
                Goto("plain"),
                opened("response"),
                closed("response"),
                SHORT + opened("response"),
                closed("message"),
                control=True,
            ),
        ),
        reasoning=Reasoning(opened("think"), closed("think"), calls="end", after=opened("response")),
        regions=(
            Region(
                "tools",
                Sink.SECTION,
                (
                    on(Call(CallBlock(CALL)), '<|open|>call tool="', consume=False, control=True),
                    on(Pop(), closed("tools"), control=True),
                ),
                repeat=True,
            ),
        ),
        start=Start("plain", kwargs=("thinking", "enable_thinking"), turn=opened('message role="assistant"')),
        aliases=("kimi-k3", "kimik3"),
        stops=("<|end_of_msg|>",),
        keep_special=True,
        summary="Kimi K3",
        engines=Engines(vllm="kimi_k3", sglang="kimi_k3"),
    )
)
