"""Mistral: ``[TOOL_CALLS]name[ARGS]{…}``, repeated; before tokenizer v11 ``[TOOL_CALLS] [{…}, {…}]``.

Models: Mistral-Small-3.2, Devstral-Small-2507, Magistral, Ministral 3, Devstral 2, Mistral Small 4, Medium 3.5; with
the array Mistral-7B-Instruct-v0.3 to Mistral-Small-3.1. The first character behind the marker tells the two apart.
Source: mistral-common's tokenizers: v3 and v7 write the array (a blank in front of it where the tokenizer is
SentencePiece, the id last), v11 ``[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}``, v13 leaves the id out, and some models leave
``[ARGS]`` out. A call has no closer: it ends with its JSON. An id counts where it stands before the call's arguments.

The markers are control tokens; where the engine says which spans are, only those count. Inside
``[THINK]…[/THINK]`` everything is reasoning, markers included; Magistral-Small-2506 writes ``<think>\n…\n</think>\n``.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, FirstChar, Named, Reasoning, Start, on

CALL = CallBlock(
    FirstChar(
        (("[", Envelope(shape="array", id="id")), ("{", Envelope(shape="object", id="id"))),
        Named(head="{name}[CALL_ID]{id}[ARGS]", optional=("[CALL_ID]", "[ARGS]")),
    )
)

register(
    Dialect(
        "mistral",
        openers=(on(Call(CALL), "[TOOL_CALLS]", control=True),),
        reasoning=Reasoning(
            "[THINK]",
            "[/THINK]",
            calls="keep",
            also=(Reasoning("<think>", "</think>", trim_open=(0, 1), trim_close=(1, 2)),),
        ),
        start=Start("plain", turn="[/INST]"),
        stops=("</s>",),
        keep_special=True,
        summary="Mistral Small 3.2, Devstral, Magistral, Ministral 3; Mistral-7B-v0.3 to Small 3.1",
        engines=Engines(vllm="mistral", sglang="mistral"),
    )
)
