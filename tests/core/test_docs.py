"""The documentation is true: every command and example of the pages runs, or is checked by what would run it.

A block or a command that is none of the known kinds fails. What starts an engine is given to that engine's own argument
parser in tests/vllm/test_docs.py and tests/lmdeploy/test_docs.py; here its parser names are looked up.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import json
import re
import subprocess
import sys
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

import build_docs
import pytest
from corpus import all_lines, std_tools
from documents import (
    PAGES,
    QUICKSTART_MODELS,
    ROOT,
    SHELL,
    Block,
    Command,
    anchors,
    blocks,
    commands,
    inline_commands,
    is_session,
    links,
    name_of,
)
from families import FAMILIES
from test_commands import write

from toolglot.core import cli, get_dialect, list_dialects
from toolglot.core.detect import detect
from toolglot.core.serving.prompt import has_reasoning
from toolglot.core.serving.record import open_parser

BY_NAME = {family.name: family for family in FAMILIES}
ANSWER = 'Yes.\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
COMMANDS = list(commands())
PYTHON = [block for block in blocks() if block.language == "python"]
# Pages whose examples another test runs.
ELSEWHERE = {"docs/new_dialect.md": "tests/core/test_new_dialect.py"}
# What the examples leave to the reader.
GIVEN = f"""
text = {ANSWER!r}
chunks = list(text)
tools = {std_tools()!r}
"""


def of_kind(command: Command) -> str:
    """What checks a command."""
    first, *rest = command.words
    if first == "toolglot":
        return "run"
    if command.engine:
        return "engine"
    if first == "make" or (first == "python" and (rest[0].endswith(".py") or rest[1] in ("pytest", "bench"))):
        return "here"
    if first == "pip" or (first, *rest[:2]) == ("python", "-m", "pip"):
        return "pip"
    return "cat" if first == "cat" and is_session(command.block) else "unknown"


def of(kind: str) -> list[Any]:
    return [pytest.param(command, id=str(command)) for command in COMMANDS if of_kind(command) == kind]


def test_every_block_is_of_a_known_kind() -> None:
    known = {*SHELL, "python", "json", "jsonl", "toml", "dockerfile", "text"}
    assert {block.language for block in blocks()} <= known
    assert [str(command) for command in COMMANDS if of_kind(command) == "unknown"] == []
    assert {of_kind(command) for command in COMMANDS} == {"run", "engine", "here", "pip", "cat"}


# -- commands ---------------------------------------------------------------------------------------------------

RUN = defaultdict(list)
for _command in COMMANDS:
    if of_kind(_command) == "run" and not is_session(_command.block):
        RUN[_command.block.page].append(_command)


@pytest.mark.parametrize("page", RUN)
def test_commands_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page's commands, one after the other, in a folder with the files that they name."""
    monkeypatch.chdir(tmp_path)
    Path("answer.txt").write_text(ANSWER, encoding="utf-8")
    Path("tools.json").write_text(json.dumps(std_tools()), encoding="utf-8")
    model = write(tmp_path / "model", BY_NAME["Qwen3"])
    parser = open_parser("hermes", engine="test", record="responses.jsonl", tools=std_tools())
    parser.feed(ANSWER)
    parser.finish()
    healthy = types.ModuleType("healthy")
    healthy.main = lambda: 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "healthy", healthy)
    monkeypatch.setattr("toolglot.core.commands.doctor.DOCTORS", ("healthy",))
    for command in RUN[page]:
        if "--sample" in command.words and importlib.util.find_spec("xgrammar") is None:
            continue  # tests/structural runs it
        words = [word.replace("/path/to/model", model) for word in command.words[1:]]
        with contextlib.ExitStack() as stack:
            if command.output:
                file = stack.enter_context(open(command.output, "w", encoding="utf-8"))
                stack.enter_context(contextlib.redirect_stdout(file))
            status = cli.main(words)
        captured = capsys.readouterr()
        assert status == (words[0] == "replay" and "qwen3_coder" in words), command
        assert captured.err == "", command
        assert captured.out or command.output or words[0] == "doctor" or "--html" in words, command


@pytest.mark.parametrize("block", [pytest.param(block, id=str(block)) for block in blocks() if is_session(block)])
def test_sessions(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands print what the page shows, but for ids."""
    monkeypatch.chdir(tmp_path)
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        words = line.split()
        if words[0] == "cat":
            Path(words[1]).write_text(output, encoding="utf-8")
            continue
        assert words[0] == "toolglot" and cli.main(words[1:]) == 0
        ids = re.compile(r'"call_\w+"')
        assert ids.sub("ID", capsys.readouterr().out) == ids.sub("ID", output)


def parsers(command: Command) -> list[str]:
    names = [command.option(option) for option in ("--tool-call-parser", "--reasoning-parser")]
    return [name for name in names if name is not None]


@pytest.mark.parametrize("command", of("engine"))
def test_parser_names(command: Command) -> None:
    """They are toolglot's, or, where a page says what to replace, an engine's."""
    for name in parsers(command):
        if command.block.page == "docs/migration.md" and not name.startswith("toolglot_"):
            continue
        assert name == "toolglot" or name.removeprefix("toolglot_") in list_dialects(), name
    reasoning = command.option("--reasoning-parser")
    if reasoning is not None and reasoning.startswith("toolglot_"):
        assert reasoning == command.option("--tool-call-parser")
        assert has_reasoning(get_dialect(reasoning.removeprefix("toolglot_")))


@pytest.mark.parametrize("command", of("here"))
def test_commands_of_the_checkout(command: Command) -> None:
    check_here(list(command.words))


def check_here(words: list[str]) -> None:
    """A target, a script or a module of the repository."""
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert set(words[1:]) <= set(targets)
    elif words[1] == "-m" and words[2] == "pytest":
        assert all((ROOT / word).exists() for word in words if "/" in word)
    elif words[1] == "-m" and words[2].split(".")[0] == "toolglot":
        assert importlib.util.find_spec(words[2].split(":")[0]) is not None
    elif words[1] == "-m":
        assert (ROOT / words[2].replace(".", "/")).with_suffix(".py").exists() or (ROOT / words[2]).is_dir()
    else:
        assert (ROOT / words[1]).is_file()


def check_pip(words: list[str]) -> None:
    """pip's own parser takes it, and the wheel is that of this version."""
    from pip._internal.commands import create_command

    command, *rest = words[words.index("pip") + 1 :]
    with contextlib.redirect_stderr(None):
        _, names = create_command(command).parse_args(rest)
    for name in names:
        if name.endswith(".whl"):
            check_wheel(name)
        else:
            assert name in (".", "toolglot") and (name == "." or command == "uninstall"), name


def check_wheel(path: str) -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None and Path(path).name == f"toolglot-{version[1]}-py3-none-any.whl"


@pytest.mark.parametrize("command", of("pip"))
def test_pip(command: Command) -> None:
    check_pip(list(command.words))


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_variables(command: Command) -> None:
    for assignment in command.environment:
        name = assignment.partition("=")[0]
        assert name in VARIABLES | {"PYTHONPATH", "TORCH_DEVICE_BACKEND_AUTOLOAD"}, name


SOURCES = "".join(
    path.read_text(encoding="utf-8")
    for folder in ("core", "vllm_plugin", "lmdeploy_plugin")
    for path in sorted((ROOT / folder).rglob("*.py"))
)
VARIABLES = {"TOOLGLOT_TEST_PROFILE", *re.findall(r"\bTOOLGLOT_[A-Z_]+[A-Z]\b", SOURCES)}


def options(command: str) -> set[str]:
    """The options of a command of `toolglot`."""
    parser = cli._arguments()
    (subparsers,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {option for action in subparsers.choices[command]._actions for option in action.option_strings}


@pytest.mark.parametrize(("page", "command"), list(inline_commands()))
def test_commands_in_running_text(page: str, command: str) -> None:
    words = command.split()
    if words[0] == "toolglot":
        known = options(words[1])
        assert all(word in known for word in words if word.startswith("--")), command
    elif words[:3] == ["python", "-m", "pip"]:
        check_pip(words)
    else:
        check_here(words)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_in_running_text(page: Path) -> None:
    """Every parser name and every variable of ours that a page mentions is there."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\btoolglot_([a-z]\w+)", text):
        known = name in list_dialects() or name in ("anomalies_total", "dropped_characters_total")
        assert known or (page.name, name) == ("quickstart.md", "hermess"), name
    for name in re.findall(r"\bTOOLGLOT_[A-Z_]+[A-Z]\b", text):
        assert name in VARIABLES, name


# -- examples ---------------------------------------------------------------------------------------------------


def needs_engine(block: Block) -> bool:
    """Run in tests/lmdeploy."""
    return "from openai " in block.text or block.page in ("docs/lmdeploy.md", "docs/lmdeploy_upstream.md")


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python(block: Block) -> None:
    ast.parse(block.text)
    if block.page in ELSEWHERE:
        assert Path(block.page).name in (ROOT / ELSEWHERE[block.page]).read_text(encoding="utf-8")
    elif not needs_engine(block):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", GIVEN + block.text], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("block", [block for block in blocks() if block.language in ("json", "jsonl", "toml")], ids=str)
def test_data(block: Block) -> None:
    if block.language == "json":
        json.loads(block.text)
    elif block.language == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())
    else:
        assert block.text in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", [block for block in blocks() if block.language == "dockerfile"], ids=str)
def test_dockerfile(block: Block) -> None:
    lines = [line.split() for line in block.text.splitlines() if not line.startswith("#")]
    assert [line[0] for line in lines] == ["FROM", "COPY", "RUN"]
    check_wheel(lines[1][1])
    check_pip(lines[2][1:])


# -- the ten models of the quick start --------------------------------------------------------------------------

# The chat template that each is of, in families.py.
TEMPLATES = {
    "Qwen/Qwen3-8B": "Qwen3",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": "Qwen3-Coder",
    "Qwen/Qwen3.5-9B": "Qwen3.5",
    "deepseek-ai/DeepSeek-V3.2": "DeepSeek-V3.2",
    "openai/gpt-oss-20b": "gpt-oss",
    "zai-org/GLM-4.7-Flash": "GLM-4.7, GLM-5",
    "moonshotai/Kimi-K2.5": "Kimi K2.5",
    "MiniMaxAI/MiniMax-M2.5": "MiniMax-M2",
    "meta-llama/Llama-3.3-70B-Instruct": "Llama 3.1 to 3.3",
    "mistralai/Mistral-Small-3.2-24B-Instruct-2506": "Mistral v11, v13",
}


def test_ten_models() -> None:
    assert [row[0] for row in QUICKSTART_MODELS] == list(TEMPLATES) and len(TEMPLATES) == 10


@pytest.mark.parametrize(("model", "dialect", "thinks", "lmdeploy", "architecture"), QUICKSTART_MODELS)
def test_a_model(model: str, dialect: str, thinks: str, lmdeploy: str, architecture: str) -> None:
    """Its row, its chat template and its commands agree."""
    assert detect(BY_NAME[TEMPLATES[model]].model()).dialect == dialect
    mine = [command for command in COMMANDS if command.block.page == "docs/quickstart.md" and model in command.words]
    assert [command.engine for command in mine] == ["vllm", "lmdeploy"][: 1 + (lmdeploy == "yes")]
    names = [f"toolglot_{dialect}"] * (1 + (thinks == "yes"))
    assert all(parsers(command) == names for command in mine)


# -- figures, links, promises -----------------------------------------------------------------------------------


def test_figures() -> None:
    """What the pages count is counted. Measurements are the bench's: test_bench.py."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    count = len(list_dialects())
    assert f"{count} of them, with {len(all_lines()):,} test cases" in readme
    assert f"the formats of {count} model families" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"for {count} dialects" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    lines = len((ROOT / "lmdeploy_plugin" / "autoload.py").read_text(encoding="utf-8").splitlines())
    for page in ("README.md", "docs/lmdeploy.md", "docs/operations.md"):
        assert f"{lines} lines" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page: Path) -> None:
    for source, target in links():
        if source != name_of(page):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_a_site_that_loads_something_is_found(tmp_path: Path) -> None:
    """`make docs` looks at what the pages load."""
    head = '<link rel="stylesheet" href="there.css"><link rel="next" href="gone"><img src="data:image/png;base64,">'
    (tmp_path / "there.css").write_text("@import 'https://fonts.example/a.css'; b{background:url(c.png)}")
    (tmp_path / "page.html").write_text(head + '<script src="//cdn.example/a.js"></script><a href="https://b.example">')
    assert list(build_docs.wrong(tmp_path)) == [
        "page.html loads //cdn.example/a.js",
        "there.css loads https://fonts.example/a.css",
        "there.css loads c.png, which is not there",
    ]


def test_no_network_and_no_telemetry() -> None:
    """What ships imports nothing that could open a connection, start a process, or report to somebody."""
    allowed = set(sys.stdlib_module_names) - {
        "socket", "ssl", "http", "asyncio", "ftplib", "smtplib", "xmlrpc", "socketserver", "webbrowser",
        "subprocess", "multiprocessing", "concurrent", "ctypes",
    }  # fmt: skip
    allowed |= {"toolglot", "vllm", "lmdeploy", "xgrammar", "jinja2", "prometheus_client", "numpy", "shortuuid"}
    for folder in ("core", "vllm_plugin", "lmdeploy_plugin"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and not node.level:
                    names = [str(node.module)]
                for name in names:
                    assert name.split(".")[0] in allowed and name != "urllib.request", (path, name)
