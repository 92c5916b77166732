"""LMDeploy's server on the stand-in engine as a context manager, for the demo and the tests.

    with LmdeployServer(model, "toolglot_hermes") as server:
        client = openai.OpenAI(base_url=server.url, api_key="none")
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from engine_server import NAME, EngineServer, ServerError, free_port

__all__ = ["NAME", "LmdeployServer", "ServerError", "said", "say"]

STANDIN = Path(__file__).resolve().parent / "lmdeploy_standin.py"
_SAY = re.compile(r"\[\[say:([A-Za-z0-9+/=]*)\]\]")


def say(text: str) -> str:
    """What to put into a prompt to make the stand-in's model write ``text``."""
    return f"[[say:{base64.b64encode(text.encode()).decode()}]]"


def said(prompt: str) -> str | None:
    """The text that a prompt demands."""
    found = _SAY.findall(prompt)
    return base64.b64decode(found[-1]).decode() if found else None


class LmdeployServer(EngineServer):
    """LMDeploy's own command line and API server; lmdeploy_standin.py says what is replaced."""

    first_phase = "LMDeploy is being imported"
    phases = (("Uvicorn running", "the port is open"), ("HINT", "the port is being opened"))

    def __init__(
        self,
        model: Path,
        tool_parser: str,
        *,
        arguments: Sequence[str] = (),
        host: str = "127.0.0.1",
        port: int | None = None,
        progress: Callable[[str], None] = print,
    ) -> None:
        port = port or free_port()
        command = [
            *(str(STANDIN), "serve", "api_server", str(model), "--model-name", NAME),
            *("--server-name", host, "--server-port", str(port)),
            # Without a GPU the batch size cannot be asked for; metrics need a package that is not needed here.
            *("--backend", "pytorch", "--max-batch-size", "48", "--disable-metrics"),
            *("--tool-call-parser", tool_parser),
            *arguments,
        ]
        super().__init__("lmdeploy", command, port, host=host, progress=progress)
