"""MiniMax M3: arguments as a tree of elements, the namespace token ``]<]minimax[>[`` before every tag.

Models: MiniMax-M3 (M2 and its successors write another format).
Source: the chat template of the model, whose macro writes an object as an element for each key, a list as ``item``
elements and all else as text. With ``@`` for the namespace token::

    @<tool_call>
    @<invoke name="book">@<title>x@</title>@<tags>@<item>a@</item>@</tags>@</invoke>
    @</tool_call>

Newlines between the tags are tolerated. Text is raw, nothing is escaped; what counts as a tag inside a value is said in
elements.py. Also read, as the model writes them now and then: ``<tool_call>``, ``<invoke`` and closers without the
token (not all of them: a block without any token is text), no block at all, closers that are missing.

Reasoning: ``<mm:think>…</mm:think>``, opened by the prompt with ``thinking_mode="enabled"``, by the model itself with
"adaptive"; a lone closer at the start of the answer is swallowed. A call inside it ends it.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Elements, Engines, Pop, Push, Reasoning, Region, Sink, Skip, Start, on

SPACE = "]<]minimax[>["
OPEN, CLOSE, INVOKE = "<tool_call>", "</tool_call>", '<invoke name='

CALL = Elements(
    space=SPACE,
    head='<invoke name="{name}">',
    tail="</invoke>\n",
    around=(OPEN, CLOSE),
)


def block(name: str, *invokes: str) -> Region:
    edges = (on(Call(CallBlock(CALL)), *invokes, consume=False), on(Pop(), SPACE + CLOSE, CLOSE))
    return Region(name, Sink.SECTION, edges, pad=("\n", ""), repeat=True)


register(
    Dialect(
        "minimax_m3",
        openers=(
            on(Push("block"), SPACE + OPEN, trim=(1, 0)),
            on(Push("bare_block"), OPEN, trim=(1, 0)),
            on(Call(CallBlock(CALL, confirm=True)), SPACE + INVOKE, consume=False, trim=(1, 0)),
            on(Skip(), SPACE + CLOSE, CLOSE, at="after_call"),
        ),
        reasoning=Reasoning("<mm:think>", "</mm:think>", calls="end"),
        regions=(block("block", SPACE + INVOKE, INVOKE), block("bare_block", SPACE + INVOKE)),
        start=Start("plain", kwargs=("thinking_mode",), turn="]~b]ai\n"),
        aliases=("minimax-m3",),
        stops=("[e~[",),
        summary="MiniMax-M3",
        engines=Engines(vllm="minimax_m3", sglang="minimax-m3"),
    )
)
