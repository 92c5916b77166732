"""`toolglot detect`, `check` and `dialects`, on the files of a model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import sizes
from families import FAMILIES, REFUSED, Family

from toolglot.core import list_dialects
from toolglot.core.cli import main

BY_NAME = {family.name: family for family in (*FAMILIES, *REFUSED)}


def write(folder: Path, family: Family, vocabulary: bool = True) -> str:
    """A model's directory, as it is downloaded."""
    tokens = [{"content": text, "special": True} for text in family.special]
    tokens += [{"content": text, "special": False} for text in family.plain]
    config: dict[str, Any] = {"added_tokens_decoder": {str(number): token for number, token in enumerate(tokens)}}
    if family.template is not None:
        config["chat_template"] = family.template
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    if vocabulary:
        fast = {"added_tokens": tokens, "model": {"vocab": {"a": 0}}}
        (folder / "tokenizer.json").write_text(json.dumps(fast), encoding="utf-8")
    return str(folder)


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, list[str]]:
    status = main(argv)
    captured = capsys.readouterr()
    return status, (captured.out + captured.err).splitlines()


def test_detect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(capsys, "detect", write(tmp_path, BY_NAME["Qwen3"]))
    assert status == 0
    assert lines[0] == "hermes"
    assert {"ernie45", "hermes"} <= set(lines[1].replace(",", " ").split())
    assert lines[1].endswith("read back the calls that its chat template writes")
    assert any("not ernie45" in line for line in lines)


def test_detect_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(capsys, "detect", write(tmp_path, BY_NAME["Hermes calls, a turn of its own"]))
    assert status == 1
    assert lines[:2] == ["not certain", "  it could be granite4 or hermes"]


def test_detect_needs_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, say in ((str(tmp_path), "no tokenizer files"), ("some/model", "downloads nothing")):
        status, lines = run(capsys, "detect", path)
        assert status == 2
        assert len(lines) == 1 and say in lines[0]


def test_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write(tmp_path, BY_NAME["Kimi K2 Thinking"])
    status, lines = run(capsys, "check", model)
    text = "\n".join(lines)
    assert status == 0, text
    assert lines[0].startswith("dialect: kimi_k2, found: ")
    assert "<|tool_calls_section_begin|> (special)" in text and "</think>" in text
    for kind in ("one call", "text and two calls", "blanks in a value", "reasoning"):
        assert f"round trip, {kind}: read back" in lines
    flags = "--tool-call-parser toolglot_kimi_k2 --reasoning-parser toolglot_kimi_k2"
    assert lines[-1] == f"vLLM: vllm serve {model} --enable-auto-tool-choice {flags}"
    assert lines[-2] == f"LMDeploy: lmdeploy serve api_server {model} {flags}"
    assert "SGLang, its own parser: --tool-call-parser kimi_k2" in lines
    assert not any(line.startswith("!") for line in lines)


def test_doctor_with_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with what `check` says, the command line for each engine last."""
    monkeypatch.setattr("toolglot.core.commands.doctor.DOCTORS", ())
    model = write(tmp_path, BY_NAME["Kimi K2 Thinking"])
    _, lines = run(capsys, "doctor", model)
    assert any(line.startswith("XGrammar: ") for line in lines)
    assert any(line.startswith("TOOLGLOT_DIALECT: default: none") for line in lines)
    assert "round trip, one call: read back" in lines
    assert lines[-1].startswith(f"vLLM: vllm serve {model} --enable-auto-tool-choice --tool-call-parser toolglot_kimi")
    status, lines = run(capsys, "doctor", str(tmp_path / "nosuch"))
    assert status == 2 and "nosuch" in lines[-1]


def test_check_against_another_dialect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(capsys, "check", write(tmp_path, BY_NAME["Qwen3"]), "--dialect", "kimi-k2")
    problems = [line for line in lines if line.startswith("!")]
    assert status == 1
    assert lines[0] == "dialect: kimi_k2, as told"
    assert any("the tokenizer has no <|tool_calls_section_begin|>" in line for line in problems)
    assert any("round trip, one call: kimi_k2 does not read back" in line for line in problems)


def test_check_says_what_it_could_not_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(capsys, "check", write(tmp_path / "a", BY_NAME["Mistral, no template"]))
    assert status == 0
    assert "not verified: there is no chat template" in lines and "round trip: not verified" in lines
    status, lines = run(capsys, "check", write(tmp_path / "b", BY_NAME["Qwen2.5"], vocabulary=False))
    assert status == 0
    assert any("not verified: its vocabulary" in line for line in lines)
    assert any("not verified: reasoning" in line for line in lines)
    one_only = BY_NAME["Llama 3.1 to 3.3"]
    _, lines = run(capsys, "check", write(tmp_path / "c", one_only))
    assert "round trip, text and two calls: not verified, the template does not render it" in lines
    status, lines = run(capsys, "check", write(tmp_path / "d", BY_NAME["refuses tools"]), "--dialect", "hermes")
    assert status == 1
    assert "! round trip: the chat template writes no tool calls (no tools)" in lines


def test_check_without_a_certain_dialect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(capsys, "check", write(tmp_path, BY_NAME["Hermes calls, a turn of its own"]))
    assert status == 1
    assert lines[0].startswith("! the dialect is not certain")
    assert "name one with --dialect: granite4, hermes" in lines[1]
    assert run(capsys, "check", str(tmp_path), "--dialect", "hermess")[0] == 2


@pytest.mark.parametrize("family", [pytest.param(family, id=family.name) for family in FAMILIES if family.certain])
def test_check_has_no_complaint_about_any_family(
    family: Family, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = run(capsys, "check", write(tmp_path, family), "--dialect", str(family.dialect))
    problems = [line for line in lines if line.startswith("!")]
    unwritten = "the chat template writes no tool calls"
    assert all(unwritten in line or "blanks in a value" in line or "numbers" in family.name for line in problems), lines
    assert status == bool(problems)


def test_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(capsys, "dialects")
    assert status == 0
    rows = [line for line in lines if line.startswith("|") and "---" not in line]
    assert len(rows) == len(list_dialects()) + 1
    assert {line.count(" | ") for line in rows} == {8}
    assert any(line.startswith("- `hf` ") for line in lines)
    hermes = next(line for line in lines if line.startswith("| `hermes` |"))
    assert all(name in hermes for name in ("`qwen2d5`", "`qwen25`", "`qwen3_json`", "<think>", "yes"))


def test_the_page_of_sizes() -> None:
    """Its sum is that of the package, within what a change may add before the page is made again."""
    page = sizes.PAGE.read_text(encoding="utf-8")
    (total,) = re.findall(r"^\| \*\*all\*\* \| [\d,]+ \| ([\d,]+) \|", page, re.MULTILINE)
    lines = sum(figures[1] for figures in sizes.parts().values())
    assert abs(int(total.replace(",", "")) - lines) < lines // 20, "run scripts/sizes.py"
    assert all(f"| `{name}` |" in page for name in list_dialects())
