"""The documented example for `transformers` alone: it runs, and what it forces is a valid call."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch
from tiny_model import tiny_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from toolglot.core import assemble, get_dialect

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "with_transformers.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("with_transformers", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loaded() -> tuple[Any, Any]:
    path = tiny_model()
    return AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)


@pytest.mark.parametrize("dialect", ["hermes", "qwen3_coder", "deepseek_v31", "kimi_k2", "llama4_pythonic"])
def test_required(example: Any, loaded: tuple[Any, Any], dialect: str) -> None:
    torch.manual_seed(3)
    messages = [{"role": "user", "content": "Weather?"}]
    message = assemble(
        list(
            example.respond(*loaded, get_dialect(dialect), messages, "required", {"enable_thinking": False},
                            do_sample=True, max_new_tokens=300)
        )
    )  # fmt: skip
    assert message.tool_calls and not message.reasoning and not (message.content or "").strip()
    for call in message.tool_calls:
        assert call.name == "get_weather"
        if call.complete:
            jsonschema.validate(json.loads(call.arguments), example.TOOLS[0]["function"]["parameters"])
    assert message.tool_calls[0].complete


def test_free_text(example: Any, loaded: tuple[Any, Any]) -> None:
    """Without a grammar the text is content, the token that ends the turn is not."""
    torch.manual_seed(3)
    model, tokenizer = loaded
    messages = [{"role": "user", "content": "Hello"}]
    message = assemble(
        list(example.respond(model, tokenizer, get_dialect("hermes"), messages, do_sample=True, max_new_tokens=40))
    )
    assert message.content and tokenizer.eos_token not in message.content


def test_the_script() -> None:
    run = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0].startswith("ToolCallDelta(index=0, id=")
    assert "\nget_weather({" in run.stdout
