"""TOOLGLOT_RECORD: what LMDeploy's own ResponseParser objects are fed is recorded, and replays to the same."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_cases import TOOLS, Result, corpus
from lmdeploy_driving import choose, complete, joined, request_for, stream

from toolglot.core import list_dialects
from toolglot.core.cli import main
from toolglot.core.recording import Recording, differences, read_recordings
from toolglot.core.serving import record
from toolglot.core.serving.settings import from_environment
from toolglot.lmdeploy_plugin import response_parser


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every response is recorded here."""
    path = tmp_path / "responses.jsonl"
    read = from_environment({"TOOLGLOT_RECORD": str(path)})
    assert not read.problems
    record._recorder.cache_clear()
    monkeypatch.setattr("toolglot.lmdeploy_plugin.response_parser.current", lambda: read)
    yield path
    record._recorder.cache_clear()


def result(recording: Recording) -> Result:
    message = recording.message
    return Result(message.content, message.reasoning, [(call.name, call.arguments) for call in message.tool_calls])


@pytest.mark.parametrize("dialect", list_dialects())
def test_round_trip(dialect: str, tokenizer: Any, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sent = []
    parser = choose(f"toolglot_{dialect}", "same", tokenizer=tokenizer)
    for number, line in enumerate(corpus(dialect)[::3]):
        if not line["raw"] or not line["tools"]:
            continue
        dice = random.Random(number)
        cuts = sorted(dice.randrange(len(line["raw"]) + 1) for _ in range(5))
        chunks = [line["raw"][a:b] for a, b in zip([0, *cuts], [*cuts, len(line["raw"])], strict=True)]
        emitted = joined(stream(parser(request_for(line["tools"])), chunks))
        sent.append((line["raw"], [chunk for chunk in chunks if chunk], emitted))
    recordings = read_recordings(str(file))
    assert len(recordings) == len(sent) >= 4
    for (_, recording), (raw, chunks, expected) in zip(recordings, sent, strict=True):
        assert recording.text == raw and recording.chunks == chunks
        assert recording.engine == "lmdeploy" and recording.dialect == dialect
        assert result(recording) == expected
        assert not list(differences(recording, recording.again()))
    assert main(["replay", str(file)]) == 0
    assert capsys.readouterr().out.count(": the same\n") == len(sent)


def test_without_streaming(file: Path) -> None:
    """One line a response; a parser that is only built leaves none."""
    text = 'Yes.\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    parser = choose("toolglot_hermes")(request_for(TOOLS))
    assert not file.exists()
    complete(parser, text)
    ((_, recording),) = read_recordings(str(file))
    assert recording.chunks == [text] and result(recording) == Result("Yes.", None, [("ping", "{}")])
    assert recording.options["reasoning"] is False


def test_it_is_announced(file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = response_parser.logger
    monkeypatch.setattr(logger, "propagate", False)
    logger.addHandler(caplog.handler)
    caplog.set_level(logging.INFO, logger.name)
    try:
        choose("toolglot_hermes")
    finally:
        logger.removeHandler(caplog.handler)
    first, warning = caplog.records
    assert f"settings: record={file}" in first.getMessage()
    assert warning.levelno == logging.WARNING and warning.getMessage().startswith("toolglot: TOOLGLOT_RECORD is set")
