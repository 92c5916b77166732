"""Reading the head of a call: literals and the slots between them.

A template such as ``<function={name}>`` or ``{name}[CALL_ID]{id}[ARGS]`` is cut into steps once. Blanks are
tolerated at every seam: between a literal and a slot, at a newline of the template and between two of its tags;
never inside a name. A double quote next to a slot may also be a single one, or missing. The reader fails at the
first character the template cannot continue with, wherever the chunks were cut.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .buffer import BLANKS, Buffer, Run
from .expected import Expected, Part
from .markers import Matcher, Verdict

NAME_LIMIT = 256
_NAME = r"[\w.\-:/@$+]"
_SLOTS = ("name", "id", "key", "type", "index")
_SLOT = re.compile(r"\{(" + "|".join(_SLOTS) + r")\}")
_SEAM = re.compile(r"\n|(?<=>)(?=<)")
_END = -1  # matched the payload's first character instead of an optional literal
_EMPTY = -2  # matched the end of a tag that closes itself


def _run(characters: str) -> Run:
    return re.compile(f"{characters}{{1,{NAME_LIMIT + 1}}}").match  # one more than a name may have


_NAME_RUN = _run(_NAME)


class Head:
    """A compiled head template."""

    __slots__ = ("_expected", "_whole", "characters", "literals", "open", "runs", "steps")

    def __init__(
        self,
        template: str,
        optional: tuple[str, ...],
        body: tuple[str, ...],
        empty: str,
        variants: tuple[tuple[str, str], ...],
    ) -> None:
        self.steps: list[str] = []  # slots as "{name}", literals stripped of blanks
        parts = _SLOT.split(template)
        for at, part in enumerate(parts):
            if at % 2:
                self.steps.append("{" + part + "}")
            else:
                self.steps += [literal.strip() for literal in _SEAM.split(part) if literal.strip()]
        self.open = False  # the last literal may be missing, and anything may follow
        # For each literal step: the literals that may stand there, and the step each leads to.
        self.literals: dict[int, Matcher[int]] = {}
        self.characters: dict[int, str] = {}  # for each slot, the class of its characters
        self.runs: dict[int, Run] = {}
        self._expected: dict[int, Expected] = {}
        self._whole: dict[int, Run] = {}
        for at, step in enumerate(self.steps):
            if _is_slot(step):
                name = step in ("{name}", "{id}")
                self.characters[at] = characters = _NAME if name else _key_characters(self.steps[at + 1][0])
                self.runs[at] = _run(characters)
                continue
            choices = [(spelling, at + 1) for spelling in self._spellings(at)]
            choices += [(other, at + 1) for literal, other in variants if literal == step]
            following = at
            while self.steps[following] in optional:
                later = range(following + 1, len(self.steps))
                following = next((k for k in later if not _is_slot(self.steps[k])), _END)
                if following == _END:
                    self.open = not body
                    choices += [(literal, _END) for literal in body]
                    break
                choices += [(spelling, following + 1) for spelling in self._spellings(following)]
            if empty:
                last = [text[:-1] for text, reached in choices if reached == len(self.steps) and text[-1] == empty[-1]]
                choices += [(text + blank + empty, _EMPTY) for text in last for blank in ("", " ")]
            self.literals[at] = Matcher(choices)

    def parts(self, at: int) -> list[Part]:
        """The template from a step on."""
        parts: list[Part] = []
        for number in range(at, len(self.steps)):
            if number in self.characters:
                literals = parts.pop()[0] if parts else ("",)
                parts.append((literals, self.characters[number]))
            else:
                parts.append(((self.steps[number],), ""))
        return parts

    def expected(self, at: int) -> Expected:
        """What a step waits for, and the rest up to the last literal, which ends the head."""
        if at not in self._expected:
            *parts, (ends, slot) = self.parts(at)
            self._expected[at] = Expected([*parts, (ends, slot)], behind="") if slot else Expected(parts, ends)
        return self._expected[at]

    def whole(self, at: int) -> Run:
        """Matches the template from a step on, with a group for each slot: several steps in one. Where nothing says
        that the last slot is over, it matches nothing."""
        if at not in self._whole:
            last = "(?!)" if len(self.steps) - 1 in self.characters else ""
            steps = (self._group(k) if k in self.characters else self._only(k) for k in range(at, len(self.steps)))
            self._whole[at] = re.compile(rf"[{BLANKS}]*".join(("", *steps)) + last).match
        return self._whole[at]

    def _group(self, at: int) -> str:
        """A pattern of the slot: a whole run."""
        run = self.characters[at]
        return rf"(?=[^{BLANKS}])(?P<{self.steps[at][1:-1]}>{run}{{1,{NAME_LIMIT}}})(?!{run})"

    def _only(self, at: int) -> str:
        """A pattern of the step's literal where no longer one can stand, else one of nothing."""
        literal = self.steps[at]
        longer = any(other.startswith(literal) for other in self.literals[at].literals if other != literal)
        return "(?!)" if longer else re.escape(literal)

    def _spellings(self, at: int) -> list[str]:
        """A literal as the template has it, and with other quotes around the slots next to it."""
        literal = self.steps[at]
        found = [literal]
        if literal[-1] == '"' and at + 1 < len(self.steps) and _is_slot(self.steps[at + 1]):
            found += [literal[:-1] + "'", literal[:-1]]
        if literal[0] == '"' and at and _is_slot(self.steps[at - 1]):
            found += [quote + rest for quote in ("'", "") for rest in (text[1:] for text in found) if quote + rest]
        return list(dict.fromkeys(found))


def _key_characters(closer: str) -> str:
    """A key is less strict than a name: one line of anything but a bracket and what ends it."""
    ends = "\"'>" if closer == '"' else closer
    return f"[^<\n{re.escape(ends)}]"


def _is_slot(step: str) -> bool:
    return step[0] == "{" and step[1:-1] in _SLOTS


@lru_cache(maxsize=1024)
def compile_head(
    template: str,
    optional: tuple[str, ...] = (),
    body: tuple[str, ...] = ("{",),
    empty: str = "",
    variants: tuple[tuple[str, str], ...] = (),
) -> Head:
    """The head of a template; ``body`` is what may follow where its last literals are optional, () for anything;
    ``empty`` ends the head of a tag that closes itself; ``variants`` are other spellings of its literals."""
    return Head(template, optional, body, empty, variants)


class HeadReader:
    """Reads one head from the buffer."""

    __slots__ = ("_at", "_head", "closed", "missing", "slots")

    def __init__(self, head: Head) -> None:
        self._head = head
        self._at = 0
        self.closed = False  # the tag closed itself: nothing is inside
        self.missing = False  # the last literal, which may be
        self.slots: dict[str, str] = {}

    @property
    def expected(self) -> Expected:
        """What is likely to come, while the head is not whole."""
        return self._head.expected(self._at)

    @property
    def step(self) -> int:
        """The step that is due."""
        return self._at

    def feed(self, buf: Buffer, final: bool) -> Verdict:
        """DONE: the head ended at ``pos``. REFUTED: it failed at ``pos``. CUT only when ``final``."""
        steps = self._head.steps
        if self._at == len(steps):
            return Verdict.DONE
        whole = buf.passed(self._head.whole(self._at))
        if whole is not None:
            for slot, text in whole.groupdict().items():
                self.slots[slot] = text.rstrip()
            self._at = len(steps)
            return Verdict.DONE
        if not final and buf.begins(self._head.expected(self._at)):
            return Verdict.MORE
        while self._at < len(steps):
            step = steps[self._at]
            if _is_slot(step):
                if buf.scan <= buf.pos and not buf.skip_blanks():
                    return Verdict.CUT if final else Verdict.MORE
                verdict = self._slot(buf, final, step[1:-1])
                if verdict is not None:
                    return verdict
                self._at += 1
                continue
            reached = self._head.literals[self._at].after_blanks(buf, final)
            if reached is Verdict.MORE:
                return Verdict.MORE
            if reached is None:
                at_end = final and self._partial(buf, step)
                if self._head.open and self._at == len(steps) - 1 and not at_end:
                    buf.restart()
                    self.missing = True
                    break
                buf.advance(buf.scan)
                return Verdict.CUT if at_end else Verdict.REFUTED
            assert isinstance(reached, int)
            if reached == _END:
                buf.advance(buf.start)
                break
            buf.advance(buf.end)
            if reached == _EMPTY:
                self.closed = True
                break
            self._at = reached
        self._at = len(steps)
        return Verdict.DONE

    def _partial(self, buf: Buffer, literal: str) -> bool:
        """At the end of the input: whether the text ends inside the literal that was due."""
        rest = buf.text[buf.scan:buf.scan + len(literal)]
        return buf.scan + len(rest) == len(buf.text) and literal.startswith(rest)

    def _slot(self, buf: Buffer, final: bool, slot: str) -> Verdict | None:
        """Read one run of name characters; None when it is read."""
        run = self._head.runs[self._at](buf.text, buf.scan)
        end = run.end() if run else buf.scan
        buf.examined += end - buf.scan + 1
        buf.scan = end
        if end - buf.pos > NAME_LIMIT:
            buf.advance(buf.pos + NAME_LIMIT)
            return Verdict.REFUTED
        if end == len(buf.text):
            return Verdict.CUT if final else Verdict.MORE
        if end == buf.pos:
            return Verdict.REFUTED
        self.slots[slot] = buf.text[buf.pos:end].rstrip()
        buf.advance(end)
        return None


def is_name(text: str) -> bool:
    """Whether the text is one run of name characters of legal length."""
    run = _NAME_RUN(text, 0)
    return run is not None and run.end() == len(text) <= NAME_LIMIT
