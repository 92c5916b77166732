"""What toolglot raises: wrong configurations and requests, before generation starts. Model text never raises."""

from __future__ import annotations


class ConfigurationError(ValueError):
    """A wrong option, tool list or tool choice. The message says what, where, and what to do."""


class UnknownDialectError(ConfigurationError, KeyError):
    """No dialect of that name; the message lists near matches."""

    def __str__(self) -> str:  # KeyError would print the repr
        return str(self.args[0]) if self.args else ""
