"""gpt-oss (Harmony): messages with a header that says which channel they are in and whom they are for.

Models: gpt-oss-20b, gpt-oss-120b, gpt-oss-safeguard.
Source: OpenAI's Harmony response format. The prompt ends with ``<|start|>assistant``, so a completion begins in the
middle of a header::

    <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>commentary to=functions.f
    <|constrain|>json<|message|>{…}<|call|>

(one line). The recipient may also stand before the channel, and the content type may be missing. The analysis channel
is reasoning, every other one content; a message to ``functions.NAME`` is a call in any channel; one to another tool
(``python``, ``browser.…``) is no function call: dropped and counted.

Markers inside a body are ordinary tokens, so only control-token spans tell them apart; by text they are markers.
"""

from ..head import is_name
from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Goto, Messages, Named, Region, Route, Sink, Skip, Start, on

ENDS = ("<|end|>", "<|call|>", "<|return|>")
ARGUMENTS = CallBlock(Named(), close=ENDS)


def route(header: str) -> Goto | Call:
    """Where the message behind this header goes."""
    before, _, rest = header.rpartition("<|channel|>")
    channel = rest.replace("<|constrain|>", " ").split()
    recipient = ""
    for word in (before + " " + rest).replace("<|", " <|").split():
        if word.startswith("to="):
            recipient = word[3:]
    name = recipient.removeprefix("functions.")
    if name != recipient and is_name(name):
        return Call(ARGUMENTS, name=name, then="between")
    if recipient and recipient != "assistant":
        return Goto("builtin")
    return Goto("reasoning" if channel and channel[0] == "analysis" else "plain")


NEXT = on(Goto("header"), "<|start|>assistant", control=True)
END = on(Goto("between"), *ENDS, control=True)

register(
    Dialect(
        "gpt_oss",
        regions=(
            Region(
                "header",
                Sink.HEADER,
                (on(Route(route), "<|message|>", control=True), END),
                opens=("<|channel|>", " to=", "<|constrain|>", "<|message|>"),
            ),
            Region("reasoning", Sink.REASONING, (END,)),
            Region("plain", Sink.CONTENT, (END,)),
            Region("builtin", Sink.DROPPED, (END,)),
            Region("between", Sink.CONTENT, (NEXT, on(Skip(), *ENDS, control=True))),
        ),
        start=Start("header", turn="<|start|>assistant"),
        aliases=("harmony", "openai", "gpt-oss"),
        stops=("<|return|>", "<|call|>"),
        keep_special=True,
        summary="gpt-oss-20b, gpt-oss-120b",
        engines=Engines(vllm="openai", sglang="gpt-oss", lmdeploy="gpt-oss"),
        messages=Messages(
            call="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>",
            block=CallBlock(Named(), close=("<|call|>",)),
            content="<|channel|>final<|message|>",
            reasoning="<|channel|>analysis<|message|>",
            turn="<|end|><|start|>assistant",
        ),
    )
)
