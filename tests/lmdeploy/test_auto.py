"""The parser names `toolglot`: the dialect is found when LMDeploy chooses its parsers, at start-up, or refused."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from engine_cases import TOOLS
from families import FAMILIES, REFUSED
from lmdeploy.serve.parsers import validate_parser_names
from lmdeploy_driving import choose, request_for

from toolglot.core import ConfigurationError, get_dialect
from toolglot.core.serving.prompt import has_reasoning
from toolglot.core.serving.settings import use
from toolglot.lmdeploy_plugin import response_parser

BY_NAME = {family.name: family for family in (*FAMILIES, *REFUSED)}
DIRECT = [family for family in FAMILIES if family.certain and family.template is not None]


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting, and no command line of a server."""
    monkeypatch.delenv("TOOLGLOT_DIALECT", raising=False)
    monkeypatch.setattr(sys, "argv", ["lmdeploy", "serve", "api_server", "model"])
    use(None)
    yield
    monkeypatch.undo()
    use(None)


def test_names_are_valid() -> None:
    assert validate_parser_names("toolglot", "toolglot") == ("toolglot", "toolglot")


@pytest.mark.parametrize("family", [pytest.param(family, id=family.name) for family in DIRECT])
def test_the_dialect_is_found(family: Any) -> None:
    reasoning = "toolglot" if has_reasoning(get_dialect(family.dialect)) else None
    chosen = choose("toolglot", reasoning, tokenizer=family.tokenizer()).chosen
    assert (chosen.dialect.name, chosen.calls) == (family.dialect, True)
    assert chosen.reasoning or reasoning is None


@pytest.mark.parametrize("family", [pytest.param(family, id=family.name) for family in REFUSED])
def test_refused(family: Any) -> None:
    with pytest.raises(ConfigurationError, match="not certain") as caught:
        choose("toolglot", tokenizer=family.tokenizer())
    assert "TOOLGLOT_DIALECT" in str(caught.value)


def test_candidates_and_advice() -> None:
    with pytest.raises(ConfigurationError, match="it could be granite4 or hermes; name it: toolglot_DIALECT"):
        choose("toolglot", tokenizer=BY_NAME["Hermes calls, a turn of its own"].tokenizer())
    with pytest.raises(ConfigurationError, match="without a tokenizer"):
        choose("toolglot")
    with pytest.raises(ConfigurationError, match="'llama3_json' has no reasoning; leave --reasoning-parser out"):
        choose("toolglot", "toolglot", tokenizer=BY_NAME["Llama 3.1 to 3.3"].tokenizer())


def test_overruled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGLOT_DIALECT", "qwen3_coder")
    use(None)
    assert choose("toolglot", tokenizer=BY_NAME["Qwen3"].tokenizer()).chosen.dialect.name == "qwen3_coder"


def test_a_template_that_parsers_do_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lmdeploy", "serve", "api_server", "model", "--chat-template", "x.json"])
    with pytest.raises(ConfigurationError, match="--chat-template gives"):
        choose("toolglot", tokenizer=BY_NAME["Qwen3"].tokenizer())


def test_it_is_said_why(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_parser.logger, "propagate", False)
    caplog.set_level(logging.INFO, response_parser.logger.name)
    response_parser.logger.addHandler(caplog.handler)
    choose("toolglot", tokenizer=BY_NAME["Qwen3"].tokenizer())
    response_parser.logger.removeHandler(caplog.handler)
    assert "the dialect is hermes: " in caplog.text and "read back the calls" in caplog.text


def test_beside_other_parsers() -> None:
    """A reasoning parser of LMDeploy's with the same tags, alone, and beside a tool parser of LMDeploy's own."""
    tokenizer = BY_NAME["Qwen3"].tokenizer()
    assert choose("toolglot", "default", tokenizer=tokenizer).chosen.reasoning
    assert not choose(None, "toolglot", tokenizer=tokenizer).chosen.calls
    parser = choose("qwen3", "toolglot", tokenizer=tokenizer)
    assert parser.chosen is None
    assert parser.reasoning_parser_cls.dialect == "hermes"


def test_a_response() -> None:
    parser = choose("toolglot", "toolglot", tokenizer=BY_NAME["Qwen3"].tokenizer())(request_for(TOOLS))
    text = '<think>\nHm.\n</think>\n\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    content, calls, reasoning = parser.parse_complete(text)
    assert (content, reasoning) == (None, "Hm.")
    assert [(call.function.name, call.function.arguments) for call in calls] == [("ping", "{}")]
