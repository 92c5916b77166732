"""Commands and examples of the docs that need LMDeploy: its own argument parser takes them, its app answers."""

from __future__ import annotations

import functools
import logging
import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import openai
import pytest
from documents import QUICKSTART_MODELS, Block, Command, blocks, commands
from lmdeploy.pytorch.models.module_map import MODULE_MAP
from lmdeploy.serve.parsers.reasoning_parser import ReasoningParserManager
from lmdeploy.serve.parsers.tool_parser import ToolParserManager
from lmdeploy_serving import command_line, official, served

from toolglot.core import get_dialect, list_dialects

SERVE = [command for command in commands() if command.engine == "lmdeploy"]
PYTHON = {(block.page, block.number): block for block in blocks() if block.language == "python"}


@pytest.mark.parametrize("command", SERVE, ids=str)
def test_command(command: Command) -> None:
    arguments = command_line().parse_args(list(command.served))
    assert arguments.tool_call_parser in ToolParserManager.module_dict
    assert arguments.reasoning_parser in (None, *ReasoningParserManager.module_dict)


def test_there_are_commands() -> None:
    assert len(SERVE) >= 8


def test_the_models_are_lmdeploys() -> None:
    """The table of the quick start says of each whether LMDeploy has its architecture."""
    assert {row[0]: row[4] in MODULE_MAP for row in QUICKSTART_MODELS} == {
        row[0]: row[3] == "yes" for row in QUICKSTART_MODELS
    }


def test_every_parser_of_lmdeploys_has_a_row() -> None:
    named = {name for dialect in list_dialects() for name in get_dialect(dialect).engines.lmdeploy.split()}
    assert {name for name in ToolParserManager.module_dict if not name.startswith("toolglot")} <= named


def of(page: str) -> list[Block]:
    return [block for block in PYTHON.values() if block.page == page]


def test_registering_in_a_program() -> None:
    (block,) = of("docs/lmdeploy.md")
    exec(compile(block.text, str(block), "exec"), {})
    assert "toolglot_hermes" in ToolParserManager.module_dict


def test_the_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop that LMDeploy could have calls our entry point, and survives one that fails."""
    called = []
    group = "lmdeploy.parsers"
    found = [EntryPoint("broken", "nosuchmodule:function", group), EntryPoint("ours", "toolglot.ours:go", group)]
    monkeypatch.setattr(EntryPoint, "load", lambda entry: {"ours": lambda: called.append(1)}[entry.name])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: found)
    (block,) = of("docs/lmdeploy_upstream.md")
    exec(compile(block.text, str(block), "exec"), {"get_logger": logging.getLogger})
    assert called == [1]


def test_the_first_call(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The client of the quick start as it stands; a model of random weights needs a limit, and must not think."""
    (block,) = of("docs/quickstart.md")
    with served(model, "toolglot_hermes", "toolglot_hermes") as app:
        client = official(app)

        def connect(base_url: str, api_key: str) -> Any:
            assert base_url == "http://localhost:8000/v1" and api_key
            client.chat.completions.create = functools.partial(  # type: ignore[method-assign]
                client.chat.completions.create,
                max_tokens=600,
                extra_body={"chat_template_kwargs": {"enable_thinking": False}},
            )
            return client

        monkeypatch.setattr(openai, "OpenAI", connect)
        capsys.readouterr()
        exec(compile(block.text, str(block), "exec"), {})
        assert re.match(r'get_weather \{\s*"city"', capsys.readouterr().out)
