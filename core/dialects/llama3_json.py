"""Llama 3 JSON calls: ``{"name": "add", "parameters": {"a": 1}}``.

Models: Llama 3.1, 3.2 and 3.3 Instruct with their chat templates, Llama 4 with a JSON template.
Source: the chat templates and Meta's prompt-format pages of these models. The object is the whole message, and there
is one; models that write several part them by ``; ``. ``<|python_tag|>`` may stand in front, or Llama 4's
``<|python_start|>`` … ``<|python_end|>`` around it.

``{`` opens calls only at the start of the response, the tags anywhere. The opener ``{`` is ordinary text, and
an answer may be JSON with a name in it: a call is what has both a name and ``parameters`` (or ``arguments``), and what
is cut before that is text. Behind the tag anything but JSON (code for the interpreter, ``brave_search.call(…)``) is
text, the tag included.

Meta's own alternative, ``<function=NAME>{…}</function>``, is read wherever JSON follows the head.
"""

from ..registry import register
from ..spec import Call, CallBlock, Dialect, Engines, Envelope, Named, Start, on

OBJECT = Envelope(
    arguments=("parameters", "arguments"),
    canonical='{"name": "{name}", "parameters": {arguments}}',
    between="; ",
)
CALL = CallBlock(OBJECT, confirm=True)
WRAPPED = CallBlock(OBJECT, close=("<|python_end|>",), confirm=True)
FUNCTION = CallBlock(Named("<function={name}>"), close=("</function>",), confirm=True)

register(
    Dialect(
        "llama3_json",
        openers=(
            on(Call(CALL), "{", at="start", consume=False, trim=(2, 0)),
            on(Call(CALL), "<|python_tag|>"),
            on(Call(WRAPPED), "<|python_start|>"),
            on(Call(FUNCTION), "<function=", consume=False),
        ),
        start=Start("plain", turn="<|start_header_id|>assistant<|end_header_id|>\n\n"),
        aliases=("llama3", "llama", "llama4_json"),
        stops=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
        keep_special=True,
        between="; ",
        summary="Llama 3.1, 3.2, 3.3 (JSON)",
        engines=Engines(vllm="llama3_json llama4_json", sglang="llama3", lmdeploy="llama3"),
    )
)
