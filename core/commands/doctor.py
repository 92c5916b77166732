"""look for what keeps the engines here from using toolglot

The checks are the engine plugins' own: the core knows them by name only, and imports them when it runs.
"""

from __future__ import annotations

import argparse
import importlib

DOCTORS = ("toolglot.vllm_plugin.doctor", "toolglot.lmdeploy_plugin.doctor")


def arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(arguments: argparse.Namespace) -> int:
    """Run the doctor of every engine plugin; the status is 1 when one of them found a problem."""
    return max([int(importlib.import_module(name).main()) for name in DOCTORS])
