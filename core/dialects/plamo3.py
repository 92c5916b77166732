"""PLaMo 3: a section of requests, each a name and JSON between tags of their own.

Models: the PLaMo 3 chat models of Preferred Networks.
Source: vLLM's parser and structural tag for them, which their authors wrote; the chat template of plamo-3-nict-2b-base
for the turns. Without any blanks, ``[x]`` for ``<|plamo:x:plamo|>``::

    [begin_tool_requests][begin_tool_request][begin_tool_name]add[end_tool_name][begin_tool_arguments]
    <|plamo:constrain|>json<|plamo:msg|>{"a": 1}[end_tool_arguments][end_tool_request][end_tool_requests]

(one line). Arguments that are not there are ``{}``; the words in front of them may be missing. ``<|plamo:tag|>`` ends a
turn and is not shown.

A tag is several tokens (``<|plamo:begin_``, a word, ``:plamo|>``), so no tokenizer has it as one.

Reasoning: ``[begin_think]…[end_think]`` without newlines; a call inside it ends it, and so does the end of the turn.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Goto, Named, Pop, Push, Reasoning, Region, Sink, Skip, Start, on


def begin(tag: str) -> str:
    return f"<|plamo:begin_{tag}:plamo|>"


def end(tag: str) -> str:
    return f"<|plamo:end_{tag}:plamo|>"


JSON = "<|plamo:constrain|>json<|plamo:msg|>"
NAME = begin("tool_name") + "{name}" + end("tool_name")
CALL = CallBlock(
    Named(NAME + begin("tool_arguments") + JSON, optional=(JSON,)),
    close=(end("tool_arguments") + end("tool_request"), end("tool_arguments"), end("tool_request")),
    until=(end("tool_requests"), begin("tool_request")),
)

register(
    Dialect(
        "plamo3",
        openers=(on(Push("requests"), begin("tool_requests")), on(Goto("plain"), "<|plamo:tag|>")),
        reasoning=Reasoning(begin("think"), end("think"), calls="end"),
        regions=(
            Region(
                "requests",
                Sink.SECTION,
                (
                    on(Call(CALL), begin("tool_request")),
                    on(Pop(), end("tool_requests")),
                    on(Skip(), end("tool_request")),
                ),
                repeat=True,
            ),
        ),
        start=Start("plain", kwargs=("enable_thinking",), turn="assistant<|plamo:msg|>"),
        stops=("<|plamo:tag|>",),
        summary="PLaMo 3",
        engines=Engines(vllm="plamo3"),
    )
)
