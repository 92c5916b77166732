"""docs/new_dialect.md is true: its file registers, parses and tags what the page says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from corpus import SCHEMA
from harness import cut, make_id, run, to_result

from toolglot.core import ResponseParser, get_dialect, list_dialects, parse, registry, structural_tag
from toolglot.core.cli import main
from toolglot.core.tracing import trace

PAGE = Path(__file__).parents[2] / "docs" / "new_dialect.md"


def code(language: str) -> list[str]:
    """The page's blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


(SOURCE,) = code("python")
(RAW,) = (block.removesuffix("\n") for block in code("text"))
TOOLS, MESSAGE = map(json.loads, code("json"))
LINES = [json.loads(line) for block in code("jsonl") for line in block.splitlines()]


@pytest.fixture(autouse=True)
def heron(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The dialect, in a registry of its own."""
    before = list_dialects()
    monkeypatch.setattr(registry, "_dialects", dict(registry._dialects))
    monkeypatch.setattr(registry, "_aliases", dict(registry._aliases))
    module = ModuleType("toolglot.core.dialects.heron")
    module.__package__ = "toolglot.core.dialects"
    exec(compile(SOURCE, "heron.py", "exec"), module.__dict__)
    assert set(list_dialects()) == {*before, "heron"}
    yield
    monkeypatch.undo()
    assert list_dialects() == before


def test_the_response_of_the_page() -> None:
    """The message of the page, under every way to cut the response in two and in single characters."""
    for chunks in ([RAW], list(RAW), *(cut(RAW, [at]) for at in range(len(RAW)))):
        result = run(ResponseParser("heron2", TOOLS, make_id=make_id), chunks)
        assert (result.content, result.reasoning) == (MESSAGE["content"], MESSAGE["reasoning"])
        calls = [{"name": call.name, "arguments": call.arguments, "complete": call.complete} for call in result.calls]
        assert calls == MESSAGE["tool_calls"]


@pytest.mark.parametrize("command", ["parse", "explain"])
def test_the_commands(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tools, answer = tmp_path / "tools.json", tmp_path / "answer.txt"
    tools.write_text(json.dumps(TOOLS), encoding="utf-8")
    answer.write_text(RAW, encoding="utf-8")
    assert main([command, "--dialect", "heron", "--tools", str(tools), str(answer)]) == 0
    out = capsys.readouterr().out
    if command == "explain":
        assert "call 0 'get_weather' begins" in out
        return
    printed = json.loads(out)
    assert printed.pop("anomalies") == {} and printed["tool_calls"][0].pop("id")
    assert printed == MESSAGE


def test_the_trace() -> None:
    found = trace(RAW, "heron", TOOLS)
    assert found.joined("arguments", 0) == "cityRomedays3" and found.joined("reasoning") == MESSAGE["reasoning"]
    assert not found.joined("dropped")


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["id"])
def test_the_corpus_lines(line: dict[str, Any]) -> None:
    jsonschema.validate(line, SCHEMA)
    for chunks in ([line["raw"]], list(line["raw"]), *(cut(line["raw"], [at]) for at in range(len(line["raw"])))):
        parser = ResponseParser("heron", line["tools"], make_id=make_id, **line.get("options", {}))
        result = run(parser, chunks, line.get("finish_reason"))
        assert (result.content, result.reasoning) == (line["expected"]["content"], line["expected"]["reasoning"])
        calls = [{"name": call.name, "arguments": call.arguments, "complete": call.complete} for call in result.calls]
        assert calls == line["expected"]["tool_calls"]
        for kind, count in line.get("anomalies", {}).items():
            assert parser.anomalies[kind] == count


def literals(value: Any) -> Iterator[str]:
    """The texts that a structural tag writes itself."""
    if isinstance(value, dict):
        yield from (value[key] for key in ("begin", "value", "end") if isinstance(value.get(key), str))
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from literals(item)


def test_the_structural_tag() -> None:
    """Whatever the grammar writes itself stands in the canonical spelling, which parses."""
    tag = structural_tag("heron", TOOLS, "required")
    assert tag is not None and tag["type"] == "structural_tag"
    written = [text for text in literals(tag["format"]) if text]
    call = RAW[RAW.index("[[call") :]
    assert any(text.startswith("[[call get_weather]]") for text in written)
    assert all(text in call + "\n" for text in written), written
    tags = set(re.findall(r"\[\[.*?\]\]", "".join(written)))
    assert {"[[arg city]]", "[[arg days]]", "[[/arg]]", "[[/call]]"} <= tags
    message = parse(call, "heron", TOOLS, make_id=make_id)
    assert to_result(message).calls[0].arguments == MESSAGE["tool_calls"][0]["arguments"]
    assert structural_tag("heron", TOOLS, "none") is None


def test_the_files_the_page_names_are_there() -> None:
    root = PAGE.parent.parent
    for name in re.findall(r"`((?:core|tests|docs)/[\w./]+)`", PAGE.read_text(encoding="utf-8")):
        assert (root / name).exists() or "heron" in name, name
    for name in re.findall(r"`(\w+)\.py`", PAGE.read_text(encoding="utf-8")):
        assert get_dialect(name).name == name
