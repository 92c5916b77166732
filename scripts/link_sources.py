"""Link the source folders into .cache/src/toolglot, the shape in which they are installed.

A type checker and an editor do not run the import hooks of an editable install; with .cache/src on their
path (it is, in pyproject.toml, for mypy and pyright) they follow `toolglot.core` to core/, new modules
included.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # a requirement of mypy's there

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "toolglot"
TARGET = ROOT / ".cache" / "src" / PACKAGE


def package_folders() -> dict[str, str]:
    """Package name -> source folder, from pyproject.toml."""
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders: dict[str, str] = settings["tool"]["setuptools"]["package-dir"]
    return folders


def link_sources() -> None:
    """Make the links anew."""
    folders = package_folders()
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    for file in sorted((ROOT / folders[PACKAGE]).iterdir()):
        if file.is_file():
            (TARGET / file.name).symlink_to(file)
    for package, folder in folders.items():
        if package != PACKAGE:
            (TARGET / package.removeprefix(PACKAGE + ".")).symlink_to(ROOT / folder, target_is_directory=True)


if __name__ == "__main__":
    link_sources()
