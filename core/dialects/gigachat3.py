"""GigaChat 3: a JSON object in a message of the role ``function call``.

Models: GigaChat3-702B-A36B, GigaChat3-10B-A1.8B (gigachat3); GigaChat 3.1 (gigachat31). GigaChat 3.5 writes another
format.
Source: the chat templates of these models, and the parsers that their authors gave to vLLM, SGLang and llama.cpp.
Canonical spelling of 3 and of 3.1::

    …<|message_sep|>

    function call<|role_sep|>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}

    …<|function_call|>{"name": "get_weather", "arguments": {"city": "Oslo"}}

The newlines behind the two separators are part of these tokens. Both generations are read under both names; the name
says which one a structural tag writes. The role without the separator in front of it is read too. A separator that
opens no call ends a message; it is not shown.

The models make one call a turn; several objects in a row are several calls. No reasoning.
"""

from ..markers import Marker
from ..registry import register
from ..spec import Call, CallBlock, Dialect, Edge, Engines, Envelope, Skip, Start, on

SEPARATOR, ROLE, CALL = "<|message_sep|>", "function call<|role_sep|>", "<|function_call|>"
OBJECT = CallBlock(Envelope(shape="object"))

MESSAGE = Edge(
    (
        *(Marker(f"{SEPARATOR}{first}{ROLE}{second}") for first in ("\n\n", "") for second in ("\n", "")),
        Marker(f"{ROLE}\n", plain=True),
        Marker(ROLE, plain=True),
    ),
    Call(OBJECT),
)
TOKEN = on(Call(OBJECT), CALL)


def gigachat(name: str, *calls: Edge, summary: str) -> Dialect:
    return Dialect(
        name,
        openers=(*calls, on(Skip(), f"{SEPARATOR}\n\n", SEPARATOR)),
        start=Start("plain", turn="assistant<|role_sep|>\n"),
        stops=("</s>",),
        keep_special=True,
        summary=summary,
        engines=Engines(vllm="gigachat3", sglang="gigachat3"),
    )


register(gigachat("gigachat3", MESSAGE, TOKEN, summary="GigaChat 3"))
register(gigachat("gigachat31", TOKEN, MESSAGE, summary="GigaChat 3.1"))
