"""What is said when a parser is first built: vLLM does that before it serves."""

from __future__ import annotations

import logging
import os
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from toolglot.core.serving.record import notice
from toolglot.core.serving.settings import current, unknown_variables

__all__ = ["announce", "toolglot_version", "vllm_version"]

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
    """One line in the server's log, once a process and dialect. Raises ConfigurationError for a wrong setting."""
    current().check()
    for problem in unknown_variables(os.environ):
        logger.warning("toolglot: %s", problem)
    engine = vllm_version()
    logger.info("toolglot %s: dialect %s, vLLM %s, settings: %s", toolglot_version(), dialect, engine, current())
    if current().record:
        logger.warning(notice(current().record))
    parts = engine.split(".")[:2]
    if len(parts) == 2 and all(part.isdecimal() for part in parts):
        found = (int(parts[0]), int(parts[1]))
        if found > NEWEST_TESTED:
            logger.warning(
                "toolglot: vLLM %s is newer than the newest it was tested with, %d.%d", engine, *NEWEST_TESTED
            )
