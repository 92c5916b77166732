"""Write what is made from the code in docs/: dialects.md, detection.md, settings.md, the end of migration.md.

    python scripts/write_docs.py

A test fails while one of them is not up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "core"))

DIALECTS = """\
# Dialects

What `toolglot dialects` prints. Made by `python scripts/write_docs.py`; edit the modules in `core/dialects/`.

The last three columns are the names of the engines' own tool-call parsers for the same models: `--tool-call-parser
hermes` of vLLM becomes `toolglot_hermes`. Where a structural tag exists, `required`, named and strict calls are
constrained; else the column says for which choices.
"""

FRAMING = """
## Framing

The newlines next to a marker that its template writes: no more than so many, the nearest ones, belong to the marker
(`docs/rules.md`). What a call inside reasoning does is the default of the option `reasoning_calls`; "keep" means that
it is no call. Where generation begins is what holds when the prompt is not known.
"""

DETECTION = """\
# Finding the dialect

`--tool-call-parser toolglot` and `--reasoning-parser toolglot` find the dialect when the server starts, `toolglot
detect PATH_OR_REPO` from the command line. Both say why, and refuse with the candidates where it is not certain.

1. The model's chat template is rendered, in jinja2's sandbox, with known tool calls. A dialect that reads exactly these
   calls back (and the reasoning, where the template shows it), and leaves nothing behind, explains the template. No
   code of the model runs, nothing is downloaded.
2. Where several do, they are told apart by what else they declare, in this order: control tokens that the tokenizer
   lacks, the end of the prompt, a switch for reasoning, other tags than those of reasoning, the template's own
   spelling, what stands between two calls, framing newlines.
3. What is left must expect the end of the prompt as well, unless control tokens of the tokenizer mark its calls.
4. A template that shows tools to the model but writes no calls, and a model without template: certain only if the
   control tokens of exactly one dialect are in the vocabulary.

Parsers see the model's own template only. With `--chat-template` on the command line `toolglot` refuses; a template
from a configuration file, or given with each request, goes unnoticed: then name the dialect. `TOOLGLOT_DIALECT=DIALECT`
says what `toolglot` stands for, whatever is found.

## Confusion table

Every template and marker set in `tests/core/families.py`, with its vocabulary and by the template alone. Made by
`python scripts/write_docs.py`; none may be wrong, and those marked `–` must be refused.

"""

SETTINGS = """\
# Settings

Environment variables of the server, for both plugins. Made by `python scripts/write_docs.py` from
`core/serving/settings.py`. `toolglot doctor` lists them with their values.

A server that uses one of toolglot's parsers does not start with a wrong value; one that uses none of them is not
disturbed. A variable that begins with `TOOLGLOT_` and is not in the table is named in the log.

"""

IN_PYTHON = """
## In Python

A program that starts an engine by itself can give the same settings as an object, before it does. A wrong value raises
`ConfigurationError`.

```python
from toolglot.core.serving.settings import Settings, use

use(Settings(undeclared_tools="pass", arguments="complete"))
```

`ResponseParser` and `parse` of `toolglot.core` read no environment variables: they take `undeclared_tools`,
`reasoning_calls` and `arguments` as options.
"""


def settings_page() -> str:
    """docs/settings.md."""
    from toolglot.core.serving.settings import SETTINGS as ROWS

    lines = ["| variable | values | default | engine | meaning |", "|---|---|---|---|---|"]
    for row in ROWS:
        values = ", ".join(f"`{value}`" for value in row.values) or row.form
        default = f"`{row.default}`" if row.default in row.values else row.default
        lines.append(f"| `{row.variable}` | {values} | {default} | {row.engine or 'both'} | {row.meaning} |")
    text = "\n".join(lines)
    for page in ("dialects", "troubleshooting", "lmdeploy"):
        text = text.replace(f"({page}.md)", f"([{page}.md]({page}.md))")
    return SETTINGS + text + "\n" + IN_PYTHON


def dialects_page() -> str:
    """docs/dialects.md."""
    from toolglot.core.commands.dialects import table

    return "\n".join([DIALECTS, *table(), FRAMING, *_framing()]) + "\n"


def _framing() -> Iterator[str]:
    from toolglot.core.registry import get_dialect, list_dialects
    from toolglot.core.spec import Call, Push

    columns = ("dialect", "before a call", "behind the reasoning opener", "before its closer", "behind it",
               "a call inside reasoning", "generation begins in")  # fmt: skip
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for name in list_dialects():
        dialect = get_dialect(name)
        before = max((edge.trim[0] for edge in dialect.openers if isinstance(edge.do, (Call, Push))), default=0)
        tags = dialect.reasoning
        cells = ["–"] * 4
        if tags is not None:
            cells = [str(tags.trim_open[1]), *map(str, tags.trim_close), tags.calls]
        start = {"plain": "content", "header": "a header"}.get(dialect.start.region, dialect.start.region)
        yield f"| `{name}` | {before} | {' | '.join(cells)} | {start} |"


def detection_page() -> str:
    """docs/detection.md."""
    return DETECTION + "\n".join(_confusion()) + "\n"


def _confusion() -> Iterator[str]:
    from toolglot.core.detect import detect, quiet, reads_back
    from toolglot.core.probes import probe
    from toolglot.core.registry import get_dialect, list_dialects
    from toolglot.core.serving.tokens import as_spelled

    families = import_module("families")
    yield "| model | dialect | found | by the template alone | its calls are read back by | facts from |"
    yield "|---|---|---|---|---|---|"
    for family in (*families.FAMILIES, *families.REFUSED):
        model = family.model()
        readers = []
        if model.render is not None:
            groups = probe(model.render).written
            with quiet():
                readers = [
                    name
                    for name in list_dialects()
                    if groups and any(reads_back(as_spelled(get_dialect(name), model), item) for item in groups[0])
                ]
        found = detect(model).dialect or "refused"
        alone = "" if family.template is None else detect(family.model(vocabulary=False)).dialect or "refused"
        cells = (family.name, family.dialect or "–", found, alone or "no template", ", ".join(readers) or "none",
                 family.source)  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def migration_page() -> str:
    """docs/migration.md: what stands above its tables is written by hand."""
    text, heading, note = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8").partition("\n## Names\n")
    return text + heading + note.partition("\n### ")[0].rstrip("\n") + "\n" + "\n".join(_names()) + "\n"


def _names() -> Iterator[str]:
    from toolglot.core.registry import get_dialect, list_dialects

    for engine in ("vLLM", "SGLang", "LMDeploy"):
        found: dict[str, list[str]] = {}
        for dialect in list_dialects():
            for name in getattr(get_dialect(dialect).engines, engine.lower()).split():
                found.setdefault(name, []).append(dialect)
        yield f"\n### From {engine}\n"
        yield f"| {engine}'s name | toolglot's | for |"
        yield "|---|---|---|"
        for name, dialects in sorted(found.items()):
            for dialect in dialects:
                yield f"| `{name}` | `toolglot_{dialect}` | {get_dialect(dialect).summary} |"


PAGES = {
    "dialects": dialects_page,
    "detection": detection_page,
    "settings": settings_page,
    "migration": migration_page,
}


def main() -> int:
    """Write them."""
    for name, page in PAGES.items():
        (ROOT / "docs" / f"{name}.md").write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
