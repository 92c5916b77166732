"""Mistral, tokenizer v11 and later: ``[TOOL_CALLS]name[ARGS]{…}``, repeated.

Models: Mistral-Small-3.2, Devstral-Small-2507, Magistral, Ministral 3, Devstral 2, Mistral Small 4, Medium 3.5.
Source: mistral-common's tokenizers. A call has no closer: it ends with its JSON. ``[CALL_ID]id`` may stand before
``[ARGS]``, and some models leave out ``[ARGS]``.

The markers are control tokens; where the engine says which spans are, only those count. Inside
``[THINK]…[/THINK]`` everything is reasoning, markers included.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Named, Reasoning, Start, on

CALL = CallBlock(Named(head="{name}[CALL_ID]{id}[ARGS]", optional=("[CALL_ID]", "[ARGS]")))

register(
    Dialect(
        "mistral",
        openers=(on(Call(CALL), "[TOOL_CALLS]", control=True),),
        reasoning=Reasoning("[THINK]", "[/THINK]", calls="keep"),
        start=Start("plain", turn="[/INST]"),
        stops=("</s>",),
        keep_special=True,
        summary="Mistral Small 3.2, Devstral, Magistral, Ministral 3 (tokenizer v11 and later)",
    )
)
