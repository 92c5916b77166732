"""Data parallelism: `--dp 2` makes LMDeploy spawn a server a rank, and each of them has the parsers."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import openai
from engine_server import free_port
from lmdeploy.serve.openai.launch_server import get_host_ip
from lmdeploy_server import NAME, LmdeployServer, say

CALL = '<tool_call>\n{"name": "ping", "arguments": {"a": 1}}\n</tool_call>'
PING = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}}


def two_ports() -> int:
    """A port that is free, and so is the next one."""
    while True:
        port = free_port()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port + 1)) != 0:
                return port


def test_children_have_the_parsers(model: Path) -> None:
    host, port = get_host_ip(), two_ports()
    arguments = ["--dp", "2", "--tp", "2"]
    with LmdeployServer(model, "toolglot_hermes", arguments=arguments, host=host, port=port) as server:
        for rank in range(2):
            server.wait_for(port + rank)
            client = openai.OpenAI(base_url=f"http://{host}:{port + rank}/v1", api_key="none", max_retries=0)
            for text in (f"One{CALL}", "`<tool_call>`"):  # of the latter LMDeploy's own parser keeps "`"
                answer = client.chat.completions.create(
                    model=NAME, messages=[{"role": "user", "content": say(text)}], tools=[PING]  # type: ignore[list-item]
                )
                message = answer.choices[0].message
                assert message.content == text.removesuffix(CALL)
                calls = [json.loads(call.function.arguments) for call in message.tool_calls or ()]  # type: ignore[union-attr]
                assert calls == ([{"a": 1}] if text.startswith("One") else [])
