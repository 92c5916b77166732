"""The command line ``toolglot``. Its commands are the modules of core/commands; no engine is needed."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import NoReturn

from . import commands
from .errors import ConfigurationError
from .serving.doctor import version_of


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. Wrong requests exit with 2 and one line on standard error.

    A reader that closes the pipe, and Ctrl-C, end it without a word: 1, and 130 as in a shell.
    """
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        arguments = _arguments().parse_args(argv)
        status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is flushed at exit
        return 1
    except KeyboardInterrupt:
        return 130
    except (ConfigurationError, OSError, UnicodeError) as error:  # UnicodeError: what standard output cannot show
        print(f"toolglot: {error}", file=sys.stderr)
        return 2


class _Arguments(argparse.ArgumentParser):
    """Wrong arguments are one line too."""

    def error(self, message: str) -> NoReturn:
        """See argparse."""
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help says more)\n")


def _arguments() -> argparse.ArgumentParser:
    parser = _Arguments(prog="toolglot", description="One parser for every LLM tool-call dialect.")
    parser.add_argument("--version", action="version", version=f"toolglot {version_of('toolglot') or 'of a checkout'}")
    names = parser.add_subparsers(required=True, metavar="COMMAND")
    for found in pkgutil.iter_modules(commands.__path__):
        module = importlib.import_module(f"{commands.__name__}.{found.name}")
        summary, _, more = (module.__doc__ or "").partition("\n")
        description = f"{summary[:1].upper()}{summary[1:]}.\n{more.rstrip()}"
        command = names.add_parser(
            found.name,
            help=summary,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(command)
        command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
