"""A vLLM server as a context manager, for the demo and the tests.

    with VllmServer(model, "toolglot_hermes") as server:
        client = openai.OpenAI(base_url=server.url, api_key="none")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine_server import NAME, EngineServer, ServerError, free_port

__all__ = ["NAME", "ServerError", "VllmServer"]


class VllmServer(EngineServer):
    """The engine's own OpenAI server, unmodified, with the options that matter here."""

    first_phase = "vLLM is being imported"
    phases = (
        ("Available routes", "the port is being opened"),
        ("Starting to load model", "the worker loads the model"),
        ("Initializing a V1 LLM engine", "the engine starts its worker"),
        ("Resolved architecture", "the engine process starts"),
        ("non-default args", "the model's configuration is checked"),
    )

    def __init__(
        self,
        model: Path,
        tool_parser: str,
        *,
        arguments: Sequence[str] = (),
        environment: dict[str, str] | None = None,
        progress: Callable[[str], None] = print,
    ) -> None:
        port = free_port()
        command = [
            *("-m", "vllm.entrypoints.openai.api_server"),
            *("--model", str(model), "--served-model-name", NAME),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--max-model-len", "2048", "--dtype", "float32", "--enforce-eager"),
            *("--enable-auto-tool-choice", "--tool-call-parser", tool_parser),
            *arguments,
        ]
        settings = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", **(environment or {})}
        super().__init__("vllm", command, port, environment=settings, progress=progress)
