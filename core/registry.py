"""The dialects by name. A dialect registers itself when its module is imported; all modules of
``toolglot.core.dialects`` are imported on first use."""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from .errors import ConfigurationError, UnknownDialectError
from .spec import Dialect

_dialects: dict[str, Dialect] = {}
_aliases: dict[str, str] = {}
_loaded: set[str] = set()


def register(dialect: Dialect) -> Dialect:
    """Make a dialect known under its name and aliases.

    Raises ConfigurationError when one of them is taken by another dialect.
    """
    for name in (dialect.name, *dialect.aliases):
        owner = _aliases.get(name)
        if owner is not None and owner != dialect.name:
            raise ConfigurationError(f"dialect name {name!r} is taken by {owner!r}")
    _dialects[dialect.name] = dialect
    for name in (dialect.name, *dialect.aliases):
        _aliases[name] = dialect.name
    return dialect


def _discover() -> None:
    if _loaded:
        return
    from . import dialects

    for module in pkgutil.iter_modules(dialects.__path__):
        importlib.import_module(f"{dialects.__name__}.{module.name}")
        _loaded.add(module.name)


def get_dialect(name: str | Dialect) -> Dialect:
    """The dialect of that name or alias. Raises UnknownDialectError, which lists near matches."""
    if isinstance(name, Dialect):
        return name
    _discover()
    canonical = _aliases.get(name) if isinstance(name, str) else None
    if canonical is None:
        near = difflib.get_close_matches(str(name), _aliases, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else "."
        raise UnknownDialectError(f"unknown dialect {name!r}{hint} Known: {', '.join(list_dialects())}")
    return _dialects[canonical]


def list_dialects() -> list[str]:
    """Canonical names, sorted."""
    _discover()
    return sorted(_dialects)
