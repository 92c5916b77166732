"""What a 4-character step costs through vLLM's own parse_delta, by part, and beside vLLM's built-in parsers.

    python scripts/vllm_cost.py [--repeats N]

frame: vLLM's Parser with a tool parser that does nothing; messages: what building vLLM's objects adds to it;
core: toolglot's core alone; added: what is left of toolglot's total, the plugin's own cost (below zero, since it
builds most messages more cheaply than vLLM does). A row whose ratio is too low counts as missed only if toolglot takes
longer than frame and messages alone, which no parser can avoid. Every result is checked before it is timed; the
subjects of a row take turns, and the fastest of their runs counts.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tiny_model import tiny_model

from bench.subjects import TooSlow, VllmBuiltin, run_core
from bench.workloads import TOOL, argument, content

BUILTIN = {"hermes": "hermes", "qwen3_coder": "qwen3_coder"}
SIZES = (4, 16, 64)
Steps = Sequence[tuple[str, list[int]]]


def _stand_in(answer: Callable[[str], Any]) -> type[Any]:
    """A vLLM Parser whose tool parser answers each step at once."""
    from vllm.parser.abstract_parser import DelegatingParser
    from vllm.tool_parsers.abstract_tool_parser import ToolParser

    class StandIn(ToolParser):  # type: ignore[misc]
        engine_based_streaming = True
        supports_required_and_named = False

        def extract_tool_calls_streaming(self, *arguments: Any, **named: Any) -> Any:
            return answer(arguments[2])

    return type("Parser", (DelegatingParser,), {"tool_parser_cls": StandIn})


def _run(parser_class: type[Any], tokenizer: Any, request: Any, steps: Steps) -> None:
    parse = parser_class(tokenizer, request.tools).parse_delta
    for text, ids in steps:
        parse(text, ids, request, prompt_token_ids=[1], finished=False)
    parse("", [], request, prompt_token_ids=[1], finished=True)


def _best(subjects: dict[str, Callable[[], object]], steps: int, repeats: int) -> dict[str, float]:
    """Microseconds a step."""
    found = dict.fromkeys(subjects, float("inf"))
    for _ in range(repeats):
        for name, subject in subjects.items():
            start = process_time()
            subject()
            found[name] = min(found[name], (process_time() - start) / steps * 1e6)
    return found


def main() -> int:
    """Print the table; the exit status is 1 where a required ratio is missed."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--limit", type=float, default=10.0, help="seconds for one response of a built-in parser")
    given = options.parse_args()
    logging.disable(logging.CRITICAL)
    from transformers import AutoTokenizer
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.plugins import load_general_plugins

    from toolglot.vllm_plugin.compat import protocol

    load_general_plugins()
    tokenizer = AutoTokenizer.from_pretrained(tiny_model())
    request = ChatCompletionRequest.model_validate(
        {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "tools": [TOOL]}
    )
    engine = protocol()

    def call(text: str) -> Any:
        function = engine.DeltaFunctionCall(arguments=text)
        return engine.DeltaMessage(tool_calls=[engine.DeltaToolCall(index=0, function=function)])

    gc.collect()
    gc.freeze()  # as vLLM's server does
    print("| dialect | response | frame | messages | core | added | toolglot | vLLM built-in | vLLM / toolglot |")
    print("|---|---|---|---|---|---|---|---|---|")
    missed = []
    for dialect, name in BUILTIN.items():
        for kind, make in (("content", content), ("string argument", argument)):
            for size in SIZES:
                workload = make(dialect, size * 1024)
                ours = VllmBuiltin(f"toolglot_{dialect}", tokenizer, perf_counter, 600)
                theirs = VllmBuiltin(name, tokenizer, perf_counter, given.limit)
                chunks = workload.chunks(4)
                steps = ours.prepare(chunks)
                workload.check(*ours.consume(steps))
                message = call if kind != "content" else (lambda text: engine.DeltaMessage(content=text))
                frame, carried = _stand_in(lambda text: None), _stand_in(message)
                subjects: dict[str, Callable[[], object]] = {
                    "frame": partial(_run, frame, tokenizer, request, steps),
                    "carried": partial(_run, carried, tokenizer, request, steps),
                    "core": partial(run_core, dialect, chunks),
                    "ours": partial(_run, ours._parser_class, tokenizer, request, steps),
                }
                cost = _best(subjects, len(steps), given.repeats)
                slow, bound = _builtin(theirs, workload, steps)
                ratio = slow / cost["ours"]
                messages = cost["carried"] - cost["frame"]
                added = cost["ours"] - cost["carried"] - cost["core"]
                print(
                    f"| {dialect} | {kind} {size} KB | {cost['frame']:.1f} | {messages:.1f} | {cost['core']:.1f} "
                    f"| {added:.1f} | {cost['ours']:.1f} | {bound}{slow:.1f} | {bound}{ratio:.1f} |",
                    flush=True,
                )
                wanted = 6 if dialect == "hermes" else 2.5
                if ratio < wanted and cost["ours"] > cost["carried"]:
                    missed.append(f"{dialect}, {kind} {size} KB: {ratio:.1f} of {wanted}")
                if added > 2:
                    missed.append(f"{dialect}, {kind} {size} KB: the plugin adds {added:.1f} us")
    gc.unfreeze()
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return bool(missed)


def _builtin(theirs: VllmBuiltin, workload: Any, steps: Steps) -> tuple[float, str]:
    """Microseconds a step of vLLM's own parser, checked; with ">" when it took too long to be run to the end."""
    start = process_time()
    try:
        result = theirs.consume(steps)
    except TooSlow as error:
        return (process_time() - start) / max(error.done, 1) * 1e6, "> "
    spent = process_time() - start
    workload.check(*result)
    return spent / len(steps) * 1e6, ""


if __name__ == "__main__":
    sys.exit(main())
