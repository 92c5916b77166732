"""Commands of the documentation that start vLLM: its own argument parser takes them, and knows every name."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from documents import QUICKSTART_MODELS, Command, commands
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm.utils.argparse_utils import FlexibleArgumentParser

from toolglot.core import get_dialect, list_dialects

SERVE = [command for command in commands() if command.engine == "vllm"]
# Not one format: it takes a template of the format from the tokenizer's configuration.
NO_DIALECT = {"hf"}


@cache
def command_line() -> Any:
    return make_arg_parser(FlexibleArgumentParser())


@pytest.mark.parametrize("command", SERVE, ids=str)
def test_command(command: Command) -> None:
    arguments = command_line().parse_args(list(command.served[1:]))
    validate_parsed_serve_args(arguments)
    assert arguments.model_tag == command.words[2]
    assert arguments.enable_auto_tool_choice
    assert arguments.tool_call_parser in ToolParserManager.list_registered()
    assert arguments.reasoning_parser in (None, "", *ReasoningParserManager.list_registered())


def test_there_are_commands() -> None:
    assert len(SERVE) >= 10


def test_the_models_are_vllms() -> None:
    from vllm import ModelRegistry

    served = set(ModelRegistry.get_supported_archs())
    assert [row for row in QUICKSTART_MODELS if row[4] not in served] == []


def test_every_parser_of_vllms_has_a_row() -> None:
    """docs/migration.md, made from the dialects, leaves no name of this vLLM out."""
    named = {name for dialect in list_dialects() for name in get_dialect(dialect).engines.vllm.split()}
    own = {name for name in ToolParserManager.list_registered() if not name.startswith("toolglot")}
    assert own - named == NO_DIALECT
