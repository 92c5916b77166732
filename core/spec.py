"""A dialect as data: what a model family writes, in small declarative objects that compose.

Four questions, four groups of objects:

* Which channel is the text in?  ``Region`` and ``Edge``: a pushdown table. A region says where its text goes
  (``Sink``); an edge says what a marker does there (``Goto``, ``Push``, ``Pop``, ``Skip``, ``Call``, ``Route``).
  A think block, a section around several calls, an answer wrapper and a Harmony channel are rows of this table.
* What is one call?  ``CallBlock``: a payload grammar and optional closers.
* How is it spelled inside?  Five payloads: ``Envelope`` (name inside JSON), ``Named`` (head, then JSON),
  ``Tagged`` (head, then key and value between delimiters), ``Elements`` (a tree of elements), ``CallSyntax``
  (``f(a=1)``); ``FirstChar`` picks one; ``Builtin`` is a block that is no function call.
* Where does generation begin?  ``Start``.

Spellings are templates with slots, ``<parameter={key}>\\n{value}\\n</parameter>\\n``: the parser takes its
literals from them (blanks at the seams are optional), the structural tag fills them. Every object is
immutable; dialects, blocks and payloads compare by identity, so that what is compiled from them is found at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from .markers import Marker

ReasoningCalls = Literal["resume", "end", "keep"]


class Sink(Enum):
    """Where a region's text goes."""

    CONTENT = "content"
    REASONING = "reasoning"
    HEADER = "header"  # captured and handed to a Route, never shown
    SECTION = "section"  # around calls: blanks and a bounded amount of noise, else the section is over
    DROPPED = "dropped"  # counted, not shown: a message to a tool that is no function


# ---- payload grammars -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Envelope:
    """JSON that holds name and arguments: ``{"name": "f", "arguments": {...}}``, either first.

    ``id``: the key of an id that the model writes; it counts if it stands before the name, which does not wait for it.
    ``shape``: "object" also reads several objects one after the other, "array" wants a list, "either" both.
    ``key_is_name``: an object's first key is the name, its value the arguments.
    ``canonical`` is the template's own spelling of one call, ``brackets`` stand around an array of them, ``between``
    between two; "" where a block holds one object only.
    """

    name: str = "name"
    arguments: tuple[str, ...] = ("arguments", "parameters")
    id: str = ""
    shape: Literal["object", "array", "either"] = "either"
    key_is_name: bool = False
    canonical: str = '{"name": "{name}", "arguments": {arguments}}'
    brackets: tuple[str, str] = ("[", "]")
    between: str = ", "


@dataclass(frozen=True, eq=False)
class Named:
    """A head with the name, then one JSON value.

    ``head`` is a template with {name} or {id}; "" when the name is already known (a Route gave it).
    ``optional`` are literals of the head that may be missing, with the slot after them.
    """

    head: str = ""
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Tagged:
    """A head with the name, and {id} where ids are written, then arguments between delimiters, typed by the tool's
    schema or by the format itself.

    ``argument`` is a template with {key} and {value}; a newline next to {value} is markup, at most one on each
    side. ``tail`` ends the call; "" where the closer around it does. ``around`` are the opener of what encloses the
    call, its closer and other spellings of that: the closer implies a missing tail. ``optional`` are literals of head
    and argument that may be missing, with the slot after them. ``padded``: values may stand on lines of their own
    although the template writes none.

    ``words``: what {type} says of a value, as pairs of a JSON type and its word; the word of "string" means raw text,
    all others JSON. ``empty`` ends an opening tag with nothing inside ("/>"). ``body``: what may stand around a JSON
    object in place of the arguments, one without it is always read. ``wrappers``: arguments that may hold all others
    in an object, where the tool declares none of that name. ``entities``: keys write ``&`` and ``"`` as in XML.
    ``control``: the markup begins with control tokens; where the engine says which spans are, only those count.
    ``reads``: the argument with optional parts that the template does not write. ``xml``: values are XML text, with
    entities and CDATA sections.
    """

    head: str
    argument: str
    tail: str
    around: tuple[str, ...] = ("", "")
    optional: tuple[str, ...] = ()
    padded: bool = False
    python_words: bool = True
    words: tuple[tuple[str, str], ...] = ()
    empty: str = ""
    body: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    entities: bool = False
    control: bool = False
    reads: str = ""
    xml: bool = False


@dataclass(frozen=True, eq=False)
class Elements:
    """A head with the name, then arguments as a tree of elements named after their keys, typed by the tool's schema.

    ``space`` stands before every tag of the templates. An object holds an element for each key, an array one named
    ``item`` for each item, text is a scalar. ``tail`` ends the call, ``around`` are the tags of what encloses it.
    """

    space: str
    head: str
    tail: str
    around: tuple[str, str]
    item: str = "item"


@dataclass(frozen=True, eq=False)
class CallSyntax:
    """Calls as a programming language writes them: ``f(a=1, b="x")``, in a list where ``wrap`` is set; ``loose``:
    the brackets of the list may be missing.

    ``between`` stands between two calls, "" where a block holds one call only; ``comma`` between two arguments,
    elements or pairs. ``words`` are the template's true, false and null. ``variants``: other spellings of literals
    of the head. ``quote``: the family's own token around a string; then values are Python's no longer, the arguments
    are an object in the family's notation (see literals.py), and the template sorts keys.
    """

    head: str = "{name}("
    assign: str = "="
    tail: str = ")"
    wrap: tuple[str, str] = ("[", "]")
    between: str = ", "
    comma: str = ", "
    words: tuple[str, str, str] = ("True", "False", "None")
    variants: tuple[tuple[str, str], ...] = ()
    quote: str = ""
    loose: bool = False


@dataclass(frozen=True, eq=False)
class Builtin:
    """Text for a tool that is no function (code for an interpreter), up to the block's closer: dropped and counted."""


Grammar = Envelope | Named | Tagged | Elements | CallSyntax | Builtin


@dataclass(frozen=True, eq=False)
class FirstChar:
    """The payload's first character picks the grammar: families that changed their format, or that mix two.

    A case of two characters needs the second behind the first, blanks aside; the first case that fits counts.
    """

    cases: tuple[tuple[str, Grammar], ...]
    other: Grammar


Payload = Grammar | FirstChar


@dataclass(frozen=True, eq=False)
class CallBlock:
    """One block of calls: a payload and the closers that may follow it.

    ``ids``: "" when ids are made by the engine, else their form, ``functions.{name}:{index}``.
    ``pad``: the template's blanks between opener and payload, and between payload and closer.
    ``until``: what also ends a body that is no JSON, and is left standing (a section's closer, the next opener).
    ``confirm``: the name counts only once the grammar went on behind the head (openers that are plain text).
    """

    payload: Payload
    close: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    ids: str = ""
    pad: tuple[str, str] = ("", "")
    confirm: bool = False


# ---- regions and edges ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Goto:
    """Change the region."""

    region: str


@dataclass(frozen=True)
class Push:
    """Enter a section; Pop comes back, to ``then`` where that is set."""

    region: str
    then: str | None = None


@dataclass(frozen=True)
class Pop:
    """Leave the section."""


@dataclass(frozen=True)
class Skip:
    """Swallow the marker."""


@dataclass(frozen=True)
class Call:
    """Hand over to a call block, then back, or on to ``then``. ``name`` is set where a header gave it."""

    block: CallBlock
    name: str | None = None
    then: str | None = None


@dataclass(frozen=True)
class Route:
    """The captured header decides what comes next."""

    by: Callable[[str], Goto | Call]


Action = Goto | Push | Pop | Skip | Call | Route


@dataclass(frozen=True)
class Edge:
    """What a marker does. ``trim``: newlines, at most so many, before and after it that are framing."""

    on: tuple[Marker, ...]
    do: Action
    trim: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Region:
    """A mode of the response.

    ``noise`` (sections): characters of other text tolerated before the first call. Behind a call a section with
    ``repeat`` tolerates some as well, if another call or the closer follows; it is dropped and counted.
    ``opens`` (headers): how a header can begin; other text is content at once. () for any text. ``between``
    (sections): the template's separator of two calls; ``pad``: its blanks after the section opener and before the
    closer; ``repeat``: the template puts all calls of a response into one section.
    """

    name: str
    sink: Sink
    edges: tuple[Edge, ...]
    noise: int = 0
    opens: tuple[str, ...] = ()
    between: str = ""
    pad: tuple[str, str] = ("", "")
    repeat: bool = False


@dataclass(frozen=True)
class Reasoning:
    """The tags of a reasoning block, and how many newlines around each are framing.

    ``calls``: what a call inside reasoning does: "resume" (reasoning goes on after it), "end" (it ends the
    reasoning) or "keep" (it is no call, it stays reasoning text). ``also``: other spellings of the same, for families
    that changed them; any closer closes. ``skip``: tags inside reasoning that are no text. ``after``: what the template
    writes behind the closer, for an edge of the dialect to take. ``at``: where the opener counts.
    """

    open: str
    close: str
    calls: ReasoningCalls = "resume"
    trim_open: tuple[int, int] = (0, 0)
    trim_close: tuple[int, int] = (0, 0)
    also: tuple[Reasoning, ...] = ()
    skip: tuple[str, ...] = ()
    after: str = ""
    at: Literal["anywhere", "line"] = "line"


@dataclass(frozen=True)
class Answer:
    """Tags around the content, which are not shown: an opener at its start, the first closer behind it."""

    open: str
    close: str
    trim_open: tuple[int, int] = (0, 0)
    trim_close: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Start:
    """Where generation begins when the prompt is not known: "plain", or "reasoning" where the template always opens
    the block.

    ``kwargs``: chat-template arguments that switch thinking on; ``turn``: the text in the prompt after which
    the region table is run over its tail to find out.
    """

    region: str = "plain"
    kwargs: tuple[str, ...] = ()
    turn: str = ""


@dataclass(frozen=True)
class Messages:
    """The headers as the template writes them, for structural tags. ``call`` holds {name}; ``turn`` stands between
    two messages. ``several``: a call does not end the response, and may follow content."""

    call: str
    block: CallBlock
    content: str
    reasoning: str
    turn: str
    several: bool = False


@dataclass(frozen=True)
class Variants:
    """Checkpoints whose markers all carry a suffix, each its own; the tokenizer says which.

    ``marker`` is one of the markers with {suffix} in its place, ``of`` makes the dialect with that suffix.
    """

    marker: str
    of: Callable[[str], Dialect]


@dataclass(frozen=True)
class Engines:
    """The names of the engines' own tool-call parsers for a dialect, with blanks between: where people come from."""

    vllm: str = ""
    sglang: str = ""
    lmdeploy: str = ""


@dataclass(frozen=True, eq=False)
class Dialect:
    """Everything toolglot knows about one family's output.

    ``openers`` are the edges that lead to calls, legal in plain text and, as ``reasoning.calls`` says, in
    reasoning. ``regions`` are the sections they push, and channels a family has besides. ``between`` is the
    template's text between two blocks. ``stops`` are the end-of-turn tokens, ``keep_special`` says that markers
    are special tokens, which a detokenizer must keep. ``messages``: the canonical headers of a dialect whose
    responses are messages with headers. ``answer``: tags that some families put around the content. ``variants``:
    where checkpoints spell the markers differently. ``summary`` names the families, ``engines`` other parsers for them.
    """

    name: str
    openers: tuple[Edge, ...] = ()
    reasoning: Reasoning | None = None
    answer: Answer | None = None
    regions: tuple[Region, ...] = ()
    start: Start = Start()
    aliases: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    keep_special: bool = False
    between: str = ""
    summary: str = ""
    engines: Engines = Engines()
    messages: Messages | None = None
    variants: Variants | None = None


def on(
    do: Action,
    *texts: str,
    trim: tuple[int, int] = (0, 0),
    control: bool = False,
    at: Literal["anywhere", "line", "start", "after_call"] = "anywhere",
    consume: bool = True,
    plain: bool = False,
) -> Edge:
    """An edge for one or more spellings of a marker."""
    return Edge(tuple(Marker(text, control, at, consume, plain) for text in texts), do, trim)
