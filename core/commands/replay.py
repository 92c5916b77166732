"""parse recorded responses again

FILE is what the plugins write where TOOLGLOT_RECORD is set. Each response is parsed again, with its own chunks, and
what comes out otherwise than it was recorded is printed; the status is 1 if anything does.
"""

from __future__ import annotations

import argparse
import json
import sys

from ..detect import quiet
from ..recording import Recording, corpus_line, differences, read_recordings, to_json
from ..redact import redact, structure
from ..registry import list_dialects


def arguments(parser: argparse.ArgumentParser) -> None:
    """The file, and what to make of it."""
    parser.add_argument("--dialect", help=f"parse with another one of {', '.join(list_dialects())}")
    parser.add_argument("--number", type=int, metavar="N", help="only the Nth response")
    parser.add_argument("--redact", action="store_true", help="print the recording without content, to pass it on")
    parser.add_argument("--corpus", metavar="SOURCE",
                        help="print lines for tests/corpus; SOURCE is the URL they name")  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="recorded responses")


def run(arguments: argparse.Namespace) -> int:
    """Print the differences, or the lines asked for."""
    with quiet():
        return max((_one(arguments, *entry) for entry in read_recordings(arguments.file, arguments.number)), default=0)


def _one(arguments: argparse.Namespace, number: int, recorded: Recording) -> int:
    recording = _redacted(number, recorded) if arguments.redact else recorded
    if arguments.corpus is not None:
        print(json.dumps(corpus_line(recording, arguments.corpus, arguments.dialect), ensure_ascii=False))
    elif arguments.redact:
        print(to_json(recording))
    else:
        return _compare(number, recording, arguments.dialect)
    return 0


def _redacted(number: int, recording: Recording) -> Recording:
    redacted = redact(recording)
    if structure(redacted.again()) != structure(recording.again()):
        print(f"toolglot: response {number} is parsed otherwise without its content", file=sys.stderr)
    return redacted


def _compare(number: int, recording: Recording, dialect: str | None) -> int:
    again = recording.again(dialect)
    found = list(differences(recording, again))
    what = f"{number}  {again.dialect}, {len(recording.chunks)} chunks, {len(recording.text)} characters"
    made = ", ".join(filter(None, (recording.engine, recording.toolglot and f"toolglot {recording.toolglot}")))
    notes = ["", "; the parser failed when it was recorded"][recording.defect]
    notes += ["; recorded up to here only", ""][recording.finished]
    print(f"{what}{f' ({made})' if made else ''}{notes}: {'otherwise' if found else 'the same'}")
    for name, before, after in found:
        print(f"     {name}\n       recorded {before}\n       now      {after}")
    return int(bool(found))
