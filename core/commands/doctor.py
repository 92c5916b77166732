"""look for what keeps the engines here from using toolglot

Looks at the engines, their parsers' names, the settings and XGrammar, and changes nothing; with a model also at its
tokenizer and chat template (`toolglot check`), and ends with the command line for each engine. A line that begins
with ! is a problem, and the status is 1 then.
"""

from __future__ import annotations

import argparse
import importlib
import os

from ..serving.doctor import report, settings_findings, xgrammar_findings
from . import check

# The engine plugins' own checks: the core knows them by name only, and imports them when it runs.
DOCTORS = ("toolglot.vllm_plugin.doctor", "toolglot.lmdeploy_plugin.doctor")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The model, where it is to be looked at too."""
    parser.add_argument(
        "model", metavar="PATH_OR_REPO", nargs="?", help="a directory, or a name in the Hugging Face cache"
    )
    parser.add_argument("--dialect", help="a dialect's name (default: the one that is found)")


def run(arguments: argparse.Namespace) -> int:
    """Print all findings."""
    status = max([int(importlib.import_module(name).main()) for name in DOCTORS], default=0)
    status = max(status, report(xgrammar_findings()), report(settings_findings(os.environ)))
    if arguments.model is None:
        print("toolglot doctor PATH_OR_REPO looks at a model too, and ends with the command line for each engine")
        return status
    return max(status, check.run(arguments))
