"""OLMo 3: ``<function_calls>`` with one Python call a line.

Models: Olmo-3-7B-Instruct, Olmo-3.1-32B-Instruct; the Think models reason and call no tools.
Source: the chat template of these models. Canonical spelling, values as JSON::

    <function_calls>add(a=1, b=2)
    write_file(path="p", content="it's \\"x\\"")</function_calls>

Python literals and words are read as well, newlines next to the tags, and a list ``[f(), g()]``.

Reasoning: ``<think>…</think>``, ordinary text, opened by the prompt of the Think models.
"""

from ..registry import register
from ..spec import Call, CallBlock, CallSyntax, Dialect, Engines, FirstChar, Reasoning, Skip, Start, on

BLOCK = CallBlock(
    FirstChar((("[", CallSyntax()),), CallSyntax(wrap=("", ""), between="\n", words=("true", "false", "null"))),
    close=("</function_calls>",),
    until=("<function_calls>",),
)

register(
    Dialect(
        "olmo3",
        openers=(on(Call(BLOCK), "<function_calls>"), on(Skip(), "</function_calls>", at="after_call")),
        reasoning=Reasoning("<think>", "</think>"),
        start=Start("plain", turn="<|im_start|>assistant\n"),
        aliases=("olmo",),
        stops=("<|im_end|>", "<|endoftext|>"),
        summary="OLMo 3 Instruct; OLMo 3 Think (reasoning)",
        engines=Engines(vllm="olmo3"),
    )
)
