"""Registration: every dialect has a name, none of vLLM's is touched, and nothing ever raises."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

import pytest
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm.tool_parsers.abstract_tool_parser import ToolParser

import toolglot.core
from toolglot import vllm_plugin
from toolglot.core import ConfigurationError, get_dialect, list_dialects
from toolglot.core.commands.dialects import NO_FORMAT
from toolglot.core.serving.settings import current, use
from toolglot.vllm_plugin import start


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
    assert made.structural_tag_model or dialect == "gpt_oss"  # vLLM 0.24 has no grammar for it


def test_every_name_of_vllm_has_a_dialect() -> None:
    """Or the reason why not, in the table that users look their name up in."""
    mapped = {name for dialect in list_dialects() for name in get_dialect(dialect).engines.vllm.split()}
    own = {name for name in ToolParserManager.list_registered() if not name.startswith("toolglot")}
    assert len(own) > 40 and own <= mapped | set(NO_FORMAT)


@pytest.mark.parametrize("manager", [ToolParserManager, ReasoningParserManager])
def test_only_our_names(manager: Any) -> None:
    ours = {name for name, entry in manager.lazy_parsers.items() if entry[0].startswith("toolglot.")}
    assert ours <= {"toolglot", *(f"toolglot_{dialect}" for dialect in list_dialects())}
    assert f"toolglot_{list_dialects()[0]}" in ours


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


# Settings


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Environment variables are read once a process; here again and again."""
    use(None)
    for manager in (ToolParserManager, ReasoningParserManager):
        monkeypatch.setattr(manager, "lazy_parsers", dict(manager.lazy_parsers))
    monkeypatch.setattr(ToolParserManager, "tool_parsers", {})
    monkeypatch.setattr(ReasoningParserManager, "reasoning_parsers", {})
    yield monkeypatch
    monkeypatch.undo()
    use(None)


def test_wrong_settings_never_stop_the_hook(environment: pytest.MonkeyPatch, log: Any) -> None:
    environment.setenv("TOOLGLOT_ARGUMENTS", "later")
    environment.setenv("TOOLGLOT_ARGUMENT", "complete")
    environment.setenv("TOOLGLOT_REPLACE", "nosuch")
    vllm_plugin.register()
    assert current().options == {}
    assert "TOOLGLOT_ARGUMENTS='later' is none of stream, complete" in log.text
    assert "TOOLGLOT_REPLACE: unknown dialect 'nosuch'" in log.text


def test_a_wrong_setting_stops_a_server_that_uses_a_parser(environment: pytest.MonkeyPatch, tokenizer: Any) -> None:
    environment.setenv("TOOLGLOT_ARGUMENTS", "later")
    with pytest.raises(ConfigurationError, match="TOOLGLOT_ARGUMENTS='later' is none of stream, complete"):
        ToolParserManager.get_tool_parser("toolglot_hermes")(tokenizer)


def test_an_unknown_setting_is_named(environment: pytest.MonkeyPatch, log: Any) -> None:
    environment.setenv("TOOLGLOT_ARGUMENT", "complete")
    start.announce.cache_clear()
    start.announce("hermes")
    assert "TOOLGLOT_ARGUMENT is no setting of toolglot" in log.text


def test_replace(environment: pytest.MonkeyPatch, log: Any) -> None:
    builtin = ToolParserManager.lazy_parsers["qwen3_coder"]
    ToolParserManager.lazy_parsers["kimi_k3"] = ("vllm", "Any")  # not in older versions
    log.set_level(logging.INFO)
    environment.setenv("TOOLGLOT_REPLACE", "hermes,deepseek_r1=deepseek_v31,kimi_k3=kimi_k2")
    vllm_plugin.register()
    vllm_plugin.register()
    assert ToolParserManager.get_tool_parser("hermes").dialect == "hermes"
    assert ToolParserManager.lazy_parsers["qwen3_coder"] == builtin
    assert ReasoningParserManager.get_reasoning_parser("deepseek_r1").dialect == "deepseek_v31"
    assert "deepseek_r1" not in ToolParserManager.lazy_parsers
    assert "does not let kimi_k3 be replaced" in log.text
    assert log.text.count("tool parser hermes is toolglot's hermes now") == 1


def test_one_line_at_start(log: Any) -> None:
    start.announce.cache_clear()
    log.set_level(logging.INFO)
    for _ in range(2):
        ToolParserManager.get_tool_parser("toolglot_hermes")(None)
    (line,) = [record.getMessage() for record in log.records]
    assert line.startswith("toolglot ") and "dialect hermes, vLLM " in line and "settings: defaults" in line


def test_a_newer_vllm_gets_one_warning(monkeypatch: pytest.MonkeyPatch, log: Any) -> None:
    monkeypatch.setattr(start, "vllm_version", lambda: "0.99.1")
    start.announce.cache_clear()
    start.announce("hermes")
    start.announce("hermes")
    assert log.text.count("vLLM 0.99.1 is newer than") == 1
    start.announce.cache_clear()
