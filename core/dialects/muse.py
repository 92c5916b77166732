"""Muse (ATEM): messages with a recipient; one to a tool holds ``<atem:invoke>`` elements.

Models: Muse Spark, Muse-Glimmer-30B.
Source: the chat template of Muse-Glimmer in vLLM's examples, and vLLM's parsers. The prompt ends with
``<|start|>assistant``, so a completion begins in the middle of a header. Canonical spelling::

     to=self<|message|>…<|eom|><|start|>assistant to=get_weather<|message|><atem:function_calls>
    <atem:invoke name="get_weather">
    <atem:parameter name="city">Oslo</atem:parameter>
    </atem:invoke>
    </atem:function_calls><|eom|><|start|>assistant to=ping<|message|>…<|eot|>

(the first and the last line are one with what follows). A message to ``self`` is reasoning, one to ``user``,
``commentary`` or nobody content, one to ``developer`` dropped and counted. Elements count in a message to a tool only;
the name is theirs, and other text in such a message is content.

Values are typed by the schema and verbatim: nothing is escaped, no blank is markup. ``</atem:parameter>`` ends a value
by what follows it (see tagged_guard.py). The template announces a tool ``f`` as ``f.*``, and so the model calls it
``f.f`` now and then (see calls.py).

The model leaves ``<|eom|>`` out at the end of its reasoning now and then: a call or an answer ends it as well.
The framing is made of control tokens; the tags are ordinary text.
"""

from ..registry import register
from ..spec import (
    Call,
    CallBlock,
    Dialect,
    Engines,
    Goto,
    Messages,
    Pop,
    Push,
    Region,
    Route,
    Sink,
    Skip,
    Start,
    Tagged,
    on,
)

START, BODY = "<|start|>assistant", "<|message|>"
ENDS = ("<|eom|>", "<|eot|>")
OPEN, CLOSE, INVOKE = "<atem:function_calls>", "</atem:function_calls>", '<atem:invoke name="{name}">\n'


def invoke(head: str = "") -> Tagged:
    """An element, behind what stands in front of it."""
    return Tagged(
        head=head + INVOKE,
        argument='<atem:parameter name="{key}">{value}</atem:parameter>\n',
        tail="</atem:invoke>\n",
        around=(OPEN, CLOSE),
    )


# A message to a tool behind reasoning that was not ended.
MESSAGE = CallBlock(invoke("{id}" + BODY + OPEN + "\n"), close=(CLOSE,))


def route(header: str) -> Goto:
    """Where the message behind this header goes."""
    recipient = header.rpartition("to=")[2].strip()
    regions = {"self": "reasoning", "developer": "dropped", "user": "plain", "commentary": "plain", "": "plain"}
    return Goto(regions.get(recipient, "tool"))


NEXT = on(Goto("header"), START, control=True)
END = on(Goto("plain"), *ENDS, control=True)

register(
    Dialect(
        "muse",
        regions=(
            Region(
                "header",
                Sink.HEADER,
                (on(Route(route), BODY, control=True), NEXT, END),
                opens=(" to=", "to=", BODY),
            ),
            Region(
                "reasoning",
                Sink.REASONING,
                (
                    NEXT,
                    END,
                    on(Goto("plain"), " to=user" + BODY),
                    on(Call(MESSAGE, then="tool"), " to=", plain=True),
                ),
            ),
            Region("plain", Sink.CONTENT, (NEXT, on(Skip(), *ENDS, control=True))),
            Region(
                "tool",
                Sink.CONTENT,
                (
                    on(Push("calls"), OPEN),
                    on(Call(CallBlock(invoke(), confirm=True)), "<atem:invoke name=", consume=False),
                    on(Skip(), CLOSE, at="after_call"),
                    NEXT,
                    END,
                ),
            ),
            Region("dropped", Sink.DROPPED, (NEXT, END)),
            Region(
                "calls",
                Sink.SECTION,
                (on(Call(CallBlock(invoke())), "<atem:invoke name=", consume=False), on(Pop(), CLOSE)),
                repeat=True,
            ),
        ),
        start=Start("header", turn=START),
        aliases=("muse_glimmer", "musespark1x"),
        stops=("<|eot|>",),
        keep_special=True,
        summary="Muse Spark, Muse-Glimmer-30B",
        engines=Engines(vllm="muse muse_glimmer musespark1x", sglang="muse"),
        messages=Messages(
            call=" to={name}" + BODY + OPEN + "\n",
            block=CallBlock(invoke(), close=(CLOSE,)),
            content=" to=user" + BODY,
            reasoning=" to=self" + BODY,
            turn="<|eom|>" + START,
            several=True,
        ),
    )
)
