"""The usual spelling of JSON that holds a call, compiled: what is read in one step, and what is likely to come."""

from __future__ import annotations

import re
from functools import lru_cache

from .buffer import BLANKS
from .expected import Expected, Part
from .head import NAME_LIMIT
from .spec import Envelope

# Where the reader is: before an object, behind one, before a key, a colon or a value, inside the string of a name or an
# id, inside the arguments, and inside a member, or a long key, that is skipped.
OPEN, NEXT, KEY, COLON, VALUE, NAME, ID, ARGUMENTS, SKIP, SKIP_KEY = range(10)
CHARACTERS = r'[^"\\]'  # of a string that holds no escape


class EnvelopeGrammar:
    """An Envelope, compiled: its usual spelling, which is read in one step where it stands as a whole."""

    def __init__(self, spec: Envelope) -> None:
        name, blanks = re.escape(f'"{spec.name}"'), rf"[{BLANKS}]*"
        key = "" if spec.key_is_name else f"{name}{blanks}:{blanks}"
        string = f'"({CHARACTERS}{{1,{NAME_LIMIT}}})"'
        self.opening = re.compile(rf"\{{{blanks}{key}{string}").match
        arguments = re.escape(f'"{spec.arguments[0]}"')
        self.arguments = re.compile(f",?{blanks}{arguments}{blanks}:{blanks}").match
        self.separators = (",", spec.between.strip() or ",")
        self._spec = spec
        self._expected: dict[tuple[int, bool, bool], Expected | None] = {}

    def expected(self, state: int, in_list: bool, named: bool) -> Expected | None:
        """What is likely in a state, up to the name or, when that is known, up to the arguments."""
        found = self._expected.get((state, in_list, named), _UNKNOWN)
        if found is _UNKNOWN:
            parts = self._arguments_from(state) if named else self._name_from(state, in_list)
            found = self._expected[state, in_list, named] = Expected(parts) if parts else None
        return found

    def _name_from(self, state: int, in_list: bool) -> list[Part]:
        """From a state to a name: ``, [{"name": "``."""
        bracket = {"array": ("[",), "either": ("[", "")}.get(self._spec.shape, ("",))
        parts: list[Part] = [((self.separators[1],), ""), (("",) if in_list else bracket, ""), (("{",), "")]
        parts += [] if self._spec.key_is_name else [((f'"{self._spec.name}"',), ""), ((":",), "")]
        parts.append((('"',), CHARACTERS))
        return parts[{NEXT: 0, OPEN: 1, KEY: 3, COLON: 4, VALUE: 5, NAME: 5}.get(state, len(parts)):]

    def _arguments_from(self, state: int) -> list[Part]:
        """From a state behind the name to the arguments: ``, "arguments": ``."""
        parts: list[Part] = [((",", ""), ""), ((f'"{self._spec.arguments[0]}"',), ""), ((":",), "")]
        return parts[2 if state == COLON else 0 if state == KEY and not self._spec.key_is_name else 3:]


_UNKNOWN = Expected([])


@lru_cache(maxsize=256)
def compile_envelope(spec: Envelope) -> EnvelopeGrammar:
    """The grammar of a spec."""
    return EnvelopeGrammar(spec)
