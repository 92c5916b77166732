"""The doctor names what would keep LMDeploy, or torch, from working with toolglot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolglot.lmdeploy_plugin import doctor

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def no_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TORCH_DEVICE_BACKEND_AUTOLOAD", "TOOLGLOT_LMDEPLOY_AUTOLOAD"):
        monkeypatch.delenv(name, raising=False)


def metadata(folder: Path, name: str, target: str) -> None:
    (folder / f"{name}-1.dist-info").mkdir()
    (folder / f"{name}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (folder / f"{name}-1.dist-info" / "entry_points.txt").write_text(f"[torch.backends]\n{name} = {target}\n")


def test_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main() == 0
    text = capsys.readouterr().out
    assert "LMDeploy: lmdeploy 0.18" in text and "toolglot 0" in text
    for option in ("--tool-call-parser", "--reasoning-parser"):
        [line] = [line for line in text.splitlines() if line.startswith(f"{option}: ")]
        assert {"toolglot_hermes", "toolglot_kimi_k2"} < set(line.removeprefix(f"{option}: ").split(", "))


@pytest.mark.parametrize("target", ["gone_with_the_checkout.autoload:install", "toolglot.lmdeploy_plugin.gone:install"])
def test_a_stale_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    metadata(tmp_path, "moved", target)
    monkeypatch.syspath_prepend(str(tmp_path))
    [line] = [line for line in doctor.findings() if line.startswith("!")]
    assert line.startswith(f"! `import torch` fails: moved = {target} of moved in {tmp_path}")
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in line


def test_a_stale_entry_where_torch_is_broken(tmp_path: Path) -> None:
    """The command line says so although `import torch`, and so both engines, fail."""
    metadata(tmp_path, "moved", "gone.autoload:install")
    path = os.pathsep.join([str(tmp_path), str(ROOT / ".cache" / "src"), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-m", "toolglot.core.cli", "doctor"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert "! vLLM cannot be imported" in run.stdout
    assert "! `import torch` fails: moved = gone.autoload:install" in run.stdout


def test_installed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata(tmp_path, "toolglot", "toolglot.lmdeploy_plugin.autoload:install")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert any(line.startswith("! toolglot is installed 2 times") for line in doctor.findings())


@pytest.mark.parametrize("switch", ["TORCH_DEVICE_BACKEND_AUTOLOAD", "TOOLGLOT_LMDEPLOY_AUTOLOAD"])
def test_switches(monkeypatch: pytest.MonkeyPatch, switch: str) -> None:
    monkeypatch.setenv(switch, "0")
    [line] = [line for line in doctor.findings() if line.startswith("!")]
    assert switch in line and "python -m toolglot.lmdeploy_plugin serve" in line


def test_names_and_places_that_are_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    from lmdeploy.serve.parsers import ResponseParserManager
    from lmdeploy.serve.parsers.tool_parser import ToolParser, ToolParserManager

    monkeypatch.setitem(ToolParserManager.module_dict, "toolglot_hermes", ToolParser)
    monkeypatch.setattr("toolglot.lmdeploy_plugin.register", lambda: None)
    monkeypatch.setitem(ResponseParserManager.module_dict, "default", ToolParser)
    problems = [line for line in doctor.findings() if line.startswith("!")]
    assert "! --tool-call-parser toolglot_hermes belongs to lmdeploy.serve.parsers.tool_parser.tool_parser" in problems
    assert any(line.startswith("! the response parser 'default' belongs to lmdeploy") for line in problems)


def test_an_older_lmdeploy(monkeypatch: pytest.MonkeyPatch) -> None:
    from lmdeploy.serve.parsers.tool_parser import ToolParser

    monkeypatch.delattr(ToolParser, "feed_tool_block")
    assert any("LMDeploy 0.18 or newer is needed" in line for line in doctor.findings())


def test_without_lmdeploy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISTRIBUTION", "nosuch-distribution")
    assert list(doctor.findings()) == ["LMDeploy: not installed in this environment"]
