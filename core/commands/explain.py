"""show what became of every character of a response

Raw model text in; out comes which characters were content, reasoning, markup, name and arguments, what happened on
the way, and each delta with what it waited for. It answers "where did my tool call go?".
"""

from __future__ import annotations

import argparse
import os
import sys

from ..detect import quiet
from ..errors import ConfigurationError
from ..explain import to_html, to_text
from ..recording import read_recordings
from ..tracing import Trace, trace
from .parse import add_request, read_text, request_options


def arguments(parser: argparse.ArgumentParser) -> None:
    """The core's options, the text, and the form of the answer."""
    add_request(parser, dialect=False)
    parser.add_argument("--finish-reason", metavar="REASON", help='why the model stopped: "stop", "length", ...')
    parser.add_argument("--recorded", type=int, metavar="N", help="FILE is a recording: explain its Nth response")
    parser.add_argument("--html", metavar="PAGE", help="write one HTML page, to attach to a report")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    parser.add_argument("file", nargs="?", metavar="FILE", help="raw text, UTF-8 (default: standard input)")


def run(arguments: argparse.Namespace) -> int:
    """Print the trace, or write the page."""
    with quiet():  # the trace tells the same
        found = _trace(arguments)
    if arguments.html is not None:
        with open(arguments.html, "w", encoding="utf-8") as file:
            file.write(to_html(found))
        return 0
    wanted = arguments.color == "always" or (
        arguments.color == "auto" and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    )
    sys.stdout.write(to_text(found, wanted))
    sys.stdout.flush()
    return 0


def _trace(arguments: argparse.Namespace) -> Trace:
    if arguments.recorded is None:
        if arguments.dialect is None:
            raise ConfigurationError("--dialect is needed, or --recorded with a recording")
        text = read_text(arguments.file)
        options = request_options(arguments)
        return trace(text, arguments.dialect, finish_reason=arguments.finish_reason, **options)
    if arguments.file is None:
        raise ConfigurationError("--recorded needs a FILE")
    ((_, recording),) = read_recordings(arguments.file, arguments.recorded)
    return recording.trace(arguments.dialect)
