"""Python literals turned into JSON while they arrive, for calls written as `f(a=1, b="x")`.

Rules
- Strings: see literal_strings.py; numbers, words and raw text: literal_parts.py. List, tuple, set -> array;
  dict -> object, whose keys become strings (one that is none: its JSON text). `(x)` is x, `(x,)` an array.
  Trailing commas go.
- What is no literal, or nests deeper than DEPTH, is raw text up to the stop at its depth, blanks stripped, as
  one JSON string. Inside a container only the bad element becomes a string; a pair without key or value is
  dropped, text behind a complete value is skipped, a missing bracket is supplied.
- A closer of the block ends the value, whatever is open in it.
- A family with a quote token of its own: the value is the object that holds a call's arguments, `{k:v,...}`,
  from behind its bracket. `{` is always an object, its keys are strings, quoted or not; in the arguments themselves
  `=` may stand for `:`. A bare word is typed by the schema; where that says nothing, it is a number or word of
  Python or JSON, else a string. Python's strings are read as well.

Theory of operation
A state is a method that settles some text and returns the position behind it; open containers are frames on
a stack. What goes out is final at once, except while something is undecided: `{` until `:` `,` or `}` tells
dict from set, `(` until `,` or, as a mere group, until what follows its `)`, and a dict's key until its `:`,
so that no key goes out without a value. Then pieces are held, with an empty piece in the place of the
bracket. A group that turns out to be no literal, `(1+2)*3`, becomes raw text; for that the source of what is
held is kept.
Strings that are plain (plain_strings.py) and short words are taken as a whole; all else takes the steps of the rules.
Every character is looked at once; up to HELD are left to the caller where an escape, a quote or a word needs more
text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .literal_containers import Containers
from .literal_parts import Frame, RawReader
from .literal_strings import NO_ENDS, Ends, StringReader, open_string, open_token_string, skip_blanks
from .passing import Passing
from .plain_strings import Plain, plain_opening, plain_strings
from .schema import ToolSchema
from .values import BLANKS

__all__ = ["DEPTH", "LiteralReader", "python_to_json"]

DEPTH = 64
HELD = 11  # characters of a word or key: fewer than any closer of the families has, which is held as well
_WORD = re.compile(rf"[\w.+\-]{{1,{HELD}}}(?:(?=[,)\]}}:=])|\Z)").match
_KEY = re.compile(rf"([\w.\-]{{1,{HELD}}})(?:(:)|\Z)").match


def python_to_json(text: str) -> str | None:
    """JSON for a whole literal; None where the text is not one literal from its start to its end."""
    reader = LiteralReader(",")
    pos, out, done = reader.feed(text + ",", 0, False)
    return out if done and pos == len(text) and not reader.malformed else None


class LiteralReader(Containers):
    """Reads one value, up to a character of `stops` outside all brackets, or to a closer of the block."""

    __slots__ = (
        "_base", "_done", "_fed", "_given", "_junk", "_opening", "_over", "_plain", "_raw", "_read", "_state",
        "_string", "_wait", "examined", "passing", "supplied",
    )  # fmt: skip

    def __init__(self, stops: str = ",)", ends: Ends = NO_ENDS) -> None:
        super().__init__(stops)
        self.examined = 0  # characters looked at
        self.passing: Passing | None = None  # what text may go round the reader: inside of a string that goes out
        self.supplied = 0  # brackets that were missing
        self._over = ends
        self._opening = plain_opening("")
        self._state: Callable[[LiteralReader, str, int, bool], int] = LiteralReader._value
        self._plain: Plain | None = None  # the kind of string
        self._string: StringReader | None = None  # of one that is not plain
        self._raw: RawReader | None = None
        self._junk = False  # the raw text is skipped
        self._read = 0  # length of all text settled
        self._base = self._fed = 0  # see feed
        self._wait = self._done = self._given = False

    @classmethod
    def of_arguments(cls, close: str, token: str, ends: Ends, schema: ToolSchema) -> LiteralReader:
        """A reader of the object that holds a call's arguments, from behind its opening bracket.

        `token` is the family's own quote, `schema` that of the arguments.
        """
        reader = cls("=", ends)
        reader._token = token
        reader._opening = plain_opening(token)
        frame = Frame("{", 0, 0, 0, schema)
        frame.kind, frame.close = ":", close
        reader._frames.append(frame)
        reader._output.put("{")
        return reader

    def again(self) -> None:
        """Before another value, behind one that has ended."""
        self._state = LiteralReader._value
        self._done = self._given = self._have = False
        self._read = self._bad = self.lost = 0

    def resume(self, plain: Plain) -> None:
        """Before the rest of a string whose beginning has gone out."""
        self.again()
        self._given = True
        self._plain = plain
        self._state = LiteralReader._in_plain

    def owed(self) -> str:
        """What goes out with whatever follows."""
        owed, self._output.owed = self._output.owed, ""
        return owed

    @property
    def before_key(self) -> bool:
        """The next thing is an object's key."""
        return self._state is LiteralReader._value and self._before_key

    @property
    def before_value(self) -> bool:
        """The next thing is a value."""
        return self._state is LiteralReader._value and not self._before_key

    @property
    def malformed(self) -> bool:
        """Something was no literal."""
        return self._bad > 0

    def feed(self, text: str, pos: int, final: bool) -> tuple[int, str, bool]:
        """Settle text[pos:]: the position reached, the JSON text final now, and whether the value ended."""
        start = self._fed = pos
        self._base = self._read - pos  # offset of text[0] in all text
        self._wait = False
        size = len(text)
        while pos < size and not self._wait and not self._done:
            pos = self._state(self, text, pos, final)
        if final and pos == size and not self._done:
            if self._string is not None:
                self._body(text, pos, True)  # the end closes it, behind a quote mark
            if self._state is LiteralReader._after and not self._frames:
                self._release_group()
                self._done = True
            self._output.put("")  # with what is owed
        self.examined += (min(pos + HELD, size) if self._wait else pos + self._done) - start
        self._read += pos - start
        output = self._output
        out = output.flush(text[start:pos] if output.depths else "")
        if out:
            self._given = True
        self.passing = None
        if pos == size and not output.depths:
            if self._string is None:
                self.passing = self._plain.passing if self._plain is not None else None
            elif not self._string.guarding:
                self.passing = (self._plain or self._string).passing
        return pos, out, self._done

    def cut(self) -> str | None:
        """The input ended inside the value: what closes the text given so far, None where there is none."""
        if not self._given:
            return None
        self.lost += self._output.held  # what is undecided cannot be given
        if self._raw is not None:
            self.lost += sum(map(len, self._raw.pieces))
        in_string = self._plain is not None or self._string is not None
        begun = self._have or in_string or self._group is not None
        if self._frames and not begun:  # a key whose value never came
            self.lost += len(self._frames[-1].key or "")
        open_string = in_string and not self._output.depths
        frames = self._frames[: self._output.depths[0]] if self._output.depths else self._frames
        closers = ("}" if frame.kind == ":" else "]" for frame in reversed(frames))
        return self.owed() + '"' * open_string + "".join(closers)

    # -- states

    def _value(self, text: str, pos: int, final: bool) -> int:
        """Before a value."""
        opened = self._opening(text, pos)
        if opened is not None:
            self._begin()
            self._output.put('"')
            self._plain = plain_strings("" if self._token else opened[1], self._token, self._guard, self._joint)
            self._state = LiteralReader._in_plain
            return opened.end()
        word = self._word(text, pos, final)
        if word != pos or self._wait:
            return word
        pos = skip_blanks(text, pos)
        if pos == len(text):
            return pos
        char = text[pos]
        ends = self._ends(char) or self._over.stand(text, pos, final)
        if ends is None:
            self._wait = True
            return pos
        if ends:
            self._have = False
            self._state = LiteralReader._after
            return pos
        if (char in "[{" or (char == "(" and not self._token)) and len(self._frames) < DEPTH:
            self._open(char, self._base + pos)
            return pos + 1
        string, body = self._open_string(text, pos, final)
        if body < 0:
            self._wait = True
            return pos
        if string is not None:
            self._string = string
            self._begin()
            self._output.put('"')
            self._state = LiteralReader._body
            return body
        self._raw = RawReader(self._stops, self._over)
        self._state = LiteralReader._raw_text
        return pos

    def _open_string(self, text: str, pos: int, final: bool) -> tuple[StringReader | None, int]:
        if self._token and text[pos] == self._token[0]:
            return open_token_string(text, pos, final, self._token, self._guard, self._over)
        return open_string(text, pos, final, self._guard, self._over)

    def _word(self, text: str, pos: int, final: bool) -> int:
        """Take a key, number or word as a whole; it stays where it is if there is none, or if more text must tell."""
        if self._token and self._before_key:
            found = _KEY(text, pos)
            if found is not None and found.lastindex == 2:
                self._frames[-1].key = f'"{found[1]}"'
                return found.end()
        else:
            found = _WORD(text, pos)
        if found is None:
            return pos
        end = found.end()
        if end == len(text):
            self._wait = not final
            return pos
        if not self._ends(text[end]):
            return pos
        value = self._scalar(found[0])
        self._begin()
        self._output.put(value)
        self._have = True
        self._state = LiteralReader._after
        return end

    def _in_plain(self, text: str, pos: int, final: bool) -> int:
        """In a string that is plain so far, or a row of them."""
        plain = self._plain
        assert plain is not None
        found = plain.row(text, pos)
        assert found is not None
        end = found.end()
        if found.lastindex is not None:
            if found.start(1) > pos:
                self._output.put(plain.json(text[pos : found.start(1)]))
            self._close_string()
            return end
        if end > pos:
            self._output.put(plain.json(text[pos:end]))
        if end < len(text):
            self._wait = not final and len(text) - end <= len(plain.quote) and plain.quote.startswith(text[end:])
            if not self._wait:
                self._string = plain.reader(self._over)
                self._state = LiteralReader._body
        return end

    def _close_string(self) -> None:
        """The quote of a string in a row goes out with what follows: the fast path waits for that as well."""
        if self._plain is not None and self._plain.in_row and not self._output.depths:
            self._output.owed = '"'
        else:
            self._output.put('"')
        self._plain = self._string = None
        self._have = True
        self._state = LiteralReader._after

    def _body(self, text: str, pos: int, final: bool) -> int:
        """In a string."""
        assert self._string is not None
        pos, out, closed = self._string.feed(text, pos, final)
        if out:
            self._output.put(out)
        if closed:
            self._close_string()
        else:
            self._wait = pos < len(text)
        return pos

    def _raw_text(self, text: str, pos: int, final: bool) -> int:
        """In a number, a word, text that is no literal, or text to skip."""
        assert self._raw is not None
        start = pos
        pos, ended = self._raw.feed(text, pos, final, self._ends)
        self.lost += (pos - start) * self._junk
        self._wait = not ended and pos < len(text)
        if not ended:
            return pos
        if not self._junk:
            value = self._scalar("".join(self._raw.pieces).strip(BLANKS))
            if self._group is None:  # a group has begun already
                self._begin()
            self._output.put(value)
            self._have = True
        self._raw = None
        self._junk = False
        self._state = LiteralReader._after
        return pos

    def _after(self, text: str, pos: int, final: bool) -> int:
        """Behind a value, or where one is missing."""
        pos = skip_blanks(text, pos)
        if pos == len(text):
            return pos
        char = text[pos]
        ends = self._ends(char) or self._over.stand(text, pos, final)
        if ends is None:
            self._wait = True
            return pos
        if not ends:
            self._bad += 1
            if self._group is None:
                self._junk = True
                self._raw = RawReader(self._stops, self._over)
                self._state = LiteralReader._raw_text
            else:
                self._regroup(self._group, text, pos)
            return pos
        self._release_group()
        if not self._frames:
            if not self._have:
                self._bad += 1
                self._output.put('""')
            self._done = True
            return pos
        frame = self._frames[-1]
        if char == ",":
            self._bad += not self._have
            self._end_element(frame)
            if frame.kind in "{(":
                self._decide(frame, "[")
        elif char in ":=":
            self._take_key(frame)
        else:
            consumed = char == frame.close
            self._bad += not consumed
            self.supplied += not consumed
            self._close(frame, text, pos + consumed)
            return pos + consumed
        self._have = False
        self._state = LiteralReader._value
        return pos + 1

    def _close(self, frame: Frame, text: str, pos: int) -> None:
        """End the innermost container; its source ends at `pos`."""
        self._end_element(frame)
        self._frames.pop()
        self._have = True
        self._state = LiteralReader._after
        if frame.kind == "(" and frame.count:
            self._group = frame
            if self._bad != frame.bad:
                self._regroup(frame, text, pos)
            return
        if frame.kind in "{(":
            self._decide(frame, "[" if frame.count or frame.kind == "(" else "{")
        self._output.put("}" if frame.kind == ":" else "]")
        if self._token and not self._frames:
            self._done = True

    def _regroup(self, group: Frame, text: str, pos: int) -> None:
        """A group that is no literal: its source becomes the beginning of raw text."""
        self._output.take_back(group.mark)
        self._raw = RawReader(self._stops, self._over)
        self._state = LiteralReader._raw_text
        first = max(group.start - self._base, self._fed)
        self._raw.pieces += self._output.source(self._base + self._fed - group.start)
        if pos > first:
            self._raw.pieces.append(text[first:pos])
