"""Write docs/sizes.md: how large each part of the package and each dialect is.

    python scripts/sizes.py

Code is what is left of a file without blank lines, comments and docstrings.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sizes.md"
CORPUS = ROOT / "tests" / "corpus"

TEXT = """\
# Sizes

Lines of the package by part, and of each dialect. Made by `python scripts/sizes.py`. *Code* is without blank lines,
comments and docstrings.

"""
WHY = """
Eight thousand lines were aimed at for core and plugins. What is beyond that: docstrings and comments, over a quarter of
all lines; the data of 54 dialects; and commands that serving does not need (finding a model's dialect, explaining,
recording and replaying a response), each a part of its own that nothing else imports.

The parser is larger than its grammars alone would need for two reasons: each format is also read as models miswrite it,
by rules of which each is a corpus case; and values without types of their own are converted by the tool's schema, with
Python's literals among them.

## Dialects

A file of data only defines no function and no class. Files that hold several dialects are listed under each of them.

"""
# Part -> what belongs to it, the first that fits: folders, or beginnings of file names in core/.
PARTS = {
    "dialects, data": ("core/dialects/",),
    "command line": ("core/commands/", "core/cli.py"),
    "what both plugins need": ("core/serving/",),
    "structural tags": ("core/tag_", "core/structural.py", "core/schema_parts.py", "core/number_ranges.py",
                        "core/syntax_grammar.py", "core/sampling.py"),
    "finding a dialect": ("core/detect.py", "core/probes.py", "core/chat_template.py", "core/model_files.py",
                          "core/own_spelling.py"),
    "explaining and recording": ("core/explain.py", "core/tracing.py", "core/account.py", "core/recording.py",
                                 "core/redact.py"),
    "parser": ("core/",),
    "vLLM plugin": ("vllm_plugin/",),
    "LMDeploy plugin": ("lmdeploy_plugin/",),
}  # fmt: skip
LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def code_lines(source: str) -> int:
    """Lines that are neither blank nor comment nor docstring."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                code.difference_update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(code)


def parts() -> dict[str, tuple[int, int, int]]:
    """Part -> modules, lines, lines of code."""
    found = dict.fromkeys(PARTS, (0, 0, 0))
    for folder in ("core", "vllm_plugin", "lmdeploy_plugin"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            part = next(name for name, begins in PARTS.items() if path.startswith(begins))
            source = file.read_text(encoding="utf-8")
            modules, lines, code = found[part]
            found[part] = (modules + 1, lines + source.count("\n"), code + code_lines(source))
    return found


def _parts() -> Iterator[str]:
    yield "| part | modules | lines | code |"
    yield "|---|---|---|---|"
    found = parts()
    for name, figures in found.items():
        yield f"| {name} | {' | '.join(f'{figure:,}' for figure in figures)} |"
    yield f"| **all** | {' | '.join(f'{sum(column):,}' for column in zip(*found.values(), strict=True))} |"


def _dialects() -> Iterator[str]:
    from toolglot.core import list_dialects
    from toolglot.core.commands.dialects import payload_names

    files = {name: file for file in sorted((ROOT / "core" / "dialects").glob("*.py")) for name in _named(file)}
    yield "| dialect | file | lines | code | data only | payload | corpus cases |"
    yield "|---|---|---|---|---|---|---|"
    for name in list_dialects():
        source = files[name].read_text(encoding="utf-8")
        defines = any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.parse(source).body)
        cases = (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").count("\n")
        cells = (f"`{name}`", f"`{files[name].name}`", source.count("\n"), code_lines(source),
                 "no" if defines else "yes", payload_names(name), cases)  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"


def _named(file: Path) -> Iterator[str]:
    """The dialects that a file registers."""
    from toolglot.core import list_dialects

    known = set(list_dialects())
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        if node.args[0].value in known:
            yield str(node.args[0].value)


def main() -> int:
    """Write the page."""
    PAGE.write_text(TEXT + "\n".join(_parts()) + "\n" + WHY + "\n".join(_dialects()) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
