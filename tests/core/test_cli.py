"""`toolglot parse`: raw model text in, the message or the deltas out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from corpus import all_lines, std_tools

from toolglot.core import list_dialects
from toolglot.core.cli import main

RAW = 'Let me add.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2.0}}\n</tool_call>'


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(std_tools()), encoding="utf-8")
    return str(path)


@pytest.fixture
def raw_file(tmp_path: Path) -> str:
    path = tmp_path / "raw.txt"
    path.write_bytes(RAW.encode())
    return str(path)


def run(argv: list[str]) -> int:
    """The exit status, whether it is returned or raised."""
    try:
        return main(argv) or 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)


def joined(deltas: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"content": "", "reasoning": "", "tool_calls": []}
    for delta in deltas:
        if delta["kind"] in ("content", "reasoning"):
            message[delta["kind"]] += delta["text"]
            continue
        if delta.get("name"):
            message["tool_calls"].append({"id": delta["id"], "name": delta["name"], "arguments": ""})
        message["tool_calls"][delta["index"]]["arguments"] += delta.get("arguments") or ""
    return message


def test_message(raw_file: str, tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--dialect", "hermes", "--tools", tools_file, raw_file]) == 0
    message = json.loads(capsys.readouterr().out)
    assert message["content"] == "Let me add."
    assert message.get("reasoning") is None
    (call,) = message["tool_calls"]
    assert call["name"] == "add"
    assert call["arguments"] == '{"a": 1, "b": 2.0}'
    assert call["complete"] is True
    assert call["id"]


def test_without_tools(raw_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--dialect", "hermes", raw_file]) == 0
    assert json.loads(capsys.readouterr().out)["tool_calls"][0]["name"] == "add"


@pytest.mark.parametrize("chunk", ["1", "4", "100000"])
def test_stream(raw_file: str, tools_file: str, chunk: str, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lines, identity first, and the same message whatever the chunk size."""
    assert run(["parse", "--dialect", "hermes", "--tools", tools_file, "--chunk", chunk, "--stream", raw_file]) == 0
    deltas = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    tool = [delta for delta in deltas if delta["kind"] == "tool_call"]
    assert tool[0]["name"] == "add" and tool[0]["index"] == 0 and tool[0]["id"]
    message = joined(deltas)
    assert message["content"] == "Let me add."
    assert message["tool_calls"][0]["arguments"] == '{"a": 1, "b": 2.0}'
    if chunk == "1":
        assert len(deltas) > 10


def test_chunk_without_stream(raw_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--dialect", "hermes", "--chunk", "3", raw_file]) == 0
    assert json.loads(capsys.readouterr().out)["content"] == "Let me add."


def test_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Stdin(io.TextIOWrapper):
        """Text and bytes, as a real standard input."""

    monkeypatch.setattr("sys.stdin", Stdin(io.BytesIO(RAW.encode()), encoding="utf-8"))
    assert run(["parse", "--dialect", "hermes"]) == 0
    assert json.loads(capsys.readouterr().out)["content"] == "Let me add."


def test_text_is_read_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No newline is translated, non-ASCII text survives."""
    path = tmp_path / "raw.txt"
    path.write_bytes("a\r\nü 東京 😀\r\n".encode())
    assert run(["parse", "--dialect", "hermes", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["content"] == "a\r\nü 東京 😀\r\n"


def test_corpus_raw_text(tmp_path: Path, tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a dialect, through a file: what the corpus expects."""
    for dialect in list_dialects():
        line = next(
            line
            for line in all_lines()
            if line.dialect == dialect
            and not line.options
            and not line.finish_reason
            and line.tools is std_tools()
            and line.expected["tool_calls"]
        )
        path = tmp_path / f"{dialect}.txt"
        path.write_bytes(line.raw.encode())
        assert run(["parse", "--dialect", dialect, "--tools", tools_file, str(path)]) == 0
        message = json.loads(capsys.readouterr().out)
        assert message.get("content") == line.expected["content"]
        got = [(call["name"], call["arguments"]) for call in message["tool_calls"]]
        assert got == [(call["name"], call["arguments"]) for call in line.expected["tool_calls"]]


def test_errors_are_one_line(raw_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong request ends with a status other than 0 and a message that says what, no traceback."""
    broken = tmp_path / "broken.json"
    broken.write_text("[{", encoding="utf-8")
    wrong = tmp_path / "wrong.json"
    wrong.write_text('[{"type": "function"}]', encoding="utf-8")
    for argv, say in (
        (["parse", "--dialect", "hermess", raw_file], "hermes"),
        (["parse", raw_file], "--dialect"),
        (["parse", "--dialect", "hermes", str(tmp_path / "missing.txt")], "missing.txt"),
        (["parse", "--dialect", "hermes", "--tools", str(tmp_path / "none.json"), raw_file], "none.json"),
        (["parse", "--dialect", "hermes", "--tools", str(broken), raw_file], "broken.json"),
        (["parse", "--dialect", "hermes", "--tools", str(wrong), raw_file], "0"),
        (["parse", "--dialect", "hermes", "--chunk", "0", raw_file], "chunk"),
    ):
        assert run(argv) != 0, argv
        captured = capsys.readouterr()
        assert say in captured.err, argv
        assert "Traceback" not in captured.err
        assert captured.out == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("toolglot ")


def test_doctor_runs_the_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core only knows their names; the worst status is its own."""
    import sys
    import types

    for name, status in (("doctor_a", 0), ("doctor_b", 1)):
        module = types.ModuleType(name)
        module.main = lambda status=status: status  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("toolglot.core.commands.doctor.DOCTORS", ("doctor_a", "doctor_b"))
    assert run(["doctor"]) == 1
