"""LMDeploy's real app in this process, on the stand-in engine: its command line up to where it would listen."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import lmdeploy_standin  # noqa: F401  puts the stand-in in place
import openai
from lmdeploy.cli.cli import CLI
from lmdeploy.cli.serve import SubCliServe
from lmdeploy.serve.openai import api_server
from starlette.testclient import TestClient

NAME = "tiny"


@cache
def command_line() -> Any:
    """What `lmdeploy` parses its arguments with; LMDeploy can make it once a process."""
    CLI.add_parsers()
    SubCliServe.add_parsers()
    return CLI.parser


@contextlib.contextmanager
def served(model: Path, tool_parser: str | None, reasoning_parser: str | None = None) -> Iterator[TestClient]:
    """A client of the app that `lmdeploy serve api_server` serves."""
    chosen = [("--tool-call-parser", tool_parser), ("--reasoning-parser", reasoning_parser)]
    command = [
        *("serve", "api_server", str(model), "--model-name", NAME),
        *("--backend", "pytorch", "--max-batch-size", "48", "--disable-metrics"),
        *(word for option, value in chosen if value is not None for word in (option, value)),
    ]
    apps: list[Any] = []
    with mock.patch.object(api_server.uvicorn, "run", lambda app, **_: apps.append(app)):
        arguments = command_line().parse_args(command)
        arguments.run(arguments)
    with TestClient(apps[0]) as client:
        yield client


def official(client: TestClient) -> openai.OpenAI:
    """The `openai` client, talking to the app."""
    return openai.OpenAI(base_url=f"{client.base_url}/v1", api_key="none", http_client=client, max_retries=0)
