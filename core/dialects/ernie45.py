"""ERNIE 4.5: the calls of Hermes behind reasoning, the answer in ``<response>``.

Models: ERNIE-4.5-21B-A3B-Thinking, ERNIE X1.
Source: the parsers of FastDeploy and vLLM for these models, and the turn that vLLM's pull request 52841 describes. A
newline follows every block, and three stand between the reasoning (or the answer) and the first one::

    …
    </think>



    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Rome"}}
    </tool_call>

An answer is ``</think>\\n\\n<response>\\n…\\n</response>\\n``; the tags and these newlines are not shown. The prompt
opens the reasoning.
"""

from ..registry import register
from ..spec import Answer, Call, CallBlock, Dialect, Engines, Envelope, Reasoning, Skip, Start, on

BLOCK = CallBlock(Envelope(), close=("</tool_call>\n", "</tool_call>"), pad=("\n", "\n"))

register(
    Dialect(
        "ernie45",
        openers=(
            on(Call(BLOCK), "<tool_call>", trim=(1, 0)),
            on(Skip(), "</tool_call>", at="after_call"),
        ),
        reasoning=Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 2)),
        answer=Answer("<response>", "</response>", trim_open=(0, 1), trim_close=(1, 2)),
        start=Start("plain", turn="<|im_start|>assistant\n"),
        aliases=("ernie-45", "ernie-x1", "ernie_x1"),
        stops=("</s>", "<|im_end|>"),
        summary="ERNIE-4.5-21B-A3B-Thinking, ERNIE X1",
        engines=Engines(vllm="ernie45"),
    )
)
