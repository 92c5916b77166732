"""Payload grammar: JSON that holds the name and the arguments of a call.

``{"name": "f", "arguments": {...}}``, the fields in either order, alone, in a list, or several one after the other.
Only what is needed is read: keys, the name, and the arguments, which go out verbatim; other values are skipped
lexically. In some families an object's first key is the name. Before the name is known everything is tentative: a
character that JSON cannot continue with, a name that is no name, or an object without one refute the block. Where the
opener is ordinary text the name counts only once arguments are there as well (``confirm``). Afterwards the reader is
lenient.

The payload ends with its bracket; what may follow (a closer, surplus brackets) is the block's affair.
"""

from __future__ import annotations

import json

from .buffer import Buffer
from .calls import Calls, Gate
from .envelope_grammar import ARGUMENTS, COLON, ID, KEY, NAME, NEXT, OPEN, SKIP, SKIP_KEY, VALUE, compile_envelope
from .expected import Expected
from .head import NAME_LIMIT, is_name
from .json_scanner import STRING_STOP, ArgumentsReader, JsonValueScanner
from .markers import Verdict
from .spec import Envelope

_decode = json.JSONDecoder(strict=False).decode
_LONG = object()  # a string longer than any name


class EnvelopeReader:
    """Reads the objects of one block."""

    __slots__ = (
        "_arguments", "_calls", "_comma", "_confirm", "_given", "_grammar", "_id", "_in_list", "_key", "_known",
        "_named", "_skipped", "_skipper", "_spec", "_state", "_waiting",
    )  # fmt: skip

    def __init__(self, spec: Envelope, calls: Calls, confirm: bool) -> None:
        self._spec = spec
        self._grammar = compile_envelope(spec)
        self._calls = calls
        self._confirm = confirm
        self._waiting = ""  # the name, where arguments have to confirm it
        self._id: str | None = None
        self._state = OPEN
        self._in_list = False
        self._known = False  # the block holds at least one call
        self._comma = False  # the separator of two objects was seen
        self._key = ""
        self._skipped = 0  # characters of members that are neither name nor arguments
        self._named = False  # the name of the object in progress is known
        self._given = False  # its arguments have been seen
        self._arguments: ArgumentsReader  # of the object in progress
        self._skipper: JsonValueScanner  # of the member in progress

    passing = None  # see Reader

    @property
    def scanner(self) -> JsonValueScanner | None:
        """See Reader."""
        return self._arguments.flowing if self._state == ARGUMENTS else None

    def expected(self, buf: Buffer) -> Expected | None:
        """See Reader."""
        named = self._named or self._waiting != ""
        return None if named and self._given else self._grammar.expected(self._state, self._in_list, named)

    def _emit(self, text: str) -> None:
        self._given = True
        if self._named:
            self._calls.arguments(text)
        else:
            self._calls.hold(text)

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """Settle what can be; see Verdict."""
        while True:
            state = self._state
            if state == ARGUMENTS:
                ended = self._arguments.feed(buf, final, self._emit)
                if not ended:
                    return self._finish(buf) if final else Verdict.MORE
                if self._arguments.unwrapped:
                    self._calls.anomalies["string_arguments"] += 1
                self._state = KEY
            elif state in (SKIP, SKIP_KEY):
                start = buf.pos
                end = self._skipper.feed(buf.text, start)
                buf.examined += end - buf.pos + 1
                buf.advance(end)
                self._skipped += end - start
                if not self._skipper.done:
                    return self._finish(buf) if final else Verdict.MORE
                self._state = KEY if state == SKIP else COLON
            elif state in (NAME, ID):
                text = self._string(buf)
                if text is None:
                    return self._finish(buf) if final else Verdict.MORE
                verdict = self._read_id(buf, text) if state == ID else self._read_name(buf, text)
                if verdict is not None:
                    return verdict
            elif state == NEXT:
                verdict = self._next(buf, final)
                if verdict is not None:
                    return verdict
            else:
                if buf.scan <= buf.pos and not buf.skip_blanks():
                    return self._finish(buf) if final else Verdict.MORE
                if state == KEY and not self._given and (self._named or self._waiting):
                    if self._arguments_follow(buf):
                        continue
                    expected = self._grammar.expected(KEY, self._in_list, True)
                    if not final and expected is not None and buf.begins(expected):
                        return Verdict.MORE
                verdict = self._step(buf)
                if verdict is not None:
                    return self._finish(buf) if final and verdict is Verdict.MORE else verdict

    def _arguments_follow(self, buf: Buffer) -> bool:
        """Behind the name: whether the key of the arguments stands at ``pos``, as a whole. It is passed then."""
        if buf.passed(self._grammar.arguments) is None:
            return False
        self._key = self._spec.arguments[0]
        self._state = VALUE
        return True

    def _step(self, buf: Buffer) -> Verdict | None:
        """One structural character at ``pos``, which is no blank. None: go on."""
        char = buf.text[buf.pos]
        state = self._state
        if state == OPEN:
            if char == "[" and not self._in_list and self._spec.shape != "object":
                self._in_list = True
            elif char == "{" and (self._in_list or self._spec.shape != "array"):
                self._start(buf)
                opening = buf.passed(self._grammar.opening)
                if opening is not None:
                    return self._read_name(buf, opening[1])
            else:
                return Verdict.REFUTED
            buf.advance(buf.pos + 1)
        elif state == KEY:
            if char == '"':
                return self._read_key(buf)
            if char == "}":
                return self._end_object(buf)
            if char != ",":
                return self._stray()
            buf.advance(buf.pos + 1)
        elif state == COLON:
            if char != ":":
                return self._stray()
            buf.advance(buf.pos + 1)
            self._state = VALUE
        else:  # VALUE
            return self._value(char)
        return None

    def _start(self, buf: Buffer) -> None:
        self._calls.head()
        self._named = self._given = False
        self._waiting = ""
        self._id = None
        self._skipped = 0
        self._arguments = ArgumentsReader()
        self._state = KEY

    def _read_key(self, buf: Buffer) -> Verdict | None:
        key = self._string(buf)
        if key is None:
            return Verdict.MORE
        if key is _LONG:
            if not self._named:
                return self._too_long(buf)
            self._skipper = JsonValueScanner()
            self._key = ""
            self._state = SKIP_KEY
            return None
        assert isinstance(key, str)
        if self._spec.key_is_name and not self._named:
            return self._read_name(buf, key)
        self._key = key
        self._state = COLON
        return None

    def _value(self, char: str) -> Verdict | None:
        """Choose how to read the value that begins with ``char``."""
        if self._key == self._spec.name and not self._named and not self._waiting and char == '"':
            self._state = NAME
        elif self._key in self._spec.arguments and not self._given:
            self._state = ARGUMENTS
            if self._waiting:
                return self._begin(self._waiting)
        elif self._spec.id and self._key == self._spec.id and not self._named and char == '"':
            self._state = ID
        else:
            self._skipper = JsonValueScanner()
            self._skipped += len(self._key)
            self._state = SKIP
        return None

    def _string(self, buf: Buffer) -> object:
        """The string at ``pos``, decoded; None while it is not whole; _LONG beyond the limit of a name."""
        text = buf.text
        at = max(buf.scan, buf.pos + 1)
        before = at
        while True:
            found = STRING_STOP(text, at, buf.pos + NAME_LIMIT + 2)
            if found is None:
                at = min(len(text), buf.pos + NAME_LIMIT + 2)
                break
            if found.group() == '"':
                buf.examined += found.end() - before
                raw = text[buf.pos:found.end()]
                buf.advance(found.end())
                if "\\" not in raw:
                    return raw[1:-1]
                try:
                    return str(_decode(raw))
                except ValueError:
                    return raw[1:-1]
            if found.end() == len(text):
                at = found.start()
                break
            at = found.end() + 1
        buf.examined += at - before + 1
        buf.scan = at
        return _LONG if at - buf.pos > NAME_LIMIT + 1 else None

    def _too_long(self, buf: Buffer) -> Verdict:
        """A key or name beyond the limit fails at its first character too many."""
        buf.advance(buf.pos + NAME_LIMIT + 1)
        return Verdict.REFUTED

    def _read_id(self, buf: Buffer, text: object) -> Verdict | None:
        if text is _LONG:
            return self._too_long(buf)
        self._id = str(text)
        self._state = KEY
        return None

    def _read_name(self, buf: Buffer, name: object) -> Verdict | None:
        if name is _LONG:
            return self._too_long(buf)
        if not isinstance(name, str) or not is_name(name):
            return self._nameless()
        self._state = KEY
        if self._spec.key_is_name:
            self._key, self._state = self._spec.arguments[0], COLON
        if self._confirm and not self._given:
            self._waiting = name
            return None
        return self._begin(name)

    def _begin(self, name: str) -> Verdict | None:
        if self._calls.begin(name, self._id or None) is Gate.TEXT:
            return Verdict.REFUTED
        self._named = self._known = True
        return None

    def _nameless(self) -> Verdict | None:
        """An object without a usable name: no call; inside a list that is known to hold calls it is dropped."""
        if not (self._in_list and self._known):
            return Verdict.REFUTED
        self._calls.drop("nameless_call")
        self._named = True
        self._state = KEY
        return None

    def _end_object(self, buf: Buffer) -> Verdict | None:
        if not self._named:
            verdict = self._nameless()
            if verdict is not None:
                return verdict
        if not self._given:
            self._calls.arguments("{}")
        buf.advance(buf.pos + 1)
        self._end(True)
        self._named = False
        self._state = NEXT
        return None

    def _next(self, buf: Buffer, final: bool) -> Verdict | None:
        """Behind an object: another one, the end of the list, or the end of the payload."""
        if not self._in_list and not self._spec.between:
            return Verdict.DONE
        text = buf.text
        at = buf.blanks()
        if text[at : at + 1] in self._grammar.separators and not self._comma:
            self._comma = True
            buf.scan = at + 1
            at = buf.blanks()
        if at == len(text) and not final:
            return Verdict.MORE
        self._comma = False
        if self._in_list and text[at : at + 1] in ("", "]"):
            buf.advance(min(at + 1, len(text)))
            return Verdict.DONE
        if text[at : at + 1] != "{":
            buf.restart()
            return Verdict.DONE
        buf.mark = buf.pos  # refuted on its own, without the calls before it
        self._calls.tentative(textual=False)
        buf.advance(at)
        self._state = OPEN
        return None

    def _stray(self) -> Verdict:
        """A character JSON has no place for: refutes before the name, ends the payload after it."""
        if not self._named:
            return Verdict.REFUTED
        if not self._given:
            self._calls.arguments("{}")
        self._skip_half()
        self._end(self._given)
        return Verdict.DONE

    def _finish(self, buf: Buffer) -> Verdict:
        """The input ended inside an object: what is left of it is half a key or a key without its value."""
        if not self._named:
            return Verdict.CUT
        if not self._given:
            self._calls.arguments("{}")
        self._skip_half()
        self._skipped += len(buf.text) - buf.pos
        buf.advance(len(buf.text))
        self._end(False)
        return Verdict.DONE

    def _skip_half(self) -> None:
        """A key whose value never came."""
        if self._state in (COLON, VALUE):
            self._skipped += len(self._key)

    def _end(self, complete: bool) -> None:
        if self._skipped:
            self._calls.lost("skipped_member", self._skipped)
        self._calls.end(complete)
