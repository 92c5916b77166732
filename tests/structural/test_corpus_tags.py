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
from template_text import rendered
from walks import Grammar

from toolglot.core import get_dialect, structural_tag
from toolglot.core.spec import Call, Dialect, Tagged

RENDERED = ("deepseek_v31", "glm47", "gpt_oss", "hermes", "kimi_k2", "llama4_pythonic", "mistral", "qwen3_coder")
SLOT = re.compile(r"\{\w+\}|\0")
FEWEST = 1  # lines that must count, of RENDERED


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
        starts = line.options.get("starts_in_reasoning")
        if not line.tools or line.options.get("tool_choice") == "none":
            continue
        if rendered(dialect, line.expected, starts) != line.raw:
            continue
        if line.options.keys() & {"undeclared_tools", "reasoning_calls"} or line.anomalies or not meets(line):
            continue
        if quotes(dialect, line):
            continue
        expected = line.expected
        if expected["content"] is not None and not expected["content"].strip():
            continue  # blanks that no template writes
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
