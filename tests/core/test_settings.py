"""What the plugins are set by: every setting is checked, and nothing that is wrong goes unsaid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from toolglot.core import ConfigurationError, ResponseParser
from toolglot.core.serving.doctor import settings_findings
from toolglot.core.serving.settings import (
    AUTOLOAD,
    SETTINGS,
    Settings,
    current,
    from_environment,
    unknown_variables,
    use,
)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    use(None)
    yield monkeypatch
    monkeypatch.undo()
    use(None)


def test_every_setting_is_a_field() -> None:
    names = {setting.name for setting in SETTINGS if setting.variable != AUTOLOAD}
    assert names == {each.name for each in fields(Settings)} - {"problems"}


def test_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "responses.jsonl"
    read = from_environment(
        {
            "TOOLGLOT_UNDECLARED_TOOLS": "pass",
            "TOOLGLOT_REASONING_CALLS": " END ",
            "TOOLGLOT_ARGUMENTS": "complete",
            "TOOLGLOT_DIALECT": "qwen3_xml",
            "TOOLGLOT_RECORD": str(file),
            "TOOLGLOT_REPLACE": "hermes, deepseek_r1=deepseek_v31,",
            "TOOLGLOT_STRICT": "Always",
            "TOOLGLOT_LMDEPLOY_AUTOLOAD": "0",
        }
    )
    assert read.options == {"undeclared_tools": "pass", "reasoning_calls": "end", "arguments": "complete"}
    assert read.replace == {"hermes": "hermes", "deepseek_r1": "deepseek_v31"}
    assert (read.dialect, read.record, read.strict) == ("qwen3_xml", str(file), "always")
    assert not read.problems and not file.exists()
    read.check()
    assert str(from_environment({})) == "defaults" and str(Settings(strict="never")) == "strict=never"
    assert ResponseParser("hermes", **read.options)


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("TOOLGLOT_UNDECLARED_TOOLS", "keep", "TOOLGLOT_UNDECLARED_TOOLS='keep' is none of drop, pass, text"),
        ("TOOLGLOT_REASONING_CALLS", "drop", "is none of resume, end, keep"),
        ("TOOLGLOT_ARGUMENTS", "1", "is none of stream, complete"),
        ("TOOLGLOT_STRICT", "on", "is none of auto, always, never"),
        ("TOOLGLOT_DIALECT", "hermess", "TOOLGLOT_DIALECT: unknown dialect 'hermess'"),
        ("TOOLGLOT_REPLACE", "hermes,nosuch", "TOOLGLOT_REPLACE: unknown dialect 'nosuch'"),
        ("TOOLGLOT_RECORD", "/nowhere/at/all/file", "cannot be written"),
    ],
)
def test_a_wrong_value(variable: str, value: str, says: str) -> None:
    """Reading never raises, `check` does; the rest holds."""
    read = from_environment({variable: value, "TOOLGLOT_ARGUMENTS": "complete"} | {variable: value})
    assert len(read.problems) == 1 and says in read.problems[0]
    assert read.arguments == ("" if variable == "TOOLGLOT_ARGUMENTS" else "complete")
    assert read.replace == ({"hermes": "hermes"} if variable == "TOOLGLOT_REPLACE" else {})
    with pytest.raises(ConfigurationError, match=variable):
        read.check()
    assert any(line.startswith("! ") and says in line for line in settings_findings({variable: value}))


def test_the_object_is_checked_at_once() -> None:
    with pytest.raises(ConfigurationError, match="TOOLGLOT_ARGUMENTS='later' is none of stream, complete"):
        Settings(arguments="later")
    with pytest.raises(ConfigurationError, match="unknown dialect"):
        Settings(replace={"hermes": "nosuch"})


def test_what_holds(clean: pytest.MonkeyPatch) -> None:
    """The environment is read once; `use` overrules it."""
    clean.setenv("TOOLGLOT_ARGUMENTS", "complete")
    assert current().arguments == "complete"
    clean.setenv("TOOLGLOT_ARGUMENTS", "stream")
    assert current().arguments == "complete"
    use(Settings(undeclared_tools="text"))
    assert current() == Settings(undeclared_tools="text")
    use(None)
    assert current().arguments == "stream"


def test_unknown_variables() -> None:
    known = dict.fromkeys((setting.variable for setting in SETTINGS), "")
    (line,) = unknown_variables({"TOOLGLOT_ARGUMENT": "x", "TOOLGLOT_TEST_PROFILE": "quick", "PATH": "", **known})
    assert line.startswith("TOOLGLOT_ARGUMENT is no setting of toolglot; there are TOOLGLOT_UNDECLARED_TOOLS, ")


def test_the_doctor_lists_them_all() -> None:
    lines = list(settings_findings({"TOOLGLOT_STRICT": "never", "TOOLGLOT_RECORD": "/tmp/x"}))
    assert "TOOLGLOT_STRICT (LMDeploy): never" in lines
    assert "TOOLGLOT_UNDECLARED_TOOLS: default: drop" in lines
    assert all(any(setting.variable in line for line in lines) for setting in SETTINGS)
    assert any(line.startswith("! TOOLGLOT_RECORD is set") for line in lines)
