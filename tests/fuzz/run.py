"""Fuzzing of the core: `make fuzz`.

    python tests/fuzz/run.py [--grammar tagged] [--characters 1e8] [--seconds 3600]

Every grammar gets its share of the characters, a tenth of it guided by coverage: atheris watches the core and keeps
inputs that reach something new. That costs about ten times what parsing does, so the rest are random mutations of the
inputs that it has kept. Characters are counted once, as a response has them, although each input is parsed twice.

What was tried is noted under .cache/fuzz, so that a later run goes on where this one was stopped. A failure is written
down there, and fuzzing goes on.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "core")]

GRAMMARS = ("envelope", "named", "tagged", "elements", "callsyntax", "builtin")
LONGEST = 600  # bytes of an input, which stand for up to 4,096 characters
KEPT = 25_000  # bytes of committed inputs of a grammar
SAVED = 2.0  # seconds between two notes of what was tried


@dataclass
class State:
    """What was tried of one grammar in one way, in all runs."""

    inputs: int = 0
    characters: int = 0
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)


class Record:
    """The folder of one grammar: corpus, and for each way what was tried and what failed."""

    def __init__(self, grammar: str, way: str) -> None:
        self.folder = ROOT / ".cache" / "fuzz" / grammar
        self.corpus = self.folder / "corpus"
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / f"{way}.log"
        self._file = self.folder / f"{way}.json"
        self.state = State(**json.loads(self._file.read_text())) if self._file.exists() else State()

    def save(self) -> None:
        """In one step: a run may be stopped at any time."""
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(asdict(self.state)))
        new.replace(self._file)

    def failed(self, case: Any, error: Exception) -> None:
        """Note a failure, and the first cases of each kind."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{case.dialect}: {type(error).__name__} in {place.name}"
        count = self.state.failures[kind] = self.state.failures.get(kind, 0) + 1
        if count <= 5:
            entry = {"kind": kind, "error": str(error)[:500], "case": json.loads(case.to_json())}
            with (self.folder / "failures.jsonl").open("a") as file:
                file.write(json.dumps(entry) + "\n")


class Session:
    """One run of one grammar in one way, up to its share of characters or seconds."""

    def __init__(self, grammar: str, way: str, characters: int, seconds: float) -> None:
        from target import decode

        self._decode = decode
        self._grammar = grammar
        self.record = Record(grammar, way)
        self._characters, self._seconds = characters, seconds
        self._before, self._begun = self.record.state.seconds, time.monotonic()
        self._saved = self._begun
        self.over = self.record.state.characters >= characters

    def one(self, data: bytes) -> None:
        """Check one input."""
        state = self.record.state
        case = self._decode(data, self._grammar)
        state.inputs += 1
        state.characters += len(case.text)
        try:
            case.check()
        except Exception as error:
            self.record.failed(case, error)
        now = time.monotonic()
        self.over = state.characters >= self._characters or now - self._begun >= self._seconds
        if self.over or now - self._saved > SAVED:
            self._saved = now
            state.seconds = self._before + now - self._begun
            self.record.save()


def guided(grammar: str, characters: int, seconds: float) -> None:
    """By coverage; ends the process."""
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is missing: pip install '.[fuzz]'")
    with atheris.instrument_imports(include=["toolglot"]):
        from toolglot.core import list_dialects
    list_dialects()
    from target import seeds

    session = Session(grammar, "guided", characters, seconds)
    corpus = session.record.corpus
    if not any(corpus.iterdir()):
        for number, data in enumerate(seeds(grammar)):
            (corpus / f"seed-{number:04}").write_bytes(data)

    def one(data: bytes) -> None:
        session.one(data)
        if session.over:
            os._exit(0)  # atheris never returns

    limits = [f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=4096", "-reload=0", "-verbosity=0"]
    atheris.Setup([sys.argv[0], str(corpus), *limits, f"-artifact_prefix={session.record.folder}/"], one)
    atheris.Fuzz()


def random_ones(grammar: str, characters: int, seconds: float) -> None:
    """Mutations of what coverage has found."""
    from target import mutated

    session = Session(grammar, "random", characters, seconds)
    kept = [file.read_bytes() for file in sorted(session.record.corpus.iterdir())]
    dice = random.Random(session.record.state.inputs)
    while not session.over:
        session.one(mutated(dice.choice(kept), dice))


def keep(grammar: str) -> None:
    """Commit what coverage has kept: the shortest inputs, as cases, for test_grammars.py."""
    from target import INPUTS, decode

    found = [file.read_bytes() for file in Record(grammar, "guided").corpus.iterdir() if "seed" not in file.name]
    lines = sorted({decode(data, grammar).to_json() for data in found}, key=lambda line: (len(line), line))
    size = 0
    with (INPUTS / f"{grammar}.jsonl").open("w", encoding="ascii") as file:
        for line in lines:
            size += len(line)
            if size > KEPT:
                break
            file.write(line + "\n")


def report(grammar: str, way: str) -> bool:
    """Say what was tried; whether something failed."""
    state = Record(grammar, way).state
    speed = state.characters / max(state.seconds, 1)
    print(
        f"{grammar:<11} {way:<7} {state.inputs:>10,} inputs {state.characters:>12,} characters {state.seconds:>7,.0f} s"
        f" {speed:>8,.0f} characters/s  failures: {sum(state.failures.values())}",
        flush=True,
    )
    for kind, count in state.failures.items():
        print(f"    {count:>6} {kind}")
    return bool(state.failures)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--grammar", action="append", choices=GRAMMARS, help="may be repeated; default: all")
    parser.add_argument("--characters", type=float, default=1e8, help="in all runs of all grammars (default: 1e8)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of this run, for all grammars together")
    parser.add_argument("--keep", action="store_true", help="only write inputs/, from what earlier runs have kept")
    parser.add_argument("--child", choices=list(WAYS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    grammars = options.grammar or list(GRAMMARS)
    if options.child:
        logging.getLogger("toolglot").setLevel(logging.ERROR)  # else a line for every response that lost something
        WAYS[options.child][0](grammars[0], int(options.characters), options.seconds)
        return 0
    if options.keep:
        for grammar in grammars:
            keep(grammar)
        return 0
    failed = False
    turns = [(grammar, way) for grammar in grammars for way in WAYS]
    for number, (grammar, way) in enumerate(turns):
        begun = time.monotonic()
        share = options.characters / len(GRAMMARS) * WAYS[way][1]
        left = options.seconds / (len(turns) - number)
        command = [sys.executable, __file__, "--child", way, "--grammar", grammar]
        record = Record(grammar, way)
        with record.log.open("w") as log:
            code = subprocess.call(
                [*command, "--characters", str(share), "--seconds", str(left)], stdout=log, stderr=log
            )
        options.seconds -= time.monotonic() - begun
        failed = report(grammar, way) or failed
        if code:
            print(f"    ended with status {code}: {record.log}")
            failed = True
    return int(failed)


Way = Callable[[str, int, float], None]
WAYS: dict[str, tuple[Way, float]] = {"guided": (guided, 0.1), "random": (random_ones, 0.9)}

if __name__ == "__main__":
    sys.exit(main())
