"""check a model against a dialect

Looks for the dialect's markers in the tokenizer, renders tool calls with the model's own chat template, in a sandbox,
and reads them back, and says how to start each engine. What could not be verified is said. Nothing is downloaded,
no code of the model runs. The status is 1 where something is wrong, or the dialect is not certain.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

from ..detect import detect, quiet, reads_back
from ..model_files import Model, read_model
from ..probes import THINKING, probe
from ..registry import get_dialect
from ..serving.prompt import has_reasoning
from ..serving.tokens import as_spelled, missing_markers, spellings
from ..spec import Dialect

MARKER = re.compile(r"<[^<>{}\s=\"]+>|\[/?[A-Z_]{3,}\]")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The model, and the dialect if it is not to be found out."""
    parser.add_argument("model", metavar="PATH_OR_REPO", help="a directory, or a name in the Hugging Face cache")
    parser.add_argument("--dialect", help="a dialect's name (default: the one that is found)")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; a line that begins with ! is a problem."""
    model = read_model(arguments.model)
    if arguments.dialect is None:
        found = detect(model)
        if found.dialect is None:
            print(f"! the dialect is not certain: {'; '.join(found.reasons)}")
            print(f"  name one with --dialect: {', '.join(found.candidates) or 'no candidate was found'}")
            return 1
        dialect = as_spelled(get_dialect(found.dialect), model)
        print(f"dialect: {dialect.name}, found: {'; '.join(found.reasons)}")
    else:
        dialect = as_spelled(get_dialect(arguments.dialect), model)
        print(f"dialect: {dialect.name}, as told")
    problem = False
    for line in (*_markers(model, dialect), *_round_trip(model, dialect), *_commands(arguments.model, dialect)):
        problem |= line.startswith("!")
        print(line)
    return int(problem)


def _markers(model: Model, dialect: Dialect) -> Iterator[str]:
    """Which of the dialect's markers are tokens."""
    if not model.vocabulary:
        yield "markers: not verified, the vocabulary was not found"
        return
    markers = dict.fromkeys(found for text in spellings(dialect) for found in MARKER.findall(text))
    single = [text for text in markers if text in model.vocabulary]
    yield f"single tokens: {', '.join(_flagged(text, model) for text in single) or 'no marker'}"
    missing = missing_markers(model, dialect)
    others = [text for text in markers if text not in model.vocabulary and text not in missing]
    if others:
        yield f"no single tokens: {', '.join(others)}"
    if missing and model.complete:
        yield f"! the tokenizer has no {', '.join(missing)}, which can only be single tokens"
    elif missing:
        yield f"not verified: {', '.join(missing)} may be in the vocabulary, which was not found as a whole"


def _flagged(text: str, model: Model) -> str:
    return f"{text} (special)" if text in model.special else text


def _round_trip(model: Model, dialect: Dialect) -> Iterator[str]:
    """Whether what the chat template writes comes back."""
    yield from (f"not verified: {note}" for note in model.notes)
    if model.render is None:
        yield "round trip: not verified"
        return
    found = probe(model.render)
    if not found.written:
        why = f" ({found.error})" if found.error else ""
        yield f"! round trip: the chat template writes no tool calls{why}"
        return
    with quiet():
        for kind, group in found.groups:
            if kind == THINKING and not any(item.thought for item in group):
                continue  # said below
            if not group:
                yield f"round trip, {kind}: not verified, the template does not render it"
            elif any(reads_back(dialect, item) for item in group):
                yield f"round trip, {kind}: read back"
            else:
                yield f"! round trip, {kind}: {dialect.name} does not read back {group[0].text[:160]!r}"
    if not any(item.thought for group in found.written for item in group) and has_reasoning(dialect):
        yield "not verified: reasoning, the template does not write that of earlier turns"


def _commands(model: str, dialect: Dialect) -> Iterator[str]:
    """What to start each engine with."""
    flags = f"--tool-call-parser toolglot_{dialect.name}"
    if has_reasoning(dialect):
        flags += f" --reasoning-parser toolglot_{dialect.name}"
    own = dialect.engines.sglang.split()
    yield f"SGLang, its own parser: {' or '.join(f'--tool-call-parser {name}' for name in own) or 'none'}"
    yield f"LMDeploy: lmdeploy serve api_server {shlex.quote(model)} {flags}"
    yield f"vLLM: vllm serve {shlex.quote(model)} --enable-auto-tool-choice {flags}"
