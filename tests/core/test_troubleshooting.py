"""docs/troubleshooting.md: every command on the page runs."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from pathlib import Path

import pytest
from corpus import std_tools

from toolglot.core.cli import main
from toolglot.core.serving.record import LIMIT, LONGEST, open_parser

PAGE = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    if line.startswith("toolglot ")
]
ANSWER = 'Yes.\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'


def test_commands_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(COMMANDS) == 8
    monkeypatch.chdir(tmp_path)
    Path("answer.txt").write_text(ANSWER, encoding="utf-8")
    Path("tools.json").write_text(json.dumps(std_tools()), encoding="utf-8")
    parser = open_parser("hermes", engine="test", record="responses.jsonl", tools=std_tools())
    parser.feed(ANSWER)
    parser.finish()
    for command in COMMANDS:
        words = shlex.split(command)[1:]
        with contextlib.ExitStack() as stack:
            if ">" in words:
                at = words.index(">")
                file = stack.enter_context(open(words[at + 1], "w", encoding="utf-8"))
                stack.enter_context(contextlib.redirect_stdout(file))
                words = words[:at]
            status = main(words)
        captured = capsys.readouterr()
        assert status == ("qwen3_coder" in words), command
        assert captured.err == "", command
        assert captured.out or "--html" in words or ">" in command, command


def test_the_figures_of_the_page() -> None:
    assert "stops growing at 64 MiB" in PAGE and LIMIT == 64 << 20
    assert "4 million\ncharacters" in PAGE and 4_000_000 <= LONGEST < 5_000_000
