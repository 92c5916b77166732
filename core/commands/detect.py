"""say which dialect a model writes

Reads a model's tokenizer files and chat template, in a directory or in the local Hugging Face cache; nothing is
downloaded, and no code of the model runs. The status is 1 where the dialect is not certain.
"""

from __future__ import annotations

import argparse

from ..detect import detect
from ..model_files import read_model


def arguments(parser: argparse.ArgumentParser) -> None:
    """The model."""
    parser.add_argument("model", metavar="PATH_OR_REPO", help="a directory, or a name in the Hugging Face cache")


def run(arguments: argparse.Namespace) -> int:
    """Print the dialect and why, or the candidates and why not."""
    found = detect(read_model(arguments.model))
    print(found.dialect or "not certain")
    if found.dialect is None and found.candidates:
        print(f"  it could be {' or '.join(found.candidates)}")
    for line in (*found.reasons, *found.notes):
        print(f"  {line}")
    return int(found.dialect is None)
