"""Tests of the plugin inside LMDeploy. Without LMDeploy they fail, they are not skipped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

try:
    import torch  # calls the entry point that waits for LMDeploy's parsers
    from lmdeploy.serve.parsers import ResponseParserManager
except ImportError as error:
    raise RuntimeError(
        "tests/lmdeploy needs LMDeploy in this environment: `make test` installs it. "
        "The tests that need no engine are `make test-core`, or `pytest tests/core`."
    ) from error

_HERE = Path(__file__).resolve().parent
if str(_HERE) not in sys.path:
    sys.path.insert(0, str(_HERE))
sys.path.append(str(_HERE.parent / "core"))  # families.py


@pytest.fixture(scope="session")
def model() -> Path:
    """A tiny model with random weights, made once and kept under .cache."""
    from tiny_model import tiny_model

    return tiny_model()


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> Any:
    """Its tokenizer, with the markers of all dialects."""
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    return AutoTokenizer.from_pretrained(model)


@pytest.fixture(autouse=True)
def own_parsers(request: pytest.FixtureRequest) -> Iterator[None]:
    """LMDeploy keeps the choice of parsers on a class: each test begins and ends without one, but for a running app."""
    yield
    if "app" in request.fixturenames:
        return
    for name in ("default", "gpt-oss"):
        parser = ResponseParserManager.get(name)
        parser.chosen = None
        for attribute in ("tool_parser_cls", "reasoning_parser_cls", "tokenizer"):
            if attribute in vars(parser):
                delattr(parser, attribute)
