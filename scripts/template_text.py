"""An expected message of the corpus, written with the templates of the dialect's data.

Where that gives the raw text of the line, the line is spelled as the family's template spells it.
"""

from __future__ import annotations

import json
from typing import Any

from toolglot.core.spec import Call, CallBlock, CallSyntax, Dialect, Envelope, FirstChar, Named, Pop, Push, Tagged


def rendered(dialect: Dialect, expected: Any, starts_in_reasoning: bool | None = None) -> str:
    """A message of the corpus in the template's own spelling; a ``?`` stands for what the data does not spell."""
    calls = expected["tool_calls"]
    if dialect.messages is not None:
        return _messages(dialect, expected)
    text = ""
    think = dialect.reasoning
    if expected["reasoning"] is not None and think is not None:
        start = "" if starts_in_reasoning else think.open + "\n" * think.trim_open[1]
        thought = expected["reasoning"] + "\n" * think.trim_close[0]
        text = start + thought + think.close + "\n" * think.trim_close[1]
    text += expected["content"] or ""
    if not calls:
        return text
    edge = dialect.openers[0]
    opener = edge.on[0].text if edge.on[0].consume else ""
    if expected["content"] is not None:
        text += "\n" * edge.trim[0]
    if isinstance(edge.do, Call):
        return text + _blocks(dialect, edge.do.block, opener, "", calls)
    assert isinstance(edge.do, Push)
    name = edge.do.region
    section = next(region for region in dialect.regions if region.name == name)
    inner = next(each for each in section.edges if isinstance(each.do, Call))
    closer = section.pad[1] + next((each.on[0].text for each in section.edges if isinstance(each.do, Pop)), "")
    head = inner.on[0].text if inner.on[0].consume else ""
    block = inner.do.block  # type: ignore[union-attr]
    before = opener + section.pad[0]
    if section.repeat:
        row = section.between.join(_block(block, head, "", [call]) for call in calls)
        return text + before + row + closer
    return text + dialect.between.join(_block(block, before + head, closer, [call]) for call in calls)


def _messages(dialect: Dialect, expected: Any) -> str:
    messages = dialect.messages
    assert messages is not None
    text = ""
    if expected["reasoning"] is not None:
        text = messages.reasoning + expected["reasoning"] + messages.turn
    if expected["content"] is not None:
        return f"{text}{messages.content}{expected['content']}"
    [call] = expected["tool_calls"][:1] or [{"name": "", "arguments": ""}]
    return f"{text}{messages.call.replace('{name}', call['name'])}{call['arguments']}{messages.block.close[0]}"


def _blocks(dialect: Dialect, block: CallBlock, opener: str, closer: str, calls: list[Any]) -> str:
    payload = block.payload
    payload = payload.other if isinstance(payload, FirstChar) else payload
    if isinstance(payload, CallSyntax) or (isinstance(payload, Envelope) and payload.shape == "array"):
        return _block(block, opener, closer, calls)
    return dialect.between.join(_block(block, opener, closer, [call]) for call in calls)


def _block(block: CallBlock, opener: str, closer: str, calls: list[Any]) -> str:
    payload = block.payload.other if isinstance(block.payload, FirstChar) else block.payload
    close = block.close[0] if block.close else ""
    row = [_call(payload, block, call) for call in calls]
    text = row[0]
    if isinstance(payload, CallSyntax):
        text = payload.wrap[0] + payload.between.join(row) + payload.wrap[1]
    elif isinstance(payload, Envelope) and payload.shape == "array":
        text = "[" + payload.between.join(row) + "]"
    return opener + block.pad[0] + text + block.pad[1] + close + closer


def _call(payload: Any, block: CallBlock, call: Any) -> str:
    name, arguments = str(call["name"]), str(call["arguments"])
    if isinstance(payload, Envelope):
        return payload.canonical.replace("{name}", name).replace("{arguments}", arguments)
    if isinstance(payload, Named):
        head = payload.head.replace("[CALL_ID]{id}", "").replace("{id}", call.get("id", ""))
        return head.replace("{name}", name) + arguments
    try:
        values = json.loads(arguments)
    except ValueError:
        return "?"
    if isinstance(payload, Tagged):
        pairs = [
            payload.argument.replace("{key}", key).replace("{value}", value if isinstance(value, str) else
                                                           json.dumps(value, ensure_ascii=False))
            for key, value in values.items()
        ]  # fmt: skip
        return "".join([payload.head.replace("{name}", name), *pairs, payload.tail])
    if not isinstance(payload, CallSyntax) or payload.quote:
        return "?"
    pairs = [f"{key}{payload.assign}{literal(value, payload)}" for key, value in values.items()]
    return payload.head.replace("{name}", name) + payload.comma.join(pairs) + payload.tail


def literal(value: Any, syntax: CallSyntax) -> str:
    """A value in Python's notation."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {literal(item, syntax)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item, syntax) for item in value) + "]"
    if value is None or isinstance(value, bool):
        return syntax.words[2 if value is None else 0 if value else 1]
    return json.dumps(value, ensure_ascii=False)
