"""Tests of both plugins side by side. Without the engines they fail, they are not skipped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

_TESTS = Path(__file__).resolve().parent.parent
for _folder in (_TESTS / "core", _TESTS / "vllm", _TESTS / "lmdeploy"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

try:
    import torch
    import vllm  # noqa: F401
    from lmdeploy.serve.parsers import ResponseParserManager  # noqa: F401
    from vllm.plugins import load_general_plugins
except ImportError as error:
    raise RuntimeError(
        "tests/engines needs vLLM and LMDeploy in this environment: `make test` installs them."
    ) from error

load_general_plugins()


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """A tokenizer with the markers of all dialects."""
    from tiny_model import tiny_model
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    return AutoTokenizer.from_pretrained(tiny_model())
