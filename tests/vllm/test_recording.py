"""TOOLGLOT_RECORD: what vLLM's own Parser objects are fed is recorded, and comes out the same when it is replayed."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import RESPONSES, joined, parse, parser_for, request_for, stream
from engine_cases import TOOLS, Result, corpus

from toolglot.core import list_dialects
from toolglot.core.cli import main
from toolglot.core.recording import Recording, differences, read_recordings
from toolglot.core.serving import record
from toolglot.core.serving.settings import from_environment
from toolglot.vllm_plugin import start


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every response is recorded here."""
    path = tmp_path / "responses.jsonl"
    read = from_environment({"TOOLGLOT_RECORD": str(path)})
    assert not read.problems
    record._recorder.cache_clear()
    monkeypatch.setattr("toolglot.vllm_plugin.response.current", lambda: read)
    monkeypatch.setattr("toolglot.vllm_plugin.start.current", lambda: read)
    yield path
    record._recorder.cache_clear()


def result(recording: Recording) -> Result:
    message = recording.message
    return Result(message.content, message.reasoning, [(call.name, call.arguments) for call in message.tool_calls])


@pytest.mark.parametrize("dialect", list_dialects())
def test_round_trip(dialect: str, tokenizer: Any, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sent = []
    for number, line in enumerate(corpus(dialect)[::3]):
        if not line["raw"] or not line["tools"]:
            continue
        dice = random.Random(number)
        cuts = sorted(dice.randrange(len(line["raw"]) + 1) for _ in range(5))
        chunks = [line["raw"][a:b] for a, b in zip([0, *cuts], [*cuts, len(line["raw"])], strict=True)]
        request = request_for(line["tools"])
        parser = parser_for(dialect, request.tools, reasoning="same", tokenizer=tokenizer)
        sent.append((line["raw"], [chunk for chunk in chunks if chunk], joined(stream(parser, chunks, request))))
    recordings = read_recordings(str(file))
    assert len(recordings) == len(sent) >= 4
    for (_, recording), (raw, chunks, expected) in zip(recordings, sent, strict=True):
        assert recording.text == raw and recording.chunks == chunks
        assert recording.engine == "vllm" and recording.dialect == dialect
        assert result(recording) == expected
        assert not list(differences(recording, recording.again()))
    assert main(["replay", str(file)]) == 0
    assert capsys.readouterr().out.count(": the same\n") == len(sent)


@pytest.mark.parametrize("dialect", RESPONSES)
def test_without_streaming(dialect: str, file: Path) -> None:
    """One line a response; asking for the grammar first leaves none."""
    text, content = RESPONSES[dialect]
    request = request_for(TOOLS)
    parser = parser_for(dialect, request.tools)
    parser.adjust_request(request)
    assert not file.exists()
    parse(dialect, text, request)
    ((_, recording),) = read_recordings(str(file))
    assert recording.chunks == [text] and recording.message.content == content
    assert [call.name for call in recording.message.tool_calls] == ["get_weather", "ping"]


def test_it_is_announced(file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start.logger, "propagate", False)
    start.logger.addHandler(caplog.handler)
    caplog.set_level(logging.INFO, start.logger.name)
    start.announce.cache_clear()
    try:
        for _ in range(2):
            parser_for("hermes", None)
    finally:
        start.logger.removeHandler(caplog.handler)
        start.announce.cache_clear()
    first, warning = caplog.records
    assert f"settings: record={file}" in first.getMessage()
    assert warning.levelno == logging.WARNING and warning.getMessage().startswith("toolglot: TOOLGLOT_RECORD is set")
