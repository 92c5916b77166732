"""Granite 4: the calls of Hermes, ``<tool_call>`` JSON ``</tool_call>``.

Models: Granite 4.0 (h-small, h-tiny, h-micro, micro and the small instruct models).
Source: the chat template of these models, which writes one object a block and a newline between blocks. Arguments may
be a JSON string that holds the object. No reasoning; the thinking models of Granite 4.2 write Qwen XML.
"""

from ..registry import register
from ..spec import Call, Dialect, Engines, Skip, Start, on
from .hermes import BLOCK

register(
    Dialect(
        "granite4",
        openers=(
            on(Call(BLOCK), "<tool_call>", trim=(1, 0)),
            on(Skip(), "</tool_call>", at="after_call"),
        ),
        start=Start("plain", turn="<|start_of_role|>assistant<|end_of_role|>"),
        aliases=("granite-4",),
        stops=("<|end_of_text|>",),
        between="\n",
        summary="Granite 4.0",
        engines=Engines(vllm="granite4"),
    )
)
