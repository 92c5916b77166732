"""Mistral: ``[TOOL_CALLS]name[ARGS]{…}``, repeated; before tokenizer v11 ``[TOOL_CALLS] [{…}, {…}]``.

Models: Mistral-Small-3.2, Devstral-Small-2507, Magistral, Ministral 3, Devstral 2, Mistral Small 4, Medium 3.5; with
the array Mistral-7B-Instruct-v0.3 to Mistral-Small-3.1. The first character behind the marker tells the two apart.
Source: mistral-common's tokenizers. A call has no closer: it ends with its JSON. ``[CALL_ID]id`` may stand before
``[ARGS]``, and some models leave out ``[ARGS]``.

The markers are control tokens; where the engine says which spans are, only those count. Inside
``[THINK]…[/THINK]`` everything is reasoning, markers included.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Envelope, FirstChar, Named, Reasoning, Start, on

CALL = CallBlock(
    FirstChar(
        (("[", Envelope(shape="array")), ("{", Envelope(shape="object"))),
        Named(head="{name}[CALL_ID]{id}[ARGS]", optional=("[CALL_ID]", "[ARGS]")),
    )
)

register(
    Dialect(
        "mistral",
        openers=(on(Call(CALL), "[TOOL_CALLS]", control=True),),
        reasoning=Reasoning("[THINK]", "[/THINK]", calls="keep"),
        start=Start("plain", turn="[/INST]"),
        stops=("</s>",),
        keep_special=True,
        summary="Mistral Small 3.2, Devstral, Magistral, Ministral 3; Mistral-7B-v0.3 to Small 3.1",
    )
)
