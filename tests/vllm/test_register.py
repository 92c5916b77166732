"""Registration: every dialect has a name, none of vLLM's is touched, and nothing ever raises."""

from __future__ import annotations

import logging
from importlib.metadata import entry_points
from typing import Any

import pytest
from vllm.tool_parsers import ToolParserManager
from vllm.tool_parsers.abstract_tool_parser import ToolParser

import toolglot.core
from toolglot import vllm_plugin
from toolglot.core import list_dialects


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """What the plugin logs (vLLM's logger does not propagate)."""
    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)
    return caplog


def test_entry_point() -> None:
    (found,) = [point for point in entry_points(group="vllm.general_plugins") if point.name == "toolglot"]
    assert found.load() is vllm_plugin.register


@pytest.mark.parametrize("dialect", list_dialects())
def test_every_dialect_has_a_class(dialect: str) -> None:
    made = ToolParserManager.get_tool_parser(f"toolglot_{dialect}")
    assert issubclass(made, ToolParser)
    assert made.dialect == dialect
    assert made is ToolParserManager.get_tool_parser(f"toolglot_{dialect}")
    assert made.engine_based_streaming
    assert not made.supports_required_and_named
    assert made.structural_tag_model


def test_only_our_names() -> None:
    ours = {name for name, entry in ToolParserManager.lazy_parsers.items() if entry[0].startswith("toolglot.")}
    assert ours == {f"toolglot_{dialect}" for dialect in list_dialects()}


def test_unknown_class_name() -> None:
    from toolglot.vllm_plugin import tool_parser

    with pytest.raises(AttributeError, match="ToolglotNosuchToolParser"):
        _ = tool_parser.ToolglotNosuchToolParser


def test_twice_is_fine(log: pytest.LogCaptureFixture) -> None:
    before = dict(ToolParserManager.lazy_parsers)
    vllm_plugin.register()
    assert ToolParserManager.lazy_parsers == before
    assert not log.records


def test_a_taken_name_stays(monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(ToolParserManager.lazy_parsers, "toolglot_hermes", ("somewhere", "Else"))
    vllm_plugin.register()
    assert ToolParserManager.lazy_parsers["toolglot_hermes"] == ("somewhere", "Else")
    assert "toolglot_hermes is taken" in log.text


def test_never_raises(monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture) -> None:
    def broken() -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr(toolglot.core, "list_dialects", broken)
    vllm_plugin.register()
    assert "no parser was registered" in log.text


def test_refuses_an_old_vllm(monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture) -> None:
    monkeypatch.delattr(ToolParser, "engine_based_streaming")
    monkeypatch.setattr(ToolParserManager, "lazy_parsers", {})
    monkeypatch.setattr(ToolParserManager, "tool_parsers", {})
    vllm_plugin.register()
    assert ToolParserManager.lazy_parsers == {}
    assert [record.getMessage() for record in log.records] == [
        "toolglot: no parser was registered, this vLLM lacks ToolParser.engine_based_streaming; "
        "vLLM 0.24 or newer is needed"
    ]
