"""Lexical scanning of JSON text, and the arguments of a call that are written as JSON.

The scanner finds where one JSON value ends and nothing else: it follows containers, strings and escapes, and
neither decodes nor validates. Text it has passed is settled, so arguments go out exactly as the model wrote
them: key order, spacing, escapes and number spelling.

One exception is made for models that write the arguments object as a JSON string: such a string is unwrapped
while it arrives, because every tool's arguments are an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .buffer import BLANKS, Buffer

_STRUCTURE = re.compile(r'["{}\[\]]').search
# Plain text and whole strings without escapes. Each string begins with its quote, so nothing is tried twice but one
# that the chunk cuts.
_PLAIN_RUN = re.compile(r'[^"{}\[\]]*(?:"[^"\\]*"[^"{}\[\]]*)*').match
# A chunk without brackets and half an escape, from inside a string and from outside; the group where it ends on the
# other side.
_INSIDE, _OUTSIDE = r'[^"\\]*(?:\\.[^"\\]*)*', r'[^"{}\[\]]*'
_FROM_STRING = re.compile(rf'{_INSIDE}(?:"{_OUTSIDE}"{_INSIDE})*("{_OUTSIDE})?\Z', re.DOTALL).match
_FROM_PLAIN = re.compile(rf'{_OUTSIDE}(?:"{_INSIDE}"{_OUTSIDE})*("{_INSIDE})?\Z', re.DOTALL).match
STRING_STOP = re.compile(r'["\\]').search  # what can end a JSON string or needs a second look inside it
_SCALAR_END = re.compile(r"[\s,\]}<]").search
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}

_START, _PLAIN, _STRING, _ESCAPE, _SCALAR = range(5)


class JsonValueScanner:
    """Finds the end of one JSON value that arrives in pieces."""

    __slots__ = ("_depth", "_state", "done")

    def __init__(self) -> None:
        self._state = _START
        self._depth = 0
        self.done = False

    @property
    def in_string(self) -> bool:
        """Inside a string: text without a quote or backslash changes nothing."""
        return self._state == _STRING

    def feed(self, text: str, pos: int) -> int:
        """Follow ``text`` from ``pos``, which stands on the value's first character in the first call.

        Returns where the value's text ends in this chunk; ``done`` is True once that is the value's end.
        """
        size = len(text)
        state = self._state
        while pos < size and not self.done:
            if state == _STRING:
                found = STRING_STOP(text, pos)
                if found is None:
                    pos = size
                elif found.group() == '"':
                    pos = found.end()
                    state = _PLAIN
                    self.done = self._depth == 0
                else:
                    pos = found.end()
                    state = _ESCAPE
            elif state == _ESCAPE:
                pos += 1
                state = _STRING
            elif state == _PLAIN:
                if self._depth > 0 and (run := _PLAIN_RUN(text, pos)):
                    pos = run.end()
                found = _STRUCTURE(text, pos)
                if found is None:
                    pos = size
                    continue
                pos = found.end()
                char = found.group()
                if char == '"':
                    state = _STRING
                elif char in "{[":
                    self._depth += 1
                else:
                    self._depth -= 1
                    self.done = self._depth <= 0
            elif state == _START:
                state = _PLAIN if text[pos] in '{["' else _SCALAR
                if text[pos] in ",]}<":  # no value at all
                    self.done = True
            else:
                found = _SCALAR_END(text, pos)
                pos = found.start() if found else size
                self.done = found is not None
        self._state = state
        return pos

    def passes(self, text: str) -> bool:
        """Follow a chunk that lies inside the value as a whole. False: it does not, and nothing has happened."""
        state, depth = self._state, self._depth
        if state == _STRING:
            if depth > 0 and (found := _FROM_STRING(text)):
                self._state = _PLAIN if found.lastindex else _STRING
                return True
        elif state == _PLAIN and depth > 0 and (found := _FROM_PLAIN(text)):
            self._state = _STRING if found.lastindex else _PLAIN
            return True
        if self.feed(text, 0) == len(text) and not self.done:
            return True
        self._state, self._depth, self.done = state, depth, False
        return False


class ArgumentsReader:
    """Reads one JSON value from the buffer as the arguments of a call."""

    __slots__ = ("_unwrapping", "scanner", "started", "unwrapped")

    def __init__(self) -> None:
        self.scanner = JsonValueScanner()
        self.started = False
        self._unwrapping = False
        self.unwrapped = False

    @property
    def flowing(self) -> JsonValueScanner | None:
        """The scanner, while all text inside the value goes out as written."""
        return self.scanner if self.started and not self._unwrapping else None

    def feed(self, buf: Buffer, final: bool, emit: Callable[[str], None]) -> bool:
        """Settle what can be; ``emit`` takes final JSON text. True: the value ended at ``pos``. False: more text."""
        if not self.started:
            if buf.scan <= buf.pos and not buf.skip_blanks():
                return False
            if buf.text[buf.pos] == '"' and not self._look(buf, final, emit):
                return False
            self.started = True
        if self._unwrapping:
            return self._unwrap(buf, final, emit)
        end = self.scanner.feed(buf.text, buf.pos)
        buf.examined += end - buf.pos + 1
        text = buf.text[buf.pos:end]
        buf.advance(end)
        if text:
            emit(text)
        return self.scanner.done

    def _look(self, buf: Buffer, final: bool, emit: Callable[[str], None]) -> bool:
        """Decide whether the string at ``pos`` holds an object, or nothing. False: needs more text."""
        buf.scan = max(buf.scan, buf.pos + 1)
        at = buf.blanks()
        if at == len(buf.text) and not final:
            return False
        char = buf.text[at:at + 1]
        if char == "{" or (char == '"' and at == buf.pos + 1):
            buf.advance(buf.pos + 1)
            self._unwrapping = self.unwrapped = True
            if char == '"':
                emit("{}")
        return True

    def _unwrap(self, buf: Buffer, final: bool, emit: Callable[[str], None]) -> bool:
        """Decode the string body up to its closing quote; an escape is settled once it is whole."""
        text = buf.text
        out: list[str] = []
        pos = buf.pos
        done = False
        while pos < len(text):
            found = STRING_STOP(text, pos)
            end = found.start() if found else len(text)
            buf.examined += end - pos + 1
            if end > pos:
                out.append(text[pos:end])
                pos = end
            if found is None:
                break
            if found.group() == '"':
                pos += 1
                done = True
                break
            length = _escape_length(text, pos)
            if not length:
                if final:  # half an escape, or half a pair, says nothing
                    pos = len(text)
                break
            out.append(_decode_escape(text[pos:pos + length]))
            pos += length
        buf.advance(pos)
        if out:
            emit("".join(out))
        return done


_HEX4 = re.compile(r"[0-9a-fA-F]{1,4}").match


def _escape_length(text: str, pos: int) -> int:
    """Length of the escape at ``pos``, a surrogate pair being one; 0 while it is not whole."""
    room = len(text) - pos
    if room < 2:
        return 0
    if text[pos + 1] != "u":
        return 2
    digits = _HEX4(text, pos + 2)
    count = len(digits.group()) if digits else 0
    if count < 4:
        return 0 if room == 2 + count else 2
    if text[pos + 2] not in "dD" or text[pos + 3] not in "89abAB":
        return 6
    low = text[pos + 6:pos + 12]
    if re.fullmatch(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}", low):
        return 12
    prefix = re.fullmatch(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?", low)
    return 0 if prefix else 6


def _decode_escape(escape: str) -> str:
    if len(escape) == 12:
        high, low = int(escape[2:6], 16), int(escape[8:12], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    if len(escape) == 6:
        code = int(escape[2:6], 16)
        return escape if 0xD800 <= code < 0xE000 else chr(code)
    return _ESCAPES.get(escape[1:], escape)


__all__ = ["BLANKS", "STRING_STOP", "ArgumentsReader", "JsonValueScanner"]
