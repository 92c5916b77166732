"""``python -m bench.tags``: what constraining costs a request before generation: building a tag, checking, compiling.

Cold is the first request with its tools, warm a later one. Building and checking are the plugins' (core/serving),
compiling is the engine's, for a vocabulary of 32,000 words. Both keep their results by the text of the tools.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from toolglot.core import get_dialect
from toolglot.core.serving import constrain
from toolglot.core.serving.prompt import Thinking

SIZES = (1, 20, 200)
DIALECTS = ("hermes", "qwen3_coder", "llama4_pythonic")
LIMIT = 1.0  # milliseconds, warm


def tools(count: int) -> list[dict[str, Any]]:
    """Tools as agents have them: about 500 characters each."""
    made = []
    for number in range(count):
        properties = {
            "path": {"type": "string", "description": "Absolute path of the file to work on."},
            "mode": {"enum": ["read", "write", "append"], "description": "How the file is opened."},
            "line": {"type": "integer", "minimum": 1, "description": "First line, counted from one."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Labels of the change."},
            "dry_run": {"type": ["boolean", "null"]},
        }
        function = {
            "name": f"tool_{number}",
            "description": f"Tool number {number} of the server, which does something to a file.",
            "parameters": {"type": "object", "properties": properties, "required": ["path", "mode"]},
        }
        made.append({"type": "function", "function": function})
    return made


def compiler() -> Any:
    """XGrammar's compiler for a vocabulary of a usual size."""
    import xgrammar

    rng = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz     _ABCDEFGH0123456789"
    words = {chr(code) for code in range(32, 127)} | {"\n", "\t"}
    while len(words) < 31_999:
        words.add("".join(rng.choices(letters, k=rng.randint(2, 8))))
    vocabulary = [*sorted(words), "<end>"]
    info = xgrammar.TokenizerInfo(vocabulary, stop_token_ids=[len(vocabulary) - 1])
    return xgrammar.GrammarCompiler(info, max_threads=1)


def problem_of(tag: str) -> str | None:
    """What the plugins ask XGrammar about a tag."""
    import xgrammar

    try:
        xgrammar.Grammar.from_structural_tag(tag)
    except Exception as error:
        return str(error)
    return None


def milliseconds(work: Callable[[], Any]) -> float:
    """How much processor time it takes: a noisy machine disturbs that little."""
    start = process_time()
    work()
    return 1000 * (process_time() - start)


def main() -> int:
    """Print the table; the status is 1 when a warm request costs more than LIMIT."""
    options = argparse.ArgumentParser(prog="python -m bench.tags", description=__doc__)
    options.add_argument("--repeats", type=int, default=9)
    options.add_argument("--output", type=Path, help="also write the table to this file")
    arguments = options.parse_args()
    lines = [
        f"Milliseconds of processor time, the best of {arguments.repeats}; `required`, one thread.",
        "",
        "| dialect | tools | characters of the tools | build and check, cold | compile, cold | build and check, warm "
        "| compile, warm |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    problem_of("")  # imports XGrammar
    slow = False
    for dialect in DIALECTS:
        for size in SIZES:
            line, warm = _row(get_dialect(dialect).name, tools(size), arguments.repeats)
            slow = slow or warm > LIMIT
            lines.append(line)
            print(line, flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(slow)


def _row(dialect: str, offered: list[dict[str, Any]], repeats: int) -> tuple[str, float]:
    def checked() -> Any:
        return constrain.checked_tag(
            dialect, offered, "required", thinking=Thinking.CLOSED, parallel_tool_calls=True, problem_of=problem_of
        )

    cold, warm, compiled, again = [], [], [], []
    for _ in range(repeats):
        constrain.clear()
        cold.append(milliseconds(checked))
        warm.append(milliseconds(checked))
        text = checked().text
        grammars = compiler()
        compiled.append(milliseconds(lambda g=grammars, t=text: g.compile_structural_tag(t)))  # type: ignore[misc]
        again.append(milliseconds(lambda g=grammars, t=text: g.compile_structural_tag(t)))  # type: ignore[misc]
    figures = [min(each) for each in (cold, compiled, warm, again)]
    size = len(json.dumps(offered))
    cells = " | ".join(f"{figure:.2f}" for figure in figures)
    return f"| {dialect} | {len(offered)} | {size:,} | {cells} |", figures[2]


if __name__ == "__main__":
    sys.exit(main())
