"""Values that arrive as raw text between delimiters, turned into JSON text by their schema types.

Rules
- The types are what `ToolSchema.types` says; the empty set (unknown) is read as string.
- Readings are tried in the order null, integer, number, boolean, object, array, string. Blanks around a
  non-string value are dropped; a string is verbatim, blanks included.
- Valid JSON is copied as written (spelling of numbers, order of keys, spacing). Numbers that are nearly JSON
  are mended by string operations (007, +5, .5, 5.), so no size of number is a problem. Objects and arrays
  that are no JSON are tried as Python literals. What fits no type is a string ("unconverted_value").
- A JSON string that holds the object or array the schema wants is unwrapped ("string_arguments"); not
  where the schema takes strings too: there quotes are data.
- Without `python_words`: null, true, false in lower case only, and no Python literals.
- Where the format itself says what a value is (`Written`), that counts: TEXT is a string unless the schema takes
  none; JSON is copied as written, and only what is no JSON is read by its types.

Theory of operation
`convert` is the whole-value rule. An encoder gives the same JSON text for any split, as early as it can:
- string only: the text streams, escaped;
- string or something else: text is held while it is a prefix of another reading, which an automaton decides,
  looking at each character once; then it streams as a string, or is converted at the close;
- no string: converted at the close; where the engine enforces the grammar (`constrained`), objects, arrays
  and numbers go out as they come.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from json.encoder import encode_basestring
from typing import Protocol

__all__ = ["BLANKS", "NEEDS_ESCAPE", "Encoder", "Written", "convert", "escape_json", "fix_number", "make_encoder"]

BLANKS = " \t\r\n"
NEEDS_ESCAPE = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def escape_json(text: str) -> str:
    """Body of the JSON string for `text`; `text` itself where nothing needs escaping."""
    if NEEDS_ESCAPE.search(text) is None:
        return text
    quoted = encode_basestring(text)[1:-1]
    # The encoder keeps lone surrogates, which UTF-8 would refuse later.
    return quoted if quoted.isascii() else _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


# -- readings of a whole value

# Every part is optional, so `match` never tries again.
_NUMBER = re.compile(r"([+-]?)([0-9]*)(\.?)([0-9]*)([eE][+-]?[0-9]+)?")


def fix_number(text: str) -> str | None:
    """`text` as a JSON number: as written where it is one, else mended; None where it is no number."""
    found = _NUMBER.match(text)
    sign, whole, dot, fraction, exponent = found.groups("") if found else [""] * 5
    if found is None or found.end() != len(text) or not (whole or fraction):
        return None
    number = ("-" if sign == "-" else "") + (whole.lstrip("0") or "0")
    if dot:
        number += "." + (fraction or "0")
    return number + exponent


def _is_integral(number: str) -> bool:
    """Whether the value of a JSON number is an integer; by its digits, as no float can tell for 1e400."""
    mantissa, _, exponent = number.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = fraction.rstrip("0")
    if not (whole + fraction).strip("0"):
        return True
    size = int(exponent.lstrip("+-").lstrip("0")[:10] or "0")  # ten digits: beyond the length of any text
    zeros = -len(fraction) if fraction else len(whole) - len(whole.rstrip("0"))
    return zeros + (-size if exponent.startswith("-") else size) >= 0


def _json_kind(text: str) -> str:
    """Python type name of valid JSON (dict, list, str, ...); "" where the text is not valid JSON."""
    try:
        # Numbers need no value, and int() would refuse 10000 digits; it does refuse NaN and Infinity.
        value = json.loads(text, parse_int=len, parse_float=len, parse_constant=int)
    except (ValueError, RecursionError):
        return ""
    return type(value).__name__


_BRACKETS = {"object": ("{", "dict"), "array": ("[", "list")}


def _container(text: str, wanted: str, strings: bool, python_words: bool) -> tuple[str, str | None] | None:
    """Reading of stripped text as an object or array."""
    bracket, kind = _BRACKETS[wanted]
    if text.startswith(bracket) and _json_kind(text) == kind:
        return text, None
    if text.startswith('"') and not strings and _json_kind(text) == "str":
        inner = json.loads(text).strip(BLANKS)
        if inner.startswith(bracket) and _json_kind(inner) == kind:
            return inner, "string_arguments"
    if python_words and text.startswith(bracket if strings else ("{", "[", "(")):
        from .literals import python_to_json  # literals.py builds on this module

        literal = python_to_json(text)
        if literal is not None and literal.startswith(bracket):
            return literal, None
    return None


class Written(Enum):
    """What a format says about a value by itself."""

    UNKNOWN = 0  # nothing: the schema decides
    TEXT = 1
    JSON = 2


def convert(
    text: str, types: frozenset[str], *, python_words: bool = True, written: Written = Written.UNKNOWN
) -> tuple[str, str | None]:
    """JSON text of a whole value, and the anomaly it took ("unconverted_value", "string_arguments")."""
    strings = not types or "string" in types
    body = text.strip(BLANKS)
    kind = _json_kind(body) if written is Written.JSON else ""
    if kind and (strings or kind != "str"):
        return body, None
    if types:
        word = body if len(body) > 5 or not python_words else body.lower()
        if "null" in types and (word == "null" or (python_words and word == "none")):
            return "null", None
        if "integer" in types or "number" in types:
            number = fix_number(body)
            if number is not None and ("number" in types or _is_integral(number)):
                return number, None
        if "boolean" in types and word in ("true", "false"):
            return word, None
        for wanted in _BRACKETS:
            if wanted in types:
                found = _container(body, wanted, strings, python_words)
                if found is not None:
                    return found
    if kind:
        return body, "unconverted_value"  # a JSON string where the schema takes none
    return '"' + escape_json(text) + '"', None if strings else "unconverted_value"


# -- encoders: the same, chunk by chunk


class Encoder(Protocol):
    """One value on its way. `feed` as text comes, then `close` at its end or `cut` where the input ended."""

    streaming: bool
    """An exact string is going out: text without NEEDS_ESCAPE characters would pass `feed` unchanged."""
    anomaly: str | None
    """After `close`: "unconverted_value" or "string_arguments" where that happened."""

    def feed(self, text: str) -> str:
        """JSON text that is final now."""

    def close(self) -> str:
        """Rest of the JSON text, at the value's real end."""

    def cut(self) -> str | None:
        """What closes the text given so far; "" for JSON that came as written; None: drop the pair."""


class _Whole:
    """No string among the types: converted at the close."""

    __slots__ = ("_pieces", "_python_words", "_types", "_written", "anomaly", "streaming")

    def __init__(self, types: frozenset[str], python_words: bool, written: Written = Written.UNKNOWN) -> None:
        self._types = types
        self._python_words = python_words
        self._written = written
        self._pieces: list[str] = []
        self.streaming = False
        self.anomaly: str | None = None

    def feed(self, text: str) -> str:
        self._pieces.append(text)
        return ""

    def close(self) -> str:
        value, self.anomaly = convert(
            "".join(self._pieces), self._types, python_words=self._python_words, written=self._written
        )
        return value

    def cut(self) -> str | None:
        return None


class _Constrained(_Whole):
    """Valid by the engine's grammar: an object, array or number goes out as it comes, words at the close."""

    __slots__ = ("_out",)

    def __init__(self, types: frozenset[str], python_words: bool, written: Written) -> None:
        super().__init__(types, python_words, written)
        self._out: bool | None = None  # None: only blanks so far

    def feed(self, text: str) -> str:
        if self._out is None:
            body = text.lstrip(BLANKS)
            if not body:
                self._pieces.append(text)
                return ""
            self._out = body[0] in "{[-0123456789"
            if self._out:
                self._pieces.clear()
                text = body
        if not self._out:
            return super().feed(text)
        body = text.rstrip(BLANKS)
        if not body:
            self._pieces.append(text)
            return ""
        inner = "".join(self._pieces)  # blanks that turn out to be inside the value
        self._pieces[:] = [text[len(body) :]]
        return inner + body

    def close(self) -> str:
        return "" if self._out else super().close()

    def cut(self) -> str | None:
        return "" if self._out else None


# The number automaton, as fix_number has it, blanks around: state -> kind of the next run -> state. Runs are
# digits ("0"), blanks (" "), a sign ("-"), "." and "e".
_RUN = re.compile(r"[0-9]+|[ \t\r\n]+|[.eE+-]")
_STEPS: dict[str, dict[str, str]] = {
    "start": {" ": "start", "-": "sign", "0": "whole", ".": "point"},
    "sign": {"0": "whole", ".": "point"},
    "whole": {"0": "whole", ".": "fraction", "e": "e", " ": "tail"},
    "point": {"0": "fraction"},
    "fraction": {"0": "fraction", "e": "e", " ": "tail"},
    "e": {"-": "power sign", "0": "power"},
    "power sign": {"0": "power"},
    "power": {"0": "power", " ": "tail"},
    "tail": {" ": "tail"},
}
_KINDS = {"0": "0123456789", " ": BLANKS, "-": "+-", ".": ".", "e": "eE"}
_CLASS = {char: kind for kind, chars in _KINDS.items() for char in chars}
_LETTERS = re.compile(r"[A-Za-z]+")


class _String:
    """A string and nothing else: goes out as it comes."""

    __slots__ = ("anomaly", "streaming")

    def __init__(self) -> None:
        self.streaming = False
        self.anomaly: str | None = None

    def feed(self, text: str) -> str:
        if self.streaming:
            return escape_json(text)
        if not text:
            return ""
        self.streaming = True
        return f'"{escape_json(text)}'

    def close(self) -> str:
        return '"' if self.streaming else '""'

    def cut(self) -> str | None:
        return '"' if self.streaming else None


class _Text(_Whole):
    """A string, or perhaps one: held while it may be something else."""

    __slots__ = ("_brackets", "_state", "_word", "_words")

    def __init__(self, types: frozenset[str], python_words: bool) -> None:
        super().__init__(types, python_words)
        self._words = ("null", "none")[: 1 + python_words] if "null" in types else ()
        self._words += ("true", "false") if "boolean" in types else ()
        self._brackets = "".join(_BRACKETS[name][0] for name in _BRACKETS if name in types)
        self._state = "start"  # of the automaton; or "word", or "held" (to the end)
        self._word = ""

    def feed(self, text: str) -> str:
        if self.streaming:
            return escape_json(text)
        self._pieces.append(text)
        if not text or self._undecided(text):
            return ""
        self.streaming = True
        pieces, self._pieces = self._pieces, []
        return '"' + escape_json("".join(pieces))

    def _undecided(self, text: str) -> bool:
        """Whether the value may still be something else, now that `text` was added."""
        pos = 0
        while pos < len(text):
            char = text[pos]
            kind = _CLASS.get(char, "")
            if self._state == "start" and kind != " ":
                if char in self._brackets:
                    self._state = "held"
                elif char.isalpha():
                    self._state = "word"
                elif not self._types & {"integer", "number"}:
                    return False
            if self._state == "held":
                return True
            if self._state == "word":
                letters = _LETTERS.match(text, pos)
                if letters is not None:
                    self._word += letters[0][:6]  # more than any word has
                    word = self._word.lower() if self._python_words else self._word
                    if not any(candidate.startswith(word) for candidate in self._words):
                        return False
                    pos = letters.end()
                    continue
                if kind != " " or self._word.lower() not in self._words:
                    return False
                self._state = "tail"
            step = _STEPS[self._state].get(kind)
            run = _RUN.match(text, pos)
            if step is None or run is None:
                return False
            self._state = step
            pos = run.end()
        return True

    def close(self) -> str:
        return '"' if self.streaming else super().close()

    def cut(self) -> str | None:
        return '"' if self.streaming else None


def make_encoder(
    types: frozenset[str],
    *,
    python_words: bool = True,
    constrained: bool = False,
    written: Written = Written.UNKNOWN,
) -> Encoder:
    """The encoder of one value whose JSON types are `types` (empty: unknown)."""
    if written is not Written.JSON and (not types or "string" in types):
        return _Text(types, python_words) if len(types) > 1 and written is Written.UNKNOWN else _String()
    return (_Constrained if constrained else _Whole)(types, python_words, written)
