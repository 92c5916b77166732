"""Granite 20B function calling: ``<function_call>`` and a JSON object for each call, without a closer.

Models: granite-20b-functioncalling.
Source: the model's prompt ("please output <function_call> {...}") and vLLM's example template for it. Canonical
spelling, the marker before each call::

    <function_call> {"name": "get_weather", "arguments": {"city": "Oslo"}}
    <function_call> {"name": "ping", "arguments": {}}

The marker is ordinary text: one without an object behind it is text, and so is a block that is cut before its name.
A call ends with its object's bracket; what follows is content. ``no_function`` is how the model says that no tool
fits: a call to a tool that nobody declared. No reasoning.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Start, on

CALL = CallBlock(Envelope(shape="object"), pad=(" ", ""))

register(
    Dialect(
        "granite_20b_fc",
        openers=(on(Call(CALL), "<function_call>", plain=True),),
        start=Start("plain", turn="ASSISTANT:"),
        aliases=("granite-20b-fc",),
        stops=("<|endoftext|>",),
        between="\n",
        summary="Granite 20B function calling",
        engines=Engines(vllm="granite-20b-fc"),
    )
)
