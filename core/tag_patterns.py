"""A JSON schema's ``pattern`` for the text of a string in a grammar.

A pattern may match anywhere in a string, a grammar describes the whole of it; and some characters must not stand in
that text as they are (a quote mark inside a JSON string, what could begin a closer in raw text). ``rewrite_pattern``
gives the pattern for the whole text: what is open at an end goes on with any characters, ``.`` and negated classes
leave out the forbidden ones. The result is of the simplest regex syntax (literals, classes, groups, alternatives,
counts), which XGrammar reads in all versions; ``as_rule`` writes the same as the body of an EBNF rule.

None where that cannot be done: look-around, back references, word boundaries, properties of characters, and literal
characters that are forbidden.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

__all__ = ["FORMATS", "as_rule", "rewrite_pattern"]

_DIGIT, _WORD, _BLANK = "0-9", "a-zA-Z0-9_", " \\t\\n\\r"
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _BLANK}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_TOKEN = re.compile(
    r"\\(?P<escape>[\s\S])|\[(?P<set>\^?\]?(?:\\[\s\S]|[^\]\\])*)\]|(?P<open>\((?:\?(?::|P?<\w+>))?)|(?P<close>\))"
    r"|(?P<count>[*+?]|\{\d+(?:,\d*)?\})|(?P<or>\|)|(?P<begin>\^)|(?P<end>\$)|(?P<any>\.)|(?P<literal>[\s\S])"
)
_MEMBER = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[\s\S])|([\s\S])")

# The raw text of a string of these formats. Stricter than the formats are: nothing that needs care to write.
FORMATS = {
    "date": r"^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$",
    "time": r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
    "duration": r"^P([0-9]{1,4}D(T[0-9]{1,4}[HMS])?|T[0-9]{1,4}[HMS]|[0-9]{1,4}[WMY])$",
    "email": r"^[a-zA-Z0-9_+-]{1,32}(\.[a-zA-Z0-9_+-]{1,16}){0,2}@[a-zA-Z0-9]{1,32}(\.[a-zA-Z0-9]{1,16}){1,3}$",
    "hostname": r"^[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?){0,4}$",
    "ipv4": r"^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$",
    "ipv6": r"^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
    "uuid": r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    "uri": r"^[a-z][a-z0-9+.-]{0,15}://[a-zA-Z0-9.-]{1,64}(:[0-9]{1,5})?(/[a-zA-Z0-9._~%!&'()*+,;=:@-]*){0,8}"
    r"(\?[a-zA-Z0-9._~%!&'()*+,;=:@/?-]*)?(#[a-zA-Z0-9._~%!&'()*+,;=:@/?-]*)?$",
}
FORMATS["date-time"] = FORMATS["date"][:-1] + "T" + FORMATS["time"][1:]


class _Unsupported(Exception):
    """What a grammar cannot say."""


@lru_cache(maxsize=1024)
def rewrite_pattern(pattern: str, forbidden: str) -> str | None:
    """The pattern for a whole text without the ``forbidden`` characters and control characters."""
    try:
        return f"^{_Writer(pattern, forbidden).read()}$"
    except _Unsupported:
        return None


@lru_cache(maxsize=1024)
def as_rule(pattern: str, forbidden: str) -> str | None:
    """The same as the body of an EBNF rule."""
    try:
        return _Writer(pattern, forbidden, ebnf=True).read()
    except _Unsupported:
        return None


class _Writer:
    """Reads a pattern once and writes it anew."""

    def __init__(self, pattern: str, forbidden: str, *, ebnf: bool = False) -> None:
        self._tokens = [(str(found.lastgroup), found) for found in _TOKEN.finditer(pattern)]
        self._at = 0
        self._forbidden = forbidden
        self._ebnf = ebnf
        # Control characters are left out as well; a newline in raw text is rare in what has a pattern.
        self._left_out = "".join(map(_in_class, sorted(forbidden))) + "\\x00-\\x1f"

    def read(self) -> str:
        body = self._alternatives(top=True)
        if self._at < len(self._tokens):
            raise _Unsupported
        return body

    def _alternatives(self, *, top: bool) -> str:
        branches = [self._branch(top)]
        while self._at < len(self._tokens) and self._tokens[self._at][0] == "or":
            self._at += 1
            branches.append(self._branch(top))
        joined = (" | " if self._ebnf else "|").join(branches)
        return f"({joined})" if top and len(branches) > 1 else joined

    def _branch(self, top: bool) -> str:
        items: list[str] = []
        begun = ended = False
        while self._at < len(self._tokens):
            kind, found = self._tokens[self._at]
            if kind in ("or", "close"):
                break
            self._at += 1
            if ended:
                raise _Unsupported
            if kind == "begin":
                if not top or items or begun:
                    raise _Unsupported
                begun = True
            elif kind == "end":
                if not top:
                    raise _Unsupported
                ended = True
            elif kind == "count":
                if not items or not items[-1]:
                    raise _Unsupported
                items[-1] += found[0]
                if self._at < len(self._tokens) and self._tokens[self._at][1][0] in ("?", "+"):  # lazy, possessive
                    self._at += 1
            else:
                items.append(self._atom(kind, found))
        if top and not begun:
            items.insert(0, self._any() + "*")
        if top and not ended:
            items.append(self._any() + "*")
        joined = (" " if self._ebnf else "").join(items)
        return joined or ('""' if self._ebnf else "")

    def _atom(self, kind: str, found: re.Match[str]) -> str:
        if kind == "open":
            inner = self._alternatives(top=False)
            if self._at >= len(self._tokens) or self._tokens[self._at][0] != "close":
                raise _Unsupported
            self._at += 1
            return f"({inner})"
        if kind == "any":
            return self._any()
        if kind == "set":
            return self._set(found["set"])
        if kind == "literal":
            if found[0] in "[]{}":
                if found[0] in "[":
                    raise _Unsupported
            elif found[0] in "(*+?":
                raise _Unsupported
            return self._literal(found[0])
        letter = found["escape"]
        if letter in "dws":
            return f"[{_CLASSES[letter]}]" if letter != "s" else "[ ]"
        if letter in "DWS":
            return f"[^{_CLASSES[letter.lower()]}{self._left_out}]"
        if letter in _CONTROLS:
            return self._literal(_CONTROLS[letter])
        if letter.isalnum():
            raise _Unsupported
        return self._literal(letter)

    def _any(self) -> str:
        return f"[^{self._left_out}]"

    def _set(self, written: str) -> str:
        negated = written.startswith("^")
        members = written[negated:]
        out = []
        chars: list[str] = []
        for found in _MEMBER.finditer(members):
            escape, char = found[1], found[2]
            if escape is None:
                chars.append(char)
                out.append(char if char == "-" else _in_class(char))
            elif escape in _CLASSES:
                out.append(_CLASSES[escape] if escape != "s" or negated else " ")
            elif escape[0] in "xu" and len(escape) > 1:
                chars.append(chr(int(escape[1:], 16)))
                out.append(_in_class(chars[-1]))
            elif escape in _CONTROLS:
                chars.append(_CONTROLS[escape])
                out.append(_in_class(chars[-1]))
            elif escape.isalnum():
                raise _Unsupported
            else:
                chars.append(escape)
                out.append(_in_class(escape))
        text = "".join(out)
        if negated:
            return f"[^{text.replace('-', _in_class('-')) if text in ('-',) else text}{self._left_out}]"
        try:
            probe = re.compile(f"[{members}]")
        except re.error as error:
            raise _Unsupported from error
        if any(probe.match(char) for char in self._forbidden) or any(probe.match(chr(code)) for code in range(32)):
            bad = [char for char in self._forbidden if probe.match(char)]
            if any(char not in chars for char in bad):
                raise _Unsupported  # inside a range
            kept = "".join(_in_class(char) for char in chars if char not in bad and char >= " ")
            if not kept or "-" in members[1:-1]:
                raise _Unsupported
            classes = "".join(_CLASSES[e] if e != "s" else " " for e in re.findall(r"\\([dws])", members))
            return f"[{classes}{kept}]"
        return f"[{text}]"

    def _literal(self, char: str) -> str:
        if char in self._forbidden or char < " ":
            raise _Unsupported
        if self._ebnf:
            return json.dumps(char, ensure_ascii=False)
        return re.escape(char) if char in r"\.^$*+?()[]{}|/" else char


def _in_class(char: str) -> str:
    """One character inside a class."""
    if char < " ":
        return f"\\x{ord(char):02x}"
    return "\\" + char if char in '\\]^-["' else char
