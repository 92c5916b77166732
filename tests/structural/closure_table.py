"""The table of docs/structural_tags.md: for each dialect and tool choice, the walks that were run and what they were.

    python tests/structural/closure_table.py [--all]

Walks and checks are those of tests/structural/test_closure.py. Without --all every sixth schema is walked.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "core"))

from schemas import ALL, choices  # noqa: E402
from test_closure import REASONING, WALKS, Case  # noqa: E402

from toolglot.core import get_dialect, list_dialects  # noqa: E402
from toolglot.core.spec import Call, FirstChar, Push  # noqa: E402

PAGE = ROOT / "docs" / "structural_tags.md"
BEGIN, END = "<!-- table: tests/structural/closure_table.py -->", "<!-- end of table -->"
SOURCES = {
    "Envelope": "the envelope's canonical spelling, arguments as JSON",
    "Named": "the head's template, arguments as JSON",
    "Tagged": "the argument's template, values as raw text or JSON by their schema",
    "CallSyntax": "a grammar of literals, one rule a value",
    "Elements": "the elements' tags, a tree by the schema",
}


def source(name: str) -> str:
    """Which of the dialect's data its tag is made of."""
    dialect = get_dialect(name)
    blocks = [dialect.messages.block] if dialect.messages is not None else []
    for edge in dialect.openers:
        inner = [edge]
        if isinstance(edge.do, Push):
            target = edge.do.region
            inner = [each for region in dialect.regions if region.name == target for each in region.edges]
        blocks += [each.do.block for each in inner if isinstance(each.do, Call)]
    payload = blocks[0].payload
    payload = payload.other if isinstance(payload, FirstChar) else payload
    return SOURCES[type(payload).__name__]


def main() -> int:
    """Write the table; a walk that does not parse stops it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--all", action="store_true", help="every schema")
    schemas = list(ALL)[:: 1 if options.parse_args().all else 6]
    names = list(choices())
    lines = [
        f"Walks that ended and parsed: {len(schemas)} schemas, {WALKS} walks each; reasoning and parallel calls vary.",
        "",
        "| dialect | source of the tag | " + " | ".join(names) + " |",
        "|---|---|" + "---|" * len(names),
    ]
    for dialect in list_dialects():
        cells = []
        for choice in names:
            turns = itertools.cycle(itertools.product(REASONING, (True, False)))
            ended = 0
            for schema, (reasoning, parallel) in zip(schemas, turns, strict=False):
                case = Case(dialect, schema, choice, reasoning, parallel)
                ended += case.run(f"table {case.name}")
            cells.append(f"{ended} of {len(schemas) * WALKS}")
        lines.append(f"| {dialect} | {source(dialect)} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    text = PAGE.read_text(encoding="utf-8")
    table = "\n".join([BEGIN, "", *lines, "", END])
    PAGE.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: table, text, flags=re.DOTALL), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
