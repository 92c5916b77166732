"""What is said and checked when a parser is first built: vLLM does that before it serves."""

from __future__ import annotations

import logging
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from toolglot.core import ConfigurationError
from toolglot.core.spec import Dialect
from toolglot.vllm_plugin.settings import settings
from toolglot.vllm_plugin.tokens import missing_markers

__all__ = ["announce", "check_tokenizer", "toolglot_version", "vllm_version"]

logger = logging.getLogger("vllm.toolglot")

NEWEST_TESTED = (0, 33)


def toolglot_version() -> str:
    """The installed version of this package."""
    try:
        return version("toolglot")
    except PackageNotFoundError:
        return "unknown"


def vllm_version() -> str:
    """The engine's version."""
    import vllm

    return str(getattr(vllm, "__version__", "unknown"))


@cache
def announce(dialect: str) -> None:
    """One line in the server's log, once a process and dialect."""
    engine = vllm_version()
    logger.info("toolglot %s: dialect %s, vLLM %s, settings: %s", toolglot_version(), dialect, engine, settings())
    parts = engine.split(".")[:2]
    if len(parts) == 2 and all(part.isdecimal() for part in parts):
        found = (int(parts[0]), int(parts[1]))
        if found > NEWEST_TESTED:
            logger.warning(
                "toolglot: vLLM %s is newer than the newest it was tested with, %d.%d", engine, *NEWEST_TESTED
            )


def check_tokenizer(tokenizer: Any, dialect: Dialect) -> None:
    """Refuse a tokenizer that cannot write the dialect. vLLM turns this into an error at start-up."""
    if tokenizer is None or not hasattr(tokenizer, "get_vocab"):
        return
    missing = missing_markers(tokenizer, dialect)
    if missing:
        raise ConfigurationError(
            f"dialect {dialect.name!r} is not what this model writes: its tokenizer has no {', '.join(missing)}"
        )
