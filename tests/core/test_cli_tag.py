"""`toolglot tag`: the structural tag of a request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus import std_tools

from toolglot.core import structural_tag
from toolglot.core.cli import main


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(std_tools()), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ("required", "required"),
        ("auto", "auto"),
        ("ping", {"type": "function", "function": {"name": "ping"}}),
        ('{"type": "function", "function": {"name": "add"}}', {"type": "function", "function": {"name": "add"}}),
    ],
)
def test_a_tag(tools_file: str, written: str, choice: object, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tag", "--dialect", "qwen3_coder", "--tools", tools_file, "--tool-choice", written, "--single"]
    assert main([*arguments, "--reasoning", "optional"]) == 0
    expected = structural_tag(
        "qwen3_coder", std_tools(), choice, reasoning="optional", parallel_tool_calls=False  # type: ignore[arg-type]
    )
    assert json.loads(capsys.readouterr().out) == expected


def test_a_wrong_request(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tag", "--dialect", "hermes", "--tools", tools_file, "--tool-choice", "nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err


def test_samples(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Random texts and how they parse: the same for the same seed."""
    pytest.importorskip("xgrammar")
    arguments = ["tag", "--dialect", "hermes", "--tools", tools_file, "--tool-choice", "ping", "--sample", "3"]
    assert main(arguments) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 3
    for line in lines:
        assert [call["name"] for call in line["tool_calls"]] == ["ping"]
        assert line["content"] is None
