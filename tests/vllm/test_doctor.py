"""The doctor names what would keep vLLM from using toolglot."""

from __future__ import annotations

import pytest

from toolglot.vllm_plugin import doctor


def test_all_is_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("VLLM_PLUGINS", raising=False)
    assert doctor.main() == 0
    text = capsys.readouterr().out
    assert "vLLM: vllm" in text and "toolglot 0" in text
    assert "--tool-call-parser: toolglot, toolglot_" in text
    assert "--reasoning-parser: toolglot, toolglot_" in text


@pytest.mark.parametrize(
    ("variable", "value", "found"),
    [
        ("VLLM_PLUGINS", "", "keeps vLLM from loading"),
        ("VLLM_PLUGINS", "other,more", "keeps vLLM from loading"),
        ("VLLM_USE_RUST_FRONTEND", "1", "never calls parsers written in Python"),
    ],
)
def test_problems(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, value: str, found: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert doctor.main() == 1
    assert found in capsys.readouterr().out


def test_a_name_that_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.tool_parsers import ToolParserManager

    monkeypatch.setitem(ToolParserManager.lazy_parsers, "toolglot_hermes", ("somewhere", "Else"))
    assert "! --tool-call-parser toolglot_hermes belongs to somewhere" in list(doctor.findings())


def test_without_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISTRIBUTIONS", ("nosuch-distribution",))
    assert list(doctor.findings()) == ["vLLM: not installed in this environment"]
