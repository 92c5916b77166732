"""The command line ``toolglot``. Its commands are the modules of core/commands; no engine is needed."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from . import commands
from .errors import ConfigurationError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. Wrong requests exit with 2 and one line on standard error."""
    arguments = _arguments().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (ConfigurationError, OSError, UnicodeDecodeError) as error:
        if isinstance(error, BrokenPipeError):
            return 1
        print(f"toolglot: {error}", file=sys.stderr)
        return 2


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="toolglot", description="One parser for every LLM tool-call dialect.")
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
