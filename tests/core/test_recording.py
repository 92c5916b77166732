"""Recordings: what is written, read again, parsed again, redacted and made a corpus line of."""

from __future__ import annotations

import json
import os
import random
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from corpus import SCHEMA, CorpusLine, all_lines, std_tools
from harness import expected_result, make_id, random_splits, to_result
from hypothesis import given, settings
from hypothesis import strategies as st
from soup import WORD
from test_fuzz import soups

from toolglot.core import ConfigurationError, assemble, list_dialects, parse
from toolglot.core.cli import main
from toolglot.core.recording import Recording, corpus_line, differences, from_json, read_recordings, to_json
from toolglot.core.redact import redact, structure
from toolglot.core.serving import record
from toolglot.core.serving.record import Recorder, notice, open_parser
from toolglot.core.serving.settings import from_environment

LINES = all_lines()
HERMES = 'Sure, my dear.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'


def recorded(line: CorpusLine, seed: str = "") -> Recording:
    """A corpus line as a recording of this version."""
    (chunks,) = random_splits(line.raw, 1, seed + str(line))
    chunks = [chunk for chunk in chunks if chunk]
    tools = None if line.tools is None else list(line.tools)
    return Recording(line.dialect, tools, dict(line.options), chunks, finish_reason=line.finish_reason).again()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    record._recorder.cache_clear()
    yield tmp_path / "responses.jsonl"
    record._recorder.cache_clear()


def write(path: Path, raw: str, dialect: str = "hermes", chunk: int = 7, **options: Any) -> list[Any]:
    """One response, recorded."""
    parser = open_parser(dialect, engine="test", record=str(path), **options)
    deltas = [delta for at in range(0, len(raw), chunk) for delta in parser.feed(raw[at : at + chunk])]
    return deltas + parser.finish("stop")


# -- writing ----------------------------------------------------------------------------------------------------


def test_off_by_default() -> None:
    assert from_environment({}).record == ""
    assert type(open_parser("hermes", engine="test")).__name__ == "ResponseParser"


@pytest.mark.parametrize("line", LINES[::7], ids=str)
def test_what_is_recorded(line: CorpusLine, file: Path) -> None:
    """Chunks and deltas as they were; with the request, all that is needed to parse them again."""
    deltas = write(file, line.raw, line.dialect, tools=line.tools, make_id=make_id, **line.options)
    assert to_result(assemble(deltas)) == expected_result(line) or line.finish_reason
    if not line.raw:
        return
    ((_, recording),) = read_recordings(str(file))
    assert recording.text == line.raw and max(map(len, recording.chunks)) <= 7
    assert [delta for _, delta in recording.deltas] == deltas
    assert recording.engine == "test" and recording.toolglot and recording.time
    assert not list(differences(recording, recording.again()))


def test_responses_are_appended_and_the_file_is_private(file: Path) -> None:
    for index in range(3):
        write(file, f"answer {index}")
    assert [recording.text for _, recording in read_recordings(str(file))] == [f"answer {index}" for index in range(3)]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_others_may_read_is_made_private(file: Path) -> None:
    file.touch(0o644)
    write(file, "answer")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_parser_that_is_never_fed_or_never_finished_leaves_no_line(file: Path) -> None:
    open_parser("hermes", engine="test", record=str(file))
    open_parser("hermes", engine="test", record=str(file)).feed("half an answer")
    assert not file.exists()


def test_finish_twice_is_one_line(file: Path) -> None:
    parser = open_parser("hermes", engine="test", record=str(file))
    parser.feed("answer")
    parser.finish()
    parser.finish()
    assert len(read_recordings(str(file))) == 1


def test_a_full_file_stops_growing_and_says_so_once(file: Path) -> None:
    said: list[str] = []
    recorder = Recorder(str(file), "test", said.append, limit=1000)
    recording = Recording("hermes", chunks=["x" * 400])
    for _ in range(5):
        recorder.write(recording)
    assert file.stat().st_size <= 1000
    assert len(read_recordings(str(file))) == 2
    assert len(said) == 1 and "full" in said[0]


def test_a_long_response_is_recorded_up_to_a_limit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LONGEST", 50)
    deltas = write(file, "word " * 100)
    assert assemble(deltas).content == "word " * 100
    ((_, recording),) = read_recordings(str(file))
    assert recording.text == ("word " * 100)[:49] and not recording.finished
    assert not list(differences(recording, recording.again()))


@pytest.mark.parametrize("what", ["folder", "link", "fifo", "nowhere"])
def test_recording_never_costs_a_response(what: str, file: Path) -> None:
    if what == "folder":
        file.mkdir()
    elif what == "link":
        (file.parent / "target").touch()
        file.symlink_to(file.parent / "target")
    elif what == "fifo":
        os.mkfifo(file)
    else:
        file = file.parent / "none" / "file"
    said: list[str] = []
    for _ in range(2):
        parser = open_parser("hermes", engine="test", record=str(file), report=said.append, tools=std_tools())
        message = assemble([*parser.feed(HERMES), *parser.finish()])
        assert message.content == "Sure, my dear." and message.tool_calls[0].name == "add"
    assert len(said) == 1 and str(file) in said[0]
    if what == "link":
        assert (file.parent / "target").stat().st_size == 0


def test_setting(tmp_path: Path) -> None:
    read = from_environment({"TOOLGLOT_RECORD": str(tmp_path / "f")})
    assert read.record == str(tmp_path / "f")
    assert not read.problems and not (tmp_path / "f").exists()
    for wrong in (tmp_path, tmp_path / "none" / "f"):
        read = from_environment({"TOOLGLOT_RECORD": str(wrong)})
        assert read.record == "" and "cannot be written" in read.problems[0]
    assert "/var/f" in notice("/var/f") and "TOOLGLOT_RECORD" in notice("/var/f")


def test_a_defect_is_recorded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = open_parser("hermes", engine="test", record=str(file))
    parser.feed("Hi <tool")
    monkeypatch.setattr(parser._machine, "advance", lambda final: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        parser.feed("_call>")
    assert assemble(parser.abandon("_call>")).content == "<tool_call>"
    ((_, recording),) = read_recordings(str(file))
    assert recording.defect and recording.text == "Hi <tool_call>"


def test_controls_are_recorded(file: Path) -> None:
    parser = open_parser("mistral", engine="test", record=str(file), tools=std_tools())
    for text, spans in (("a [TOOL_CALLS]ping ", []), ("[TOOL_CALLS]ping[ARGS]{}", [(0, 12), (16, 22)])):
        parser.feed(text, spans)
    parser.finish()
    ((_, recording),) = read_recordings(str(file))
    assert recording.message.content == "a [TOOL_CALLS]ping " and len(recording.message.tool_calls) == 1
    assert not list(differences(recording, recording.again()))
    assert recording.trace().message == recording.message


# -- parsing again ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", LINES[::3], ids=str)
def test_json_and_again(line: CorpusLine) -> None:
    recording = recorded(line)
    assert from_json(to_json(recording)) == recording
    assert not list(differences(recording, recording.again()))


def test_differences() -> None:
    recording = Recording("hermes", std_tools(), {}, [HERMES[:30], HERMES[30:]]).again()
    found = list(differences(recording, recording.again("llama4_pythonic")))
    assert [name for name, _, _ in found] == ["content", "call 0"]
    assert found[1][2] == "none"
    worse = replace(recording, anomalies={"noise": 1})
    assert [name for name, _, _ in differences(worse, recording)] == ["counters"]
    late = replace(recording, deltas=[(2, delta) for _, delta in recording.deltas])
    assert [name for name, _, _ in differences(late, recording)] == ["delta 0, with the same message"]


@pytest.mark.parametrize("line", LINES[::3], ids=str)
def test_corpus_line(line: CorpusLine) -> None:
    """A recorded corpus line becomes that line again, whatever its chunks were."""
    made = corpus_line(recorded(line), "https://example.com/issue/1")
    jsonschema.validate(made, SCHEMA)
    assert made["expected"] == {**line.expected, "tool_calls": [dict(call) for call in line.expected["tool_calls"]]}
    assert made.get("options", {}) == dict(line.options) and made.get("finish_reason") == line.finish_reason


# -- redaction --------------------------------------------------------------------------------------------------


def test_structure_survives_redaction() -> None:
    """Nearly everywhere: what a format decides by a value's content is lost with it."""
    some = [recorded(line) for line in LINES[::4]]
    kept = sum(structure(redact(recording).again()) == structure(recording) for recording in some)
    assert kept >= 0.97 * len(some)


def test_redaction() -> None:
    tools = [
        {
            "type": "function",
            "function": {
                "name": "send_mail",
                "description": "Acme internal",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string", "description": "of Acme", "enum": ["Acme", "Other"]},
                        "count": {"type": "integer", "default": 77},
                    },
                },
            },
        }
    ]
    raw = (
        "Dear Zoë, 42!\n<tool_call>\n"
        '{"name": "send_mail", "arguments": {"title": "Acme\\u00e9\\n\\"q\\"", "count": -9.5e3, "on": true}, '
        '"why": "Acme"}\n</tool_call>'
    )
    recording = Recording("hermes", tools, {}, [raw[:20], raw[20:70], raw[70:]]).again()
    redacted = redact(recording)
    assert redacted.text == (
        "xxxx xxx, 11!\n<tool_call>\n"
        '{"name": "send_mail", "arguments": {"title": "xxxx\\u0078\\n\\"x\\"", "count": -1.1e1, "xx": true}, '
        '"xxx": "xxxx"}\n</tool_call>'
    )
    assert list(map(len, redacted.chunks)) == [20, 50, len(raw) - 70]
    assert redacted.tools is not None
    assert redacted.tools[0]["function"] == {
        "name": "send_mail",
        "parameters": {
            "type": "object",
            "properties": {"title": {"type": "string", "enum": ["xxxx", "xxxxx"]}, "count": {"type": "integer"}},
        },
    }
    assert not list(differences(redacted, redacted.again()))


@pytest.mark.parametrize("dialect", list_dialects())
def test_no_content_survives_redaction(dialect: str) -> None:
    @settings(max_examples=settings.default.max_examples // 10 or 1)  # type: ignore[union-attr]
    @given(text=soups(dialect), tools=st.booleans(), seed=st.integers(0, 99))
    def soup(text: str, tools: bool, seed: int) -> None:
        (chunks,) = random_splits(text, 1, str(seed))
        recording = Recording(dialect, std_tools() if tools else None, {}, chunks).again()
        redacted = redact(recording)
        assert not WORD.search(to_json(redacted)), to_json(redacted)
        assert list(map(len, redacted.chunks)) == list(map(len, chunks))
        redacted.again()

    soup()


# -- the command ------------------------------------------------------------------------------------------------


def run(argv: list[str]) -> int:
    try:
        return main(argv)
    except SystemExit as stop:
        return int(stop.code or 0)


def test_replay(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(file, HERMES, tools=std_tools())
    write(file, "answer")
    assert run(["replay", str(file)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"1  hermes, 13 chunks, {len(HERMES)} characters (test, toolglot ") and "the same" in first
    assert second.startswith("2  hermes, 1 chunks, 6 characters")
    assert run(["replay", "--dialect", "qwen3_coder", str(file)]) == 1
    out = capsys.readouterr().out
    assert "1  qwen3_coder" in out and ": otherwise\n     content\n       recorded " in out
    assert run(["replay", "--number", "2", "--dialect", "qwen3_coder", str(file)]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_replay_of_a_bug_that_was_fixed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an older version made of it is in the file."""
    write(file, HERMES, tools=std_tools())
    file.write_text(file.read_text(encoding="utf-8").replace("Sure, my dear.", "Sure, my bear.", 1), encoding="utf-8")
    write(file, HERMES, tools=std_tools())
    data = json.loads(file.read_text(encoding="utf-8").splitlines()[1])
    data["deltas"] = data["deltas"][:1]
    file.write_text(json.dumps(data) + "\n", encoding="utf-8")
    assert run(["replay", str(file)]) == 1
    assert "call 0\n       recorded none\n       now      {" in capsys.readouterr().out


def test_redact_and_corpus_commands(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(file, HERMES, tools=std_tools())
    assert run(["replay", "--redact", str(file)]) == 0
    captured = capsys.readouterr()
    assert "dear" not in captured.out and captured.err == ""
    redacted = from_json(captured.out)
    assert redacted.message.tool_calls[0].arguments == '{"a": 1, "b": 1}'
    assert run(["replay", "--corpus", "https://example.com/1", "--number", "1", str(file)]) == 0
    made = json.loads(capsys.readouterr().out)
    jsonschema.validate(made, SCHEMA)
    message = parse(made["raw"], "hermes", made["tools"])
    assert made["expected"]["content"] == message.content == "Sure, my dear."


def test_redaction_that_changes_the_result_is_said(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A word where the schema wants a number, a number once its letters are gone."""
    call = "<tool_call>\n<function=add>\n<parameter=a>\n%s\n</parameter>\n</function>\n</tool_call>"
    write(file, call % "1", "qwen3_coder", tools=std_tools())
    assert run(["replay", "--redact", str(file)]) == 0
    assert capsys.readouterr().err == ""
    write(file, call % "0x1", "qwen3_coder", tools=std_tools())
    write(file, call % "1e99999", "qwen3_coder", tools=std_tools())
    assert run(["replay", "--redact", "--number", "3", str(file)]) == 0
    assert capsys.readouterr().err == "toolglot: response 3 is parsed otherwise without its content\n"


def test_explain_of_a_recording(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(file, HERMES, tools=std_tools())
    assert run(["explain", "--recorded", "1", str(file)]) == 0
    assert "call 0 'add' begins" in capsys.readouterr().out


def test_a_line_that_was_cut(file: Path) -> None:
    write(file, "one")
    write(file, "two")
    file.write_bytes(file.read_bytes()[:-20])
    assert [recording.text for _, recording in read_recordings(str(file))] == ["one"]


WRONG = [
    "", "{", "[]", "1", '"a"', "null", '{"dialect": 3}', '{"dialect": "hermes", "chunks": 3}', "{}",
    '{"dialect": "hermes", "chunks": [3]}', '{"dialect": "hermes", "deltas": [3]}',
    '{"dialect": "hermes", "deltas": [[0, {"kind": "none"}]]}', '{"dialect": "hermes", "deltas": [[0, {}]]}',
    '{"dialect": "hermes", "deltas": [[0, {"kind": "tool_call", "index": 5, "arguments": "x"}]]}',
    '{"dialect": "hermes", "deltas": [[0, {"kind": "content", "text": 5}]]}', '{"dialect": "hermes", "more": 1}',
    '{"dialect": "hermes", "options": {"more": 1}}', '{"dialect": "hermes", "options": []}',
    '{"dialect": "hermes", "controls": {"x": 1}}',
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG[1:])
def test_wrong_lines(text: str) -> None:
    with pytest.raises(ConfigurationError, match="no recorded response"):
        from_json(text)


def test_any_wrong_line() -> None:
    """A line with a character changed is read, or refused; nothing else."""
    good = to_json(Recording("hermes", std_tools(), {"reasoning": False}, ["a", "<tool_call>"]).again())
    dice = random.Random(1)
    for _ in range(2000):
        at = dice.randrange(len(good))
        text = good[:at] + dice.choice('{}[]",:0x\\ ') + good[at + 1 :]
        try:
            from_json(text)
        except ConfigurationError:
            continue


def test_command_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, wrong, binary, unknown = (tmp_path / name for name in ("empty", "wrong", "binary", "unknown"))
    empty.touch()
    wrong.write_text('{"dialect": 3}\n', encoding="utf-8")
    binary.write_bytes(b"\x7fELF\xff" * 50)
    unknown.write_text('{"dialect": "hermess"}\n', encoding="utf-8")
    assert run(["replay", str(empty)]) == 0
    for argv, say in (
        ([str(tmp_path / "none")], "none"),
        ([str(wrong)], "wrong:1: no recorded response"),
        ([str(binary)], "utf-8"),
        ([str(unknown)], "unknown dialect"),
        (["--redact", str(unknown)], "unknown dialect"),
        (["--number", "1", str(empty)], "holds 0 responses"),
    ):
        capsys.readouterr()
        assert run(["replay", *argv]) == 2
        captured = capsys.readouterr()
        assert say in captured.err and captured.err.count("\n") == 1 and captured.out == ""
