"""Every command of `toolglot`, given what it cannot use: one line that says what, a status, and no traceback.

Statuses: 2 for a wrong request, 1 for a reader that went away, 130 for Ctrl-C.
"""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpus import std_tools
from test_commands import BY_NAME, write

from toolglot.core import commands
from toolglot.core.cli import main

HERMES = ("--dialect", "hermes")
# Each command with everything it needs; FILE and MODEL are what the tests replace.
GOOD: dict[str, tuple[str, ...]] = {
    "check": ("check", "MODEL"),
    "detect": ("detect", "MODEL"),
    "dialects": ("dialects",),
    "doctor": ("doctor", "MODEL"),
    "explain": ("explain", *HERMES, "FILE"),
    "parse": ("parse", *HERMES, "FILE"),
    "replay": ("replay", "FILE"),
    "tag": ("tag", *HERMES, "--tools", "FILE"),
}
DEEP = "[" * 100_000
NOT_UTF8 = b"\x7fELF\x00\xff" * 100


@pytest.fixture(autouse=True)
def no_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolglot.core.commands.doctor.DOCTORS", ())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The line that says why."""
    try:
        status: object = main(argv)
    except SystemExit as stop:
        status = stop.code
    captured = capsys.readouterr()
    assert status == 2, captured
    assert captured.err.endswith("\n") and captured.err.count("\n") == 1, captured.err
    assert captured.err.startswith("toolglot") and "Traceback" not in captured.err
    return captured.err


def test_no_command_is_left_out() -> None:
    assert set(GOOD) == {found.name for found in pkgutil.iter_modules(commands.__path__)}


@pytest.mark.parametrize("command", GOOD)
def test_wrong_arguments(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--nosuch" in refused(capsys, *GOOD[command], "--nosuch")
    assert "nosuch" in refused(capsys, "nosuch")


def test_no_command_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert "COMMAND" in refused(capsys)


# -- files ------------------------------------------------------------------------------------------------------


def with_files() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Commands that read files, and which of their words is one: the others are as they should be."""
    for command, words in GOOD.items():
        if "FILE" in words:
            yield command, words
    for command in ("explain", "parse"):
        yield command, (command, *HERMES, "--tools", "FILE", "answer.txt")
    yield "explain", ("explain", "--recorded", "1", "FILE")
    for more in (("--redact",), ("--corpus", "URL")):
        yield "replay", ("replay", *more, "FILE")


FILES = [pytest.param(words, id=" ".join(words)) for _, words in with_files()]


@pytest.mark.parametrize("words", FILES)
@pytest.mark.parametrize("content", [None, "folder", NOT_UTF8], ids=["missing", "folder", "binary"])
def test_files(
    words: tuple[str, ...], content: bytes | str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "answer.txt").write_text("Hi", encoding="utf-8")
    if content == "folder":
        (folder / "given").mkdir()
    elif isinstance(content, bytes):
        (folder / "given").write_bytes(content)
    assert "given" in refused(capsys, *(word.replace("FILE", "given") for word in words))


JSON_FILES = [pytest.param(words, id=" ".join(words)) for _, words in with_files() if words[1:] != (*HERMES, "FILE")]


@pytest.mark.parametrize("words", JSON_FILES)
@pytest.mark.parametrize(
    "content", ["[{", DEEP, '"text"', '{"a": 1}', "[5]", '[{"type": "function"}]'], ids=lambda text: text[:30]
)
def test_json(words: tuple[str, ...], content: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No JSON, JSON that is nested too deep, and JSON of another form."""
    (folder / "answer.txt").write_text("Hi", encoding="utf-8")
    (folder / "given").write_text(content + "\n", encoding="utf-8")
    line = refused(capsys, *(word.replace("FILE", "given") for word in words))
    assert "given" in line or "tool" in line


@pytest.mark.parametrize(
    "choice",
    ["{", '{"a":' * 100_000, '{"a": 1}', '{"type": "function", "function": 5}', "nosuch"],
    ids=["no JSON", "too deep", "another form", "no name", "not offered"],
)
def test_tool_choice(choice: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "tools.json").write_text(json.dumps(std_tools()), encoding="utf-8")
    line = refused(capsys, "tag", *HERMES, "--tools", "tools.json", "--tool-choice", choice)
    assert "tool_choice" in line or "--tool-choice" in line


@pytest.mark.parametrize(
    "line",
    [
        "5",
        "[]",
        "{}",
        '{"dialect": 5}',
        '{"dialect": "hermes", "tools": 5, "options": {}, "chunks": ["a"]}',
        '{"dialect": "hermes", "tools": null, "options": 5, "chunks": []}',
        '{"dialect": "hermes", "tools": null, "options": {"arguments": "x"}, "chunks": ["a"]}',
        '{"dialect": "hermes", "tools": null, "options": {}, "chunks": [5]}',
        '{"dialect": "hermes", "tools": null, "options": {}, "chunks": ["a"], "deltas": [[0, {"kind": "x"}]]}',
        '{"dialect": "hermes", "tools": null, "options": {}, "chunks": ["a"], "controls": {"x": 5}}',
        '{"dialect": "hermes", "tools": null, "options": {}, "chunks": ["a"], "engine": 5}',
        '{"dialect": "hermes", "tools": null, "options": {}, "chunks": ["a"], "nosuch": 5}',
        DEEP,
    ],
    ids=lambda line: line[:90],
)
def test_recordings(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "given").write_text(line + "\n", encoding="utf-8")
    for words in (("replay",), ("replay", "--redact"), ("replay", "--corpus", "URL"), ("explain", "--recorded", "1")):
        said = refused(capsys, *words, "given")
        assert "given:1: " in said or "tools must be" in said or "arguments='x'" in said


# -- dialects and models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [command for command in GOOD if command not in ("detect", "dialects")])
@pytest.mark.parametrize("dialect", ["hermess", "", "her\nmes", "\x1b[31m"])
def test_wrong_dialect(command: str, dialect: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = '{"dialect": "hermes", "tools": null, "options": {}, "chunks": ["a"]}\n'
    content = {"replay": recorded, "tag": json.dumps(std_tools())}.get(command, "Hi")
    (folder / "given").write_text(content, encoding="utf-8")
    model = write(folder / "model", BY_NAME["Qwen3"])
    words = [word for word in GOOD[command] if word not in HERMES]
    words = [{"FILE": "given", "MODEL": model}.get(word, word) for word in words]
    if command == "replay" and not dialect:
        return  # as if it were not there
    line = refused(capsys, *words, "--dialect", dialect)
    assert "unknown dialect" in line and "hermes" in line


MODELS = [command for command, words in GOOD.items() if "MODEL" in words]
BROKEN: dict[str, dict[str, str | bytes]] = {
    "no tokenizer": {},
    "no JSON": {"tokenizer_config.json": "{"},
    "binary": {"tokenizer.json": NOT_UTF8},
    "too deep": {"tokenizer_config.json": DEEP},
    "a list": {"tokenizer.json": "[1]"},
    "a text": {"tokenizer_config.json": '"x"'},
    "vocabulary is a number": {"tokenizer.json": '{"model": {"vocab": 5}}'},
    "vocabulary file is a list": {"vocab.json": "[]"},
    "tokens are numbers": {"tokenizer.json": '{"added_tokens": [1, 2]}'},
    "tokens have no text": {"tokenizer.json": '{"added_tokens": [{"id": 3}]}'},
    "tokens are a list": {"tokenizer_config.json": '{"added_tokens_decoder": [1]}'},
    "control tokens are numbers": {"tekken.json": '{"special_tokens": [5]}'},
    "templates are numbers": {"tokenizer_config.json": '{"chat_template": [5]}'},
    "template without text": {"tokenizer_config.json": '{"chat_template": [{"name": "default"}]}'},
    "binary template": {"chat_template.jinja": b"\xff\xfe\xfd"},
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("command", MODELS)
@pytest.mark.parametrize("more", [(), HERMES], ids=["found", "told"])
def test_unreadable_tokenizer(
    command: str, more: tuple[str, ...], broken: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = folder / "model"
    model.mkdir()
    for name, content in BROKEN[broken].items():
        (model / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert "model" in refused(capsys, command, "model", *(more if command != "detect" else ()))


@pytest.mark.parametrize("command", MODELS)
@pytest.mark.parametrize("path", ["nosuch", "Some/Model", "a\0b", ""])
def test_no_model(command: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, command, path)


def test_where_the_page_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "answer.txt").write_text("Hi", encoding="utf-8")
    for page in ("nosuch/page.html", "."):
        assert page in refused(capsys, "explain", *HERMES, "--html", page, "answer.txt")


# -- pipes and signals ------------------------------------------------------------------------------------------


def prepared(command: str, folder: Path) -> list[str]:
    """A command line that works."""
    (folder / "parse").write_text("Hi\n" * 9, encoding="utf-8")
    (folder / "explain").write_text("é\n", encoding="utf-8")
    (folder / "tag").write_text(json.dumps(std_tools()), encoding="utf-8")
    recorded = {"dialect": "hermes", "tools": None, "options": {}, "chunks": ["a\ud800"]}
    (folder / "replay").write_text(json.dumps(recorded) + "\n", encoding="utf-8")
    model = write(folder / "model", BY_NAME["Qwen3"])
    return [{"FILE": command, "MODEL": model}.get(word, word) for word in GOOD[command]]


def start(argv: list[str], **pipes: Any) -> subprocess.Popen[bytes]:
    """The command in a process of its own, which is told of an interrupt even where the tests run in a background."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from toolglot.core.commands import doctor; doctor.DOCTORS = ();"
        "from toolglot.core.cli import main;"
        f"print('ready', file=sys.stderr, flush=True); sys.exit(main({argv!r}))"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, **pipes)


@pytest.mark.parametrize("command", GOOD)
def test_a_closed_pipe(command: str, folder: Path) -> None:
    """The reader goes before the output comes: not a word."""
    process = start(prepared(command, folder), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.communicate()[1].split() == [b"ready"]
    assert process.returncode == 1


@pytest.mark.parametrize("command", GOOD)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk(command: str, folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        process = start(prepared(command, folder), stdout=full)
    ready, *lines = process.communicate()[1].splitlines()
    assert (ready, process.returncode) == (b"ready", 2)
    assert len(lines) == 1 and b"No space left" in lines[0]


@pytest.mark.parametrize(("command", "closed"), [*((name, 1) for name in GOOD), ("parse", 0), ("explain", 0)])
def test_closed_streams(command: str, closed: int, folder: Path) -> None:
    """Standard output that was closed from the beginning; standard input where it should be read."""
    argv = prepared(command, folder)
    process = start(argv if closed else argv[:-1], preexec_fn=lambda: os.close(closed))
    ready, *lines = process.communicate()[1].splitlines()
    assert (ready, process.returncode) == (b"ready", 2)
    assert len(lines) == 1 and lines[0].endswith(b"is closed")


@pytest.mark.parametrize(
    "words", [("explain", *HERMES, "explain"), ("replay", "--corpus", "URL", "replay"), ("dialects",)]
)
def test_output_that_cannot_be_shown(words: tuple[str, ...], folder: Path) -> None:
    """A terminal of another time; and half a character, which no encoding has."""
    prepared("explain", folder)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = start(list(words), stdout=subprocess.DEVNULL, env=environment)
    ready, *lines = process.communicate()[1].splitlines()
    assert (ready, process.returncode) == (b"ready", 2)
    assert len(lines) == 1 and b"can't encode" in lines[0]


@pytest.mark.parametrize("command", GOOD)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_ctrl_c(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it waits for a file that does not come: not a word, and the status of a shell."""
    if command == "dialects":  # it waits for nothing
        monkeypatch.setattr("toolglot.core.commands.dialects.table", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main(["dialects"]) == 130
        return
    argv = prepared(command, folder)
    waiting = folder / ("model/tokenizer.json" if "MODEL" in GOOD[command] else command)
    waiting.unlink()
    os.mkfifo(waiting)
    process = start(argv)
    assert process.stderr is not None and process.stderr.readline() == b"ready\n"
    with waiting.open("wb"):  # until the command has opened its side
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 130
