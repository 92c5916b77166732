"""Runs the parser through its public API and checks every delta stream on the way."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any

from corpus import CorpusLine
from material import Derived, markers_of

from toolglot.core import ResponseParser, assemble


def suffixed(suffix: str) -> tuple[str, ...]:
    """The markers of Hunyuan."""
    tags = "tool_calls /tool_calls tool_call /tool_call tool_sep arg_key /arg_key arg_value /arg_value think /think"
    return tuple(f"<{tag}{suffix}>" for tag in tags.split())


# Markers that are control text of their dialect: in a whole response they never show unless the model quoted
# them. Openers that are ordinary text (a bare `<function=`, `[`) are not among them: a block cut there is
# text.
CONTROL_MARKERS: Derived[tuple[str, ...]] = Derived(markers_of, {
    "hermes": ("<tool_call>", "</tool_call>"),
    "qwen3_coder": ("<tool_call>", "</tool_call>", "</function>", "</parameter>"),
    "deepseek_v31": (
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
    ),
    "deepseek_v3": (
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "```<｜tool▁call▁end｜>",
    ),
    "llama3_json": ("<|python_tag|>",),
    "granite4": ("<tool_call>", "</tool_call>"),
    "granite": ("<|tool_call|>",),
    "internlm2": ("<|action_start|>", "<|action_end|>", "<|plugin|>"),
    "hunyuan_a13b": ("<tool_calls>", "</tool_calls>", "<answer>"),
    "ernie45": ("<tool_call>", "</tool_call>"),
    "jamba": ("<tool_calls>", "</tool_calls>"),
    "apertus": ("<|tools_prefix|>", "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>"),
    "xlam": (),
    "phi4_mini": ("<|tool_call|>", "<|/tool_call|>"),
    "kimi_k2": (
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
    ),
    "llama4_pythonic": ("<|python_start|>", "<|python_end|>"),
    **dict.fromkeys(
        ("glm45", "glm47"), ("<tool_call>", "</tool_call>", "</arg_key>", "<arg_value>", "</arg_value>")
    ),
    **dict.fromkeys(("step3p5", "mimo"), ("<tool_call>", "</tool_call>", "</function>", "</parameter>")),
    "seed_oss": (
        "<seed:tool_call>",
        "</seed:tool_call>",
        "</function>",
        "</parameter>",
        "<seed:think>",
        "</seed:think>",
    ),
    "minimax_m2": ("<minimax:tool_call>", "</minimax:tool_call>", "</invoke>", "</parameter>"),
    "step3": (
        "<｜tool_calls_begin｜>",
        "<｜tool_calls_end｜>",
        "<｜tool_call_begin｜>",
        "<｜tool_call_end｜>",
        "<｜tool_sep｜>",
        "</steptml:parameter>",
        "</steptml:invoke>",
    ),
    "hy_v3": suffixed(":opensource"),
    "hy_v4": suffixed(":6124c78e"),
    "olmo3": ("<function_calls>", "</function_calls>"),
    "lfm2": ("<|tool_call_start|>", "<|tool_call_end|>"),
    "gemma4": ("<|tool_call>", "<tool_call|>", "<|channel>", "<channel|>"),
    "functiongemma": ("<start_function_call>", "<end_function_call>", "<escape>"),
    "mistral": ("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"),
    "gpt_oss": (
        "<|start|>assistant",
        "<|channel|>",
        "<|constrain|>",
        "<|message|>",
        "<|end|>",
        "<|call|>",
        "<|return|>",
    ),
    "deepseek_v32": (
        "<｜DSML｜function_calls>",
        "</｜DSML｜function_calls>",
        "</｜DSML｜invoke>",
        "</｜DSML｜parameter>",
    ),
    "deepseek_v4": ("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", "</｜DSML｜invoke>", "</｜DSML｜parameter>"),
    "deepseek_v41": ("<｜DSML｜ calls>", "</｜DSML｜ calls>", "</｜DSML｜ invoke>", "</｜DSML｜ parameter>"),
    "kimi_k3": (
        "<|open|>think<|sep|>",
        "<|close|>think<|sep|>",
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|open|>tools<|sep|>",
        "<|close|>tools<|sep|>",
        "<|close|>call<|sep|>",
        "<|close|>argument<|sep|>",
        "<|close|>message<|sep|>",
    ),
    "minimax_m3": (
        "]<]minimax[>[<tool_call>",
        "]<]minimax[>[</tool_call>",
        "]<]minimax[>[</invoke>",
        "<mm:think>",
        "</mm:think>",
    ),
})



def listed(text: str) -> list[str]:
    """Pieces of model text, written in a row and parted by broken bars."""
    return text.split("¦")


def make_id(name: str, index: int) -> str:
    """Ids that depend on nothing but the call, so that runs can be compared."""
    return f"made:{index}:{name}"


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str
    complete: bool
    id: str


@dataclass(frozen=True)
class Result:
    content: str | None
    reasoning: str | None
    calls: tuple[Call, ...]

    @property
    def visible(self) -> str:
        """Everything a client sees, except ids."""
        return "\n".join(
            (
                self.content or "",
                self.reasoning or "",
                *(f"{call.name}\n{call.arguments}" for call in self.calls),
            )
        )


def to_result(message: Any) -> Result:
    calls = tuple(Call(call.name, call.arguments, call.complete, call.id) for call in message.tool_calls)
    return Result(message.content, message.reasoning, calls)


def expected_result(line: CorpusLine) -> Result:
    calls = tuple(
        Call(call["name"], call["arguments"], call["complete"], call.get("id") or make_id(call["name"], index))
        for index, call in enumerate(line.expected["tool_calls"])
    )
    return Result(line.expected["content"], line.expected["reasoning"], calls)


def new_parser(line: CorpusLine, **override: Any) -> ResponseParser:
    options = {"make_id": make_id, **line.options, **override}
    return ResponseParser(line.dialect, tools=line.tools, **options)


class DeltaCheck:
    """The contract of a delta stream: identity first, contiguous, sequential, nothing after a call's end."""

    def __init__(self) -> None:
        self.current = -1
        self._ended = False

    def take(self, delta: Any) -> None:
        """The next delta of the stream."""
        if delta.kind in ("content", "reasoning"):
            assert isinstance(delta.text, str) and delta.text, f"a text delta without text: {delta!r}"
            return
        assert delta.kind == "tool_call", f"unknown kind: {delta!r}"
        if delta.name is not None:
            assert delta.index == self.current + 1, f"indices are not contiguous: {delta!r} after {self.current}"
            assert isinstance(delta.id, str) and delta.id, f"identity without id: {delta!r}"
            assert delta.name, f"empty name: {delta!r}"
            self.current = delta.index
            self._ended = False
        else:
            assert delta.id is None, f"an id after the identity: {delta!r}"
            assert self.current >= 0, f"arguments before any name: {delta!r}"
            assert delta.index == self.current, f"calls are not sequential: {delta!r} while {self.current} is open"
            assert not self._ended, f"a delta after the call's end: {delta!r}"
            assert delta.arguments or delta.complete, f"a tool delta that says nothing: {delta!r}"
        assert delta.arguments is None or (isinstance(delta.arguments, str) and delta.arguments), repr(delta)
        self._ended = self._ended or bool(delta.complete)


def check_deltas(deltas: Iterable[Any]) -> None:
    """Check a whole delta stream."""
    check = DeltaCheck()
    for delta in deltas:
        check.take(delta)


def counters(parser: ResponseParser) -> dict[str, int]:
    return {kind: count for kind, count in parser.anomalies.items() if count}


Spans = Sequence[tuple[int, int]]


def run(
    parser: ResponseParser,
    chunks: Iterable[str],
    finish_reason: str | None = None,
    controls: Iterable[Spans | None] = repeat(None),
) -> Result:
    """Feed the chunks, finish, check the delta stream, and return what it adds up to."""
    deltas: list[Any] = []
    for chunk, spans in zip(chunks, controls, strict=False):
        deltas.extend(parser.feed(chunk, spans))
    deltas.extend(parser.finish(finish_reason))
    check_deltas(deltas)
    return to_result(assemble(deltas))


def run_line(line: CorpusLine, chunks: Iterable[str], **override: Any) -> tuple[Result, dict[str, int]]:
    parser = new_parser(line, **override)
    return run(parser, chunks, line.finish_reason), counters(parser)


def cut(text: str, places: Sequence[int]) -> list[str]:
    """The text cut at ascending places."""
    bounds = [0, *places, len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def random_splits(text: str, count: int, seed: str) -> Iterator[list[str]]:
    """Seeded multi-splits, from two chunks to nearly single characters, now and then with an empty chunk."""
    rng = random.Random(seed)
    size = len(text)
    for _ in range(count):
        wanted = rng.choice((2, 3, 4, 8, 16, max(2, size // 3)))
        places = sorted(rng.randrange(size + 1) for _ in range(min(wanted, size + 1)))
        yield cut(text, places)


def chunkings(text: str, rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """A few chunkings of one text, named."""
    yield "one character at a time", list(text)
    for count in (1, 3, max(1, len(text) // 4)):
        places = sorted(rng.randrange(len(text) + 1) for _ in range(count))
        yield f"cut at {places}", cut(text, places)


def tools_named(tools: Sequence[Mapping[str, Any]] | None) -> dict[str, Mapping[str, Any]]:
    return {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools or ()}
