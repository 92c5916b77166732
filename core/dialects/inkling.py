"""Inkling: messages of typed blocks, a JSON object in each block that calls a tool.

Models: Inkling, Inkling-Small.
Source: the encoder of these models in vLLM and its parser. The prompt ends with ``<|message_model|>``, so a completion
begins with what kind of block it is; a block that calls a tool has the tool's name in front of that::

    <|content_thinking|>…<|end_message|><|message_model|>get_weather<|content_invoke_tool_json|>
    {"name":"get_weather","args":{"city":"Oslo"}}<|end_message|><|content_model_end_sampling|>

(one line). A thinking block is reasoning, a text block content, and so is the text of a tool without JSON and a tool's
error. The name that counts is the one inside the JSON. A block that lacks its end is ended by the next one.

All markers are control tokens; where the engine says which spans are, only those count.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Goto, Messages, Region, Route, Sink, Skip, Start, on

NEXT, END, STOP = "<|message_model|>", "<|end_message|>", "<|content_model_end_sampling|>"
THINKING, JSON = "<|content_thinking|>", "<|content_invoke_tool_json|>"
TEXT, TOOL_TEXT, TOOL_ERROR = "<|content_text|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>"

CALL = CallBlock(
    Envelope(arguments=("args", "arguments", "parameters"), canonical='{"name":"{name}","args":{arguments}}'),
    close=(END, STOP),
)
CALLS = Call(CALL, then="plain")

HEADER = (
    on(Route(lambda name: Goto("reasoning")), THINKING, control=True),
    on(Route(lambda name: Goto("plain")), TEXT, TOOL_TEXT, control=True),
    on(Route(lambda name: Goto("plain")), TOOL_ERROR),
    on(Route(lambda name: CALLS), JSON, control=True),
    on(Goto("header"), NEXT, control=True),
    on(Goto("plain"), END, STOP, control=True),
)
OPENERS = (
    on(CALLS, JSON, control=True),
    on(Goto("header"), NEXT, control=True),
    on(Goto("plain"), TEXT, TOOL_TEXT, control=True),
    on(Goto("plain"), TOOL_ERROR),
)

register(
    Dialect(
        "inkling",
        regions=(
            Region("header", Sink.HEADER, HEADER),
            Region(
                "reasoning",
                Sink.REASONING,
                (*OPENERS, on(Skip(), THINKING, control=True), on(Goto("plain"), END, STOP, control=True)),
            ),
            Region(
                "plain",
                Sink.CONTENT,
                (*OPENERS, on(Goto("reasoning"), THINKING, control=True), on(Skip(), END, STOP, control=True)),
            ),
        ),
        start=Start("header", turn=NEXT),
        stops=(STOP,),
        keep_special=True,
        summary="Inkling, Inkling-Small",
        engines=Engines(vllm="inkling", sglang="inkling"),
        messages=Messages(
            call="{name}" + JSON,
            block=CallBlock(CALL.payload, close=(END,)),
            content=TEXT,
            reasoning=THINKING,
            turn=END + NEXT,
            several=True,
        ),
    )
)
