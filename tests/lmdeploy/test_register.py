"""How the parsers get into LMDeploy's registries: by the import of torch, by the command line, by a program."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lmdeploy.serve.parsers import ResponseParserManager
from lmdeploy.serve.parsers.reasoning_parser import ReasoningParserManager
from lmdeploy.serve.parsers.tool_parser import ToolParserManager

import toolglot
from toolglot import lmdeploy_plugin
from toolglot.core import get_dialect, list_dialects
from toolglot.core.serving.prompt import has_reasoning
from toolglot.lmdeploy_plugin import autoload, registration

ROOT = Path(__file__).resolve().parent.parent.parent
AUTOLOAD = Path(autoload.__file__)

# What torch does at the end of its import, without torch.
TORCH = """
from importlib.metadata import entry_points
for entry in entry_points(group="torch.backends"):
    try:
        entry.load()()
    except Exception as error:
        raise RuntimeError(f"Failed to load the backend extension: {entry.name}.") from error
"""
FAKE_LMDEPLOY = {
    "lmdeploy/__init__.py": "",
    "lmdeploy/serve/__init__.py": "",
    "lmdeploy/serve/parsers/__init__.py": "ready = True",
}
METADATA = {
    "toolglot-0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toolglot\nVersion: 0\n",
    "toolglot-0.dist-info/entry_points.txt": "[torch.backends]\ntoolglot = toolglot.lmdeploy_plugin.autoload:install\n",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def python(folder: Path, code: str, *arguments: str, site: bool = False, **environment: str) -> tuple[int, str]:
    """Run code with ``folder`` on the path; with ``site`` besides what is installed, else instead."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("TOOLGLOT", "TORCH", "PYTHON"))}
    run = subprocess.run(
        [sys.executable, *([] if site else ["-S"]), "-c", code, *arguments],
        env={**clean, "PYTHONPATH": str(folder), "HF_HUB_OFFLINE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
    )
    return run.returncode, run.stdout + run.stderr


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site-packages with toolglot as pip leaves it, and an LMDeploy that has nothing but the trigger."""
    write(tmp_path, {**METADATA, **FAKE_LMDEPLOY, "toolglot/__init__.py": ""})
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("core", "lmdeploy_plugin"):
        shutil.copytree(ROOT / name, tmp_path / "toolglot" / name, ignore=ignored)
    return tmp_path


# In this process: torch was imported, nothing else was done.


def test_names_are_registered() -> None:
    for dialect in list_dialects():
        assert f"toolglot_{dialect}" in ToolParserManager.module_dict
        assert (f"toolglot_{dialect}" in ReasoningParserManager.module_dict) == has_reasoning(get_dialect(dialect))
    assert {"qwen3", "qwen3coder", "kimi-k2"} < set(ToolParserManager.module_dict)


def test_every_name_of_lmdeploy_has_a_dialect() -> None:
    mapped = {name for dialect in list_dialects() for name in get_dialect(dialect).engines.lmdeploy.split()}
    own = {name for name in ToolParserManager.module_dict if not name.startswith("toolglot")}
    assert len(own) > 8 and own <= mapped


def test_again_changes_nothing() -> None:
    registries = (ToolParserManager, ReasoningParserManager, ResponseParserManager)
    before = [dict(registry.module_dict) for registry in registries]
    lmdeploy_plugin.register()
    assert [dict(registry.module_dict) for registry in registries] == before


def test_a_taken_name_stays(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(ToolParserManager.module_dict, "toolglot_hermes", object)
    monkeypatch.setattr(registration.logger, "propagate", False)
    registration.logger.addHandler(caplog.handler)
    lmdeploy_plugin.register()
    registration.logger.removeHandler(caplog.handler)
    assert ToolParserManager.module_dict["toolglot_hermes"] is object
    assert "toolglot_hermes is taken" in caplog.text


def test_a_wrong_name_lists_ours(model: Path) -> None:
    from lmdeploy_serving import command_line

    command = ["serve", "api_server", str(model), "--backend", "pytorch", "--max-batch-size", "1"]
    for option, names in (
        ("--tool-call-parser", ("toolglot_hermes", "toolglot_llama4_pythonic")),
        ("--reasoning-parser", ("toolglot_hermes", "toolglot_kimi_k2")),
    ):
        arguments = command_line().parse_args([*command, option, "toolglot_nosuch"])
        with pytest.raises(ValueError, match="toolglot_nosuch is not in the parser list") as refused:
            arguments.run(arguments)
        assert all(name in str(refused.value) for name in names)


def test_the_names_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    from lmdeploy_serving import command_line

    with pytest.raises(SystemExit):
        command_line().parse_args(["serve", "api_server", "--help"])
    assert capsys.readouterr().out.count("toolglot_hermes") == 2


def test_nothing_else_is_patched() -> None:
    """But for the registries no module or class of LMDeploy holds anything of ours."""
    import lmdeploy.serve.openai.api_server  # noqa: F401

    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "lmdeploy" or module is None:
            continue
        for value in list(vars(module).values()):
            parts = list(vars(value).values()) if isinstance(value, type) else []
            for part in (value, *parts):
                assert not str(getattr(part, "__module__", "")).startswith("toolglot"), (name, part)


def test_ready_for_upstream() -> None:
    """The group that LMDeploy could load by itself is declared."""
    from importlib.metadata import entry_points

    [entry] = {point.value for point in entry_points(group="lmdeploy.parsers") if point.name == "toolglot"}
    module, _, name = entry.partition(":")
    assert getattr(importlib.import_module(module), name) is lmdeploy_plugin.register


def test_an_older_lmdeploy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from lmdeploy.serve.parsers.tool_parser import ToolParser

    monkeypatch.delattr(ToolParser, "feed_tool_block")
    with pytest.raises(ImportError, match=r"lacks ToolParser\.feed_tool_block; LMDeploy 0\.18 or newer"):
        lmdeploy_plugin.register()
    for argv, expected in ((["lmdeploy", "serve"], 0), (["lmdeploy", "--tool-call-parser", "toolglot_hermes"], 1)):
        monkeypatch.setattr(sys, "argv", argv)
        autoload._register()
        assert capsys.readouterr().err.count("\n") == expected


def test_an_lmdeploy_without_the_parser_layer(site: Path) -> None:
    """Before 0.13: one line for those who ask for a name of ours, nothing for others."""
    shutil.rmtree(site / "lmdeploy" / "serve" / "parsers")
    folder = "lmdeploy/serve/openai"
    write(site, {f"{folder}/__init__.py": "", f"{folder}/tool_parser/__init__.py": "old = True"})
    code = TORCH + "import lmdeploy.serve.openai.tool_parser as p; print(p.old)"
    assert python(site, code) == (0, "True\n")
    status, output = python(site, code, "--tool-call-parser", "toolglot_hermes")
    assert status == 0 and output.count("\n") == 2 and "LMDeploy 0.18 or newer is needed" in output


# The module that stands in the way of `import torch`.


def test_the_target_is_small() -> None:
    source = AUTOLOAD.read_text(encoding="utf-8")
    assert source.count("\n") < 60
    imports = [node for node in ast.parse(source).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in imports] == ["import sys"]


def test_nothing_on_the_way_imports_anything() -> None:
    for module in (toolglot, lmdeploy_plugin):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        assert not any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body), module


def test_waits_for_lmdeploy(site: Path) -> None:
    write(site, {"toolglot/lmdeploy_plugin/registration.py": "def register_all(): print('registered')"})
    load = TORCH + "import sys, lmdeploy.serve; print('so far'); import lmdeploy.serve.parsers as p; print(p.ready)"
    assert python(site, load) == (0, "so far\nregistered\nTrue\n")
    assert python(site, TORCH + load) == (0, "so far\nregistered\nTrue\n")  # not twice
    late = "import lmdeploy.serve.parsers\n" + TORCH
    assert python(site, late) == (0, "registered\n")
    for switch in ("0", "off", " False "):
        assert python(site, load, TOOLGLOT_LMDEPLOY_AUTOLOAD=switch) == (0, "so far\nTrue\n")


def test_lmdeploy_absent(site: Path) -> None:
    shutil.rmtree(site / "lmdeploy")
    code = TORCH + "try:\n import lmdeploy.serve.parsers\nexcept ModuleNotFoundError as error: print(error.name)"
    assert python(site, code) == (0, "lmdeploy\n")
    write(site, {"lmdeploy/__init__.py": "", "lmdeploy/serve/__init__.py": ""})
    assert python(site, code) == (0, "lmdeploy.serve.parsers\n")


def test_a_failing_lmdeploy_fails_in_its_own_way(site: Path) -> None:
    write(site, {"lmdeploy/serve/parsers/__init__.py": "raise OSError('theirs')"})
    status, output = python(site, TORCH + "import lmdeploy.serve.parsers")
    assert status == 1 and output.endswith("OSError: theirs\n")


@pytest.mark.parametrize("gone", ["core", "lmdeploy_plugin/registration.py", "lmdeploy_plugin/parsers.py"])
def test_an_interrupted_upgrade(site: Path, gone: str) -> None:
    """Whatever is missing behind the target costs the parsers, with a line for those who asked, and nothing else."""
    path = site / "toolglot" / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    code = TORCH + "import lmdeploy.serve.parsers as p; print(p.ready)"
    assert python(site, code) == (0, "True\n")
    status, output = python(site, code, "--tool-call-parser", "toolglot_hermes")
    assert status == 0 and "toolglot: no parser was registered in LMDeploy: " in output


def test_broken_files(site: Path) -> None:
    write(site, {"toolglot/core/__init__.py": "def (", "toolglot/lmdeploy_plugin/registration.py": "def ("})
    assert python(site, TORCH + "import lmdeploy.serve.parsers as p; print(p.ready)") == (0, "True\n")


def test_a_target_that_is_gone(tmp_path: Path) -> None:
    """A moved editable checkout, or an upgrade interrupted at the worst moment: then torch needs its own switch."""
    moved = "[torch.backends]\nmoved = toolglot_that_was_moved.autoload:install\n"
    metadata = METADATA["toolglot-0.dist-info/METADATA"].replace("toolglot", "toolglot-that-was-moved")
    write(tmp_path, {"moved-0.dist-info/METADATA": metadata, "moved-0.dist-info/entry_points.txt": moved})
    status, output = python(tmp_path, "import torch", site=True)
    assert status == 1 and "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in output
    code = "import torch; print(torch.ones(1).item())"
    assert python(tmp_path, code, site=True, TORCH_DEVICE_BACKEND_AUTOLOAD="0") == (0, "1.0\n")


# What it costs.


def test_the_cost_of_the_hook(site: Path) -> None:
    """Nothing where torch is not imported; under 2 ms in a process that imports it, its later imports included."""
    code = "import sys; print(any('toolglot' in name for name in sys.modules), len(sys.meta_path))"
    assert python(site, code) == (0, "False 3\n")
    measured = """
import sys
from importlib.metadata import entry_points
from time import process_time
[entry] = [point for point in entry_points(group="torch.backends") if point.name == "toolglot"]
start = process_time()
entry.load()()
loaded = process_time() - start
finder = sys.meta_path[0]
start = process_time()
for _ in range(2000):  # modules that a large program imports after torch
    finder.find_spec("some.module", None)
print(1000 * (loaded + process_time() - start))
"""
    python(site, measured)  # compiles
    # The machine may be busy: what it costs is what it costs when nothing else runs.
    spent: list[float] = []
    while len(spent) < 100 and (not spent or min(spent) >= 2):
        spent.append(float(python(site, measured)[1]))
    assert min(spent) < 2, sorted(spent)


# The command line of our own.


def test_command_line_and_its_children(tmp_path: Path) -> None:
    """With torch's switch off only the explicit way works; the children that LMDeploy spawns have the parsers too."""
    probe = """
import multiprocessing
def child():
    from lmdeploy.serve.parsers.tool_parser import ToolParserManager
    print("child", "toolglot_hermes" in ToolParserManager.module_dict, flush=True)
def run():
    import sys
    print(sys.argv[1:], flush=True)
    child()
    multiprocessing.set_start_method("spawn", force=True)
    process = multiprocessing.Process(target=child)
    process.start()
    process.join()
"""
    write(tmp_path, {"probe.py": probe})
    code = (
        "import runpy, sys, probe, lmdeploy.cli; lmdeploy.cli.run = probe.run\n"
        "runpy.run_module('toolglot.lmdeploy_plugin', run_name='__main__', alter_sys=True)"
    )
    status, output = python(tmp_path, code, "serve", "x", site=True, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert status == 0, output
    lines = [line for line in output.splitlines() if line.startswith(("[", "child"))]
    assert lines == ["['serve', 'x']", "child True", "child True"]
