"""The parser names `toolglot`: the dialect is found when vLLM builds the parsers, at start-up, or refused."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import request_for
from engine_cases import TOOLS
from families import FAMILIES, REFUSED
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager

from toolglot.core import get_dialect
from toolglot.core.serving import auto
from toolglot.core.serving.prompt import has_reasoning
from toolglot.core.serving.settings import use

BY_NAME = {family.name: family for family in (*FAMILIES, *REFUSED)}
DIRECT = [family for family in FAMILIES if family.certain and family.template is not None]


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting, no command line of a server, and no parsers left in vLLM's Harmony class."""
    from vllm.parser.harmony import HarmonyParser

    monkeypatch.delenv("TOOLGLOT_DIALECT", raising=False)
    monkeypatch.setattr(sys, "argv", ["vllm", "serve"])
    use(None)
    yield
    HarmonyParser.tool_parser_cls = HarmonyParser.reasoning_parser_cls = None
    monkeypatch.undo()
    use(None)


def start(tokenizer: Any, *, reasoning: bool = False, harmony: bool = False) -> Any:
    """What vLLM makes of `--tool-call-parser toolglot`, built with a tokenizer as it does when it starts."""
    made = ParserManager.get_parser(
        tool_parser_name="toolglot",
        reasoning_parser_name="toolglot" if reasoning else None,
        enable_auto_tools=True,
        model_name="any",
        is_harmony=harmony,
    )
    assert made is not None
    return made(tokenizer, [])


def test_names() -> None:
    for manager, kind in ((ToolParserManager, "Tool"), (ReasoningParserManager, "Reasoning")):
        assert manager.lazy_parsers["toolglot"] == ("toolglot.vllm_plugin.auto", f"ToolglotAuto{kind}Parser")


@pytest.mark.parametrize("family", [pytest.param(family, id=family.name) for family in DIRECT])
def test_the_dialect_is_found(family: Any) -> None:
    tokenizer = family.tokenizer()
    parser = start(tokenizer, reasoning=has_reasoning(get_dialect(family.dialect)))
    assert parser.tool_parser.dialect == family.dialect
    assert parser.reasoning_parser is None or parser.reasoning_parser.dialect == family.dialect


@pytest.mark.parametrize("family", [pytest.param(family, id=family.name) for family in REFUSED])
def test_refused(family: Any) -> None:
    tokenizer = family.tokenizer()
    with pytest.raises(Exception, match="not certain") as caught:
        start(tokenizer)
    assert "TOOLGLOT_DIALECT" in str(caught.value)


def test_vllm_refuses_at_start() -> None:
    """vLLM 0.33 builds the parsers with the tokenizer before it serves, and names the flag."""
    if not hasattr(ParserManager, "validate_parser_tokenizer"):
        return  # older versions build them for the first request
    tokenizer = BY_NAME["Hermes calls, a turn of its own"].tokenizer()
    with pytest.raises(TypeError, match=r"--tool-call-parser toolglot .*could be granite4 or hermes"):
        ParserManager.get_parser(
            tool_parser_name="toolglot", enable_auto_tools=True, model_name="some/model", tokenizer=tokenizer
        )


def test_no_tokenizer() -> None:
    with pytest.raises(Exception, match="without a tokenizer"):
        start(None)


def test_no_reasoning_channel() -> None:
    tokenizer = BY_NAME["Llama 3.1 to 3.3"].tokenizer()
    with pytest.raises(Exception, match="llama3_json' has no reasoning; leave --reasoning-parser out"):
        start(tokenizer, reasoning=True)


def test_found_once_and_logged_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)
    asked = []
    monkeypatch.setattr(auto, "detect", lambda model, detect=auto.detect: asked.append(model) or detect(model))
    tokenizer = BY_NAME["Qwen3"].tokenizer()
    with caplog.at_level(logging.INFO, "vllm.toolglot"):
        for _ in range(3):
            start(tokenizer, reasoning=True)
    assert len(asked) == 1
    # Older versions have their own handler, which shows the same record again.
    lines = {id(record): record.getMessage() for record in caplog.records if "dialect is" in record.getMessage()}
    (line,) = lines.values()
    assert "hermes" in line and "read back the calls" in line


def test_overruled(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = BY_NAME["Qwen3"].tokenizer()
    monkeypatch.setenv("TOOLGLOT_DIALECT", "qwen3_xml")
    use(None)
    assert start(tokenizer).tool_parser.dialect == "qwen3_coder"
    other = BY_NAME["Qwen3"].tokenizer()
    monkeypatch.setenv("TOOLGLOT_DIALECT", "hermess")
    use(None)
    with pytest.raises(Exception, match="unknown dialect 'hermess'"):
        start(other)


@pytest.mark.parametrize("arguments", [["--chat-template", "x.jinja"], ["--chat-template=x.jinja"]])
def test_a_template_that_parsers_do_not_see(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["vllm", "serve", "model", *arguments])
    tokenizer = BY_NAME["Qwen3"].tokenizer()
    with pytest.raises(Exception, match="--chat-template gives"):
        start(tokenizer)
    monkeypatch.setattr(sys, "argv", ["vllm", "serve", "model", "--chat-template-content-format", "string"])
    assert start(tokenizer).tool_parser.dialect == "hermes"


def test_a_response() -> None:
    """From then on it is the dialect's own parser: calls, reasoning, grammar."""
    tokenizer = BY_NAME["Qwen3"].tokenizer()
    request = request_for(TOOLS, tool_choice="required")
    parser = start(tokenizer, reasoning=True)
    parser.adjust_request(request)
    assert "<tool_call>" in json.dumps(json.loads(request.structured_outputs.structural_tag))
    text = '<think>\nHm.\n</think>\n\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True)
    assert (reasoning, content) == ("Hm.", None)
    assert [(call.name, call.arguments) for call in calls] == [("ping", "{}")]


def test_harmony() -> None:
    """A model of type gpt_oss: vLLM's own parser takes the classes, and parses itself."""
    tokenizer = BY_NAME["gpt-oss"].tokenizer()
    parser = start(tokenizer, reasoning=True, harmony=True)
    assert type(parser).__name__ == "HarmonyParser"
    assert parser.tool_parser.dialect == parser.reasoning_parser.dialect == "gpt_oss"
    request = request_for(TOOLS, tool_choice="required")
    from vllm.tool_parsers.gptoss_tool_parser import GptOssToolParser

    own = request_for(TOOLS, tool_choice="required")
    GptOssToolParser(tokenizer, own.tools).adjust_request(own)
    parser.tool_parser.adjust_request(request)
    assert request.structured_outputs == own.structured_outputs


# Models without a template: vLLM's own encoders


@pytest.mark.parametrize("version", ["v32", "v4", "v41"])
def test_deepseeks_encoders(version: str) -> None:
    from importlib import import_module

    try:
        module = import_module(f"vllm.tokenizers.deepseek_{version}")
    except ImportError:
        return  # not in this version of vLLM
    base = BY_NAME["DeepSeek-V3.2's tokens, no template"].tokenizer()
    tokenizer = getattr(module, f"get_deepseek_{version}_tokenizer")(base)
    assert start(tokenizer).tool_parser.dialect == f"deepseek_{version}"


def test_mistrals_tokenizer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """mistral-common has no template; its control tokens are enough."""
    import mistral_common
    from vllm.tokenizers.mistral import MistralTokenizer

    shutil.copy(Path(mistral_common.__file__).parent / "data" / "tekken_240911.json", tmp_path / "tekken.json")
    tokenizer = MistralTokenizer.from_pretrained(str(tmp_path))
    assert start(tokenizer).tool_parser.dialect == "mistral"
    assert "unsafe" not in caplog.text


def test_a_models_own_code_is_not_run() -> None:
    class Remote(type(BY_NAME["Qwen3"].tokenizer())):  # type: ignore[misc]
        def apply_chat_template(self, *_: Any, **__: Any) -> str:
            raise AssertionError("run")

    Remote.__module__ = "transformers_modules.some.model"
    tokenizer = BY_NAME["Kimi K2"].tokenizer()
    tokenizer.__class__ = Remote
    assert auto.model_of(tokenizer).render is not None  # its template, in the sandbox
    assert start(tokenizer).tool_parser.dialect == "kimi_k2"
    tokenizer.chat_template = None
    assert auto.model_of(tokenizer).render is None
