"""print the table of all dialects

With the names that the engines' own parsers have for them. docs/dialects.md holds the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..errors import ConfigurationError
from ..probes import TOOLS
from ..registry import get_dialect, list_dialects
from ..spec import Call, CallBlock, CallSyntax, Dialect, Envelope, FirstChar, Named, Payload, Tagged
from ..structural import structural_tag
from ..tools import ToolChoice

COLUMNS = ("dialect", "families", "payload grammar", "reasoning", "structural tag", "aliases", "vLLM", "SGLang",
           "LMDeploy")  # fmt: skip
# Names of vLLM that stand for no format: what users of them want, and what to do.
NO_FORMAT = {
    "hf": "reads whatever the `response_template` of the model's tokenizer describes. Such templates hold free regular "
    "expressions, which can neither be read incrementally nor turned into a grammar: name the model's dialect, or let "
    "`toolglot` find it",
    "beam": "the same, with a grammar made from that template; no public model names it",
}
CHOICES: dict[str, ToolChoice] = {
    "required": "required",
    "named": {"type": "function", "function": {"name": TOOLS[0]["function"]["name"]}},
    "auto": "auto",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the table, in Markdown."""
    for line in table():
        print(line)
    return 0


def table() -> Iterator[str]:
    """The lines of the table."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for name in list_dialects():
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in _row(get_dialect(name)))} |"
    yield ""
    yield "No dialect stands for these names of vLLM:"
    yield ""
    yield from (f"- `{name}` {why}." for name, why in NO_FORMAT.items())


def _row(dialect: Dialect) -> tuple[str, ...]:
    engines = dialect.engines
    names = (" ".join(dialect.aliases), engines.vllm, engines.sglang, engines.lmdeploy)
    return (
        f"`{dialect.name}`",
        dialect.summary,
        _grammar(dialect),
        _reasoning(dialect),
        _tag(dialect),
        *(", ".join(f"`{word}`" for word in listed.split()) or "–" for listed in names),
    )


def _grammar(dialect: Dialect) -> str:
    return " or ".join(dict.fromkeys(kind for block in _blocks(dialect) for kind in _kinds(block.payload)))


def payload_names(name: str) -> str:
    """The payload grammars of a dialect, by the names of their classes in spec.py."""
    return ", ".join(dict.fromkeys(kind for block in _blocks(get_dialect(name)) for kind in _classes(block.payload)))


def _classes(payload: Payload) -> Iterator[str]:
    if isinstance(payload, FirstChar):
        for inner in (*(case for _, case in payload.cases), payload.other):
            yield from _classes(inner)
    else:
        yield type(payload).__name__


def _blocks(dialect: Dialect) -> Iterator[CallBlock]:
    if dialect.messages is not None:
        yield dialect.messages.block
    for edge in (*dialect.openers, *(edge for region in dialect.regions for edge in region.edges)):
        if isinstance(edge.do, Call):
            yield edge.do.block


def _kinds(payload: Payload) -> Iterator[str]:
    if isinstance(payload, FirstChar):
        for _, case in payload.cases:
            yield from _kinds(case)
        yield from _kinds(payload.other)
    elif isinstance(payload, Envelope):
        yield "list of JSON objects" if payload.shape == "array" else "JSON with the name inside"
    elif isinstance(payload, Named):
        yield "name, then JSON"
    elif isinstance(payload, Tagged):
        yield "name, then tagged arguments"
    elif isinstance(payload, CallSyntax):
        yield f"calls, `{payload.head.replace('{name}', 'f')}a{payload.assign}…{payload.tail}`"


def _reasoning(dialect: Dialect) -> str:
    if dialect.messages is not None:
        return "a channel"
    tags = dialect.reasoning
    return "–" if tags is None else f"`{tags.open}` `{tags.close}`"


def _tag(dialect: Dialect) -> str:
    """For which tool choices there is a grammar."""
    works = []
    for word, choice in CHOICES.items():
        try:
            structural_tag(dialect, TOOLS, choice)
        except ConfigurationError:
            continue
        works.append(word)
    return "yes" if len(works) == len(CHOICES) else ", ".join(works) or "no"
