"""Check the package as a user gets it: what the wheel holds, and that it works with nothing else installed.

    python scripts/check_package.py      # needs `build` and `uv`, which fetches `twine`

Uses every Python of 3.10 to 3.13 that is found.

For each Python an empty environment gets the wheel, another one an editable install. Both must import
toolglot.core and parse a response from outside the checkout, with no other distribution there and no other
name at the top of site-packages. The editable one must also see a module that is added after the
installation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from link_sources import ROOT, package_folders

MINORS = (10, 11, 12, 13)
FILES = ("pyproject.toml", "README.md", "LICENSE")

USE = """
import sys, importlib.metadata
from toolglot.core import list_dialects, parse
message = parse('Hi.\\n<tool_call>\\n{"name": "add", "arguments": {"a": 1}}\\n</tool_call>', dialect="hermes")
assert message.content == "Hi.", message
assert [(call.name, call.arguments) for call in message.tool_calls] == [("add", '{"a": 1}')], message
assert "hermes" in list_dialects()
names = sorted(d.metadata["Name"] for d in importlib.metadata.distributions())
assert names == ["toolglot"], f"installed: {names}"
for name in ("core", "vllm_plugin", "lmdeploy_plugin"):
    try:
        __import__(name)
    except ImportError:
        pass
    else:
        raise AssertionError(f"{name} is importable as a top-level module")
"""


class CheckError(Exception):
    """What is wrong with the package."""


def run(command: Sequence[str | Path], cwd: Path | str = "/") -> str:
    """Run a command outside the checkout; its output, or an error that shows it."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, env=plain, check=False
    )
    if done.returncode != 0:
        raise CheckError(f"{' '.join(str(part) for part in command[:6])} ... failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> dict[int, Path]:
    """The interpreters found, by minor version of Python 3: on the path, and under pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[int, Path] = {}
    for minor in MINORS:
        candidates = [Path(sys.executable)] if sys.version_info[1] == minor else []
        on_path = shutil.which(f"python3.{minor}")
        candidates += [Path(on_path)] if on_path else []
        candidates += sorted(pyenv.glob(f"3.{minor}.*/bin/python"), reverse=True)
        for candidate in candidates:
            asked = subprocess.run(
                [str(candidate), "-c", "import sys, venv; print(sys.version_info[1])"],
                capture_output=True,
                text=True,
                check=False,
            )
            if asked.returncode == 0 and asked.stdout.strip() == str(minor):
                found[minor] = candidate
                break
    return found


def copy_sources(target: Path) -> None:
    """The source tree without what builds leave behind: a stale build folder could hide a mistake."""
    target.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, target / name)
    for folder in package_folders().values():
        shutil.copytree(ROOT / folder, target / folder, ignore=shutil.ignore_patterns("__pycache__"))


def build_wheel(sources: Path, target: Path) -> Path:
    """Build the wheel by way of a source distribution, as a release does."""
    run([sys.executable, "-m", "build", "--installer", "uv", "--outdir", target, sources])
    (wheel,) = target.glob("*.whl")
    (source,) = target.glob("*.tar.gz")
    run([sys.executable, "-m", "uv", "tool", "run", "twine", "check", "--strict", wheel, source])
    return wheel


def check_contents(wheel: Path) -> None:
    """The wheel holds every module of the source folders, under `toolglot`, and nothing else."""
    wanted = set()
    for package, folder in package_folders().items():
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and (file.suffix == ".py" or file.name == "py.typed"):
                wanted.add(f"{package.replace('.', '/')}/{file.relative_to(ROOT / folder).as_posix()}")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.split("/")[0].endswith(".dist-info")}
    if names != wanted:
        raise CheckError(
            f"the wheel and the sources differ: missing {sorted(wanted - names)}, unexpected {sorted(names - wanted)}"
        )


def check_installed(python: Path, work: Path, what: Path, *, editable: bool) -> Path:
    """Install into an empty environment and use it; the environment's interpreter."""
    run([python, "-m", "venv", "--without-pip", work])
    inside = work / "bin" / "python"
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(inside)]
    run([*install, "--editable", what] if editable else [*install, "--no-index", what])
    run([inside, "-c", USE])
    run([work / "bin" / "toolglot", "--help"])
    site = Path(run([inside, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip())
    names = sorted(path.name for path in site.iterdir() if path.name != "__pycache__")
    strange = [name for name in names if not name.startswith(("toolglot", "__editable__"))]
    if strange:
        raise CheckError(f"the installation put {strange} at the top of site-packages")
    return inside


def check_beside_an_engine(wheel: Path) -> None:
    """In this environment, the engines', pip would install the wheel and touch nothing else, dependencies included."""
    report = run(
        [*(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--force-reinstall", "--report", "-", wheel)]
    )
    names = [item["metadata"]["name"] for item in json.loads(report)["install"]]
    if names != ["toolglot"]:
        raise CheckError(f"beside an engine pip would install {names}")


def check_new_module(inside: Path, sources: Path) -> None:
    """A module added to the sources is there without a new installation."""
    (sources / "core" / "dialects" / "added_later.py").write_text("FOUND = True\n", encoding="utf-8")
    run([inside, "-c", "from toolglot.core.dialects.added_later import FOUND"])


def main() -> int:
    """Run all checks."""
    found = pythons()
    if not found:
        print("error: no Python of 3.10 to 3.13 was found", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="toolglot-package-") as scratch:
        work = Path(scratch)
        try:
            copy_sources(work / "sources")
            wheel = build_wheel(work / "sources", work / "dist")
            check_contents(wheel)
            print(f"{wheel.name}: every module under toolglot, nothing else", flush=True)
            check_beside_an_engine(wheel)
            print("in this environment pip would install it and change no other package", flush=True)
            for minor, python in found.items():
                start = time.monotonic()
                check_installed(python, work / f"wheel{minor}", wheel, editable=False)
                sources = work / f"sources{minor}"
                copy_sources(sources)
                inside = check_installed(python, work / f"editable{minor}", sources, editable=True)
                check_new_module(inside, sources)
                took = time.monotonic() - start
                print(f"Python 3.{minor}: wheel and editable install work alone ({took:.1f} s)", flush=True)
        except CheckError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    missing = [f"3.{minor}" for minor in MINORS if minor not in found]
    if missing:
        print(f"not on this machine, so not checked: Python {', '.join(missing)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
