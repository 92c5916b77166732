"""Tests of the plugin inside vLLM. Without vLLM they fail, they are not skipped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

try:
    import vllm  # noqa: F401
except ImportError as error:
    raise RuntimeError(
        "tests/vllm needs vLLM in this environment: `make test` installs its CPU build. "
        "The tests that need no engine are `make test-core`, or `pytest tests/core`."
    ) from error

_HERE = Path(__file__).resolve().parent
_SCRIPTS = _HERE.parent.parent / "scripts"
for _folder in (_HERE, _SCRIPTS):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
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

    return AutoTokenizer.from_pretrained(model)


@pytest.fixture(scope="session", autouse=True)
def plugin() -> Iterator[None]:
    """The plugin, loaded as vLLM loads it: through the entry point."""
    from vllm.plugins import load_general_plugins

    load_general_plugins()
    yield
