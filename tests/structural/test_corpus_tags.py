"""The other way: a text that is written as the dialect's template renders it is one of its own tag.

Which lines of the corpus those are is found by rendering: the expected reasoning, content and calls are written with
the templates of the dialect's data, and the line counts where that gives its raw text. Then the tags of `auto`, and of
`required` where there are calls only, take it token by token.
"""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from corpus import CorpusLine, dialects, load
from walks import Grammar

from toolglot.core import get_dialect, structural_tag
from toolglot.core.spec import Call, CallBlock, CallSyntax, Dialect, Envelope, FirstChar, Named, Push, Tagged

RENDERED = ("deepseek_v31", "glm47", "gpt_oss", "hermes", "kimi_k2", "llama4_pythonic", "mistral", "qwen3_coder")
SLOT = re.compile(r"\{\w+\}|\0")
FEWEST = 1  # lines that must count, of RENDERED


def rendered(dialect: Dialect, line: CorpusLine) -> str | None:
    """The line's expected message in the template's own spelling; None where it has none."""
    expected = line.expected
    calls = expected["tool_calls"]
    if dialect.messages is not None:
        return _messages(dialect, expected)
    text = ""
    think = dialect.reasoning
    if expected["reasoning"] is not None and think is not None:
        start = "" if line.options.get("starts_in_reasoning") else think.open + "\n" * think.trim_open[1]
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
    closer = section.pad[1] + next((each.on[0].text for each in section.edges if not isinstance(each.do, Call)), "")
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
        return text + messages.content + expected["content"]
    [call] = expected["tool_calls"][:1] or [{"name": "", "arguments": ""}]
    return text + messages.call.replace("{name}", call["name"]) + call["arguments"] + messages.block.close[0]


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
    name, arguments = call["name"], call["arguments"]
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
        return payload.head.replace("{name}", name) + "".join(pairs) + payload.tail
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


def meets(line: CorpusLine) -> bool:
    """Whether the calls are what their schemas ask for, keys in order and declared."""
    schemas = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in line.tools or ()}
    for call in line.expected["tool_calls"]:
        if call["name"] not in schemas or not call["complete"]:
            return False
        try:
            arguments = json.loads(call["arguments"])
        except ValueError:
            return False
        if not isinstance(arguments, dict):
            return False
        if re.search(r"[ \n\t]{3}", call["arguments"]):
            return False  # a spacing of its own
        pairs: list[Any] = json.loads(call["arguments"], object_pairs_hook=list)
        if len(pairs) != len(arguments):
            return False  # a key is there twice
        declared = list(schemas[call["name"]].get("properties", {}))
        order = [declared.index(key) if key in declared else -1 for key in arguments]
        if not jsonschema.Draft202012Validator(schemas[call["name"]]).is_valid(arguments):
            return False
        if "properties" in schemas[call["name"]] and (-1 in order or order != sorted(order)):
            return False
    return True


def quotes(dialect: Dialect, line: CorpusLine) -> bool:
    """Whether text of the line holds what the tag keeps out of it: markers that the parser would act on."""
    expected = line.expected
    texts = [expected["content"] or "", expected["reasoning"] or ""]
    markers = [marker for edge in dialect.openers for marker in edge.on]
    if any(texts[0].lstrip().startswith(marker.text) for marker in markers if marker.at == "start"):
        return True
    literals = [marker.text for marker in markers if marker.at != "start"]
    for payload in _tagged(dialect):
        literals += [piece.strip() for piece in SLOT.split(f"{payload.head}\0{payload.argument}\0{payload.tail}")]
        texts += [call["arguments"] for call in expected["tool_calls"]]
    return any(literal in text for literal in literals if len(literal) > 1 for text in texts)


def _tagged(dialect: Dialect) -> list[Tagged]:
    edges = [*dialect.openers, *(edge for region in dialect.regions for edge in region.edges)]
    blocks = [edge.do.block for edge in edges if isinstance(edge.do, Call)]
    return [block.payload for block in blocks if isinstance(block.payload, Tagged)]


def tokens(grammar: Grammar, text: str) -> list[str]:
    """The text in the longest words of the grammar's vocabulary."""
    longest = sorted(grammar.words, key=len, reverse=True)
    found = []
    while text:
        word = next((each for each in longest if text.startswith(each)), text[0])
        found.append(word)
        text = text[len(word) :]
    return found


@pytest.mark.parametrize("name", dialects())
def test_template_texts_are_accepted(name: str) -> None:
    dialect = get_dialect(name)
    counted = 0
    for line in load(name):
        if not line.tools or line.options.get("tool_choice") == "none" or rendered(dialect, line) != line.raw:
            continue
        if line.options.keys() & {"undeclared_tools", "reasoning_calls"} or line.anomalies or not meets(line):
            continue
        if quotes(dialect, line):
            continue
        expected = line.expected
        if expected["content"] is not None and not expected["content"].strip():
            continue  # blanks that no template writes
        starts = line.options.get("starts_in_reasoning")
        reasoning: Any = False
        if expected["reasoning"] is not None:
            reasoning = True if starts else "optional"
        choices = ["auto"] + ["required"] * (bool(expected["tool_calls"]) and expected["content"] is None)
        for choice in choices:
            tag = structural_tag(dialect, line.tools, choice, reasoning=reasoning)
            assert tag is not None
            grammar = Grammar(dialect, tag)
            assert grammar.accepts_tokens(tokens(grammar, line.raw)), f"{line} is not in the tag of {choice!r}"
        counted += 1
    assert counted >= FEWEST or name not in RENDERED, f"only {counted} lines are written as the template renders"
