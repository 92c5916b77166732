"""A model of type gpt_oss: vLLM's HarmonyParser accepts our classes, parses itself, and asks as it asks its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from driving import request_for
from engine_cases import TOOLS
from vllm.parser.parser_manager import ParserManager

NAMES = {"tool_parser_name": "toolglot_gpt_oss", "reasoning_parser_name": "toolglot_gpt_oss"}
OWN = {"tool_parser_name": "openai", "reasoning_parser_name": "openai_gptoss"}


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The choice of parsers is an attribute of vLLM's class."""
    from vllm.parser.harmony import HarmonyParser

    yield
    HarmonyParser.tool_parser_cls = HarmonyParser.reasoning_parser_cls = None


def harmony(names: dict[str, str], tokenizer: Any, tools: Any = None) -> Any:
    made = ParserManager.get_parser(enable_auto_tools=True, model_name="any", is_harmony=True, **names)
    assert made is not None
    return made(tokenizer, tools)


def test_accepted(tokenizer: Any) -> None:
    parser = harmony(NAMES, tokenizer)
    assert type(parser).__name__ == "HarmonyParser"
    assert parser.tool_parser.dialect == parser.reasoning_parser.dialect == "gpt_oss"


@pytest.mark.parametrize("choice", ["required", "auto", {"type": "function", "function": {"name": "ping"}}])
def test_asked_as_vllms_own(tokenizer: Any, choice: Any) -> None:
    asked = []
    for names in (OWN, NAMES):
        request = request_for(TOOLS, tool_choice=choice)
        parser = harmony(names, tokenizer, request.tools)
        ends = parser.is_reasoning_end(tokenizer.encode("<|start|>assistant", add_special_tokens=False))
        parser.adjust_request(request)
        asked.append((ends, request.structured_outputs, request.skip_special_tokens))
    assert asked[0] == asked[1]


def test_vllm_parses(tokenizer: Any) -> None:
    from openai_harmony import load_harmony_encoding

    encoding = load_harmony_encoding("HarmonyGptOss")
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.ping "
        '<|constrain|>json<|message|>{}<|call|>'
    )
    request = request_for(TOOLS)
    parser = harmony(NAMES, tokenizer, request.tools)
    ids = encoding.encode(text, allowed_special="all")
    reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True, model_output_token_ids=ids)
    assert (reasoning, content) == ("Hm.", None)
    assert [(call.name, call.arguments) for call in calls] == [("ping", "{}")]


def test_ours_with_other_model_types(tokenizer: Any) -> None:
    made = ParserManager.get_parser(enable_auto_tools=True, model_name="any", **NAMES)
    request = request_for(TOOLS, tool_choice="required")
    made(tokenizer, request.tools).adjust_request(request)
    assert "to=functions.ping <|constrain|>json" in request.structured_outputs.structural_tag
