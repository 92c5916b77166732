"""The parsers that are timed: toolglot's core, the floor, and vLLM's built-in parsers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolglot.core import ResponseParser, assemble

from .workloads import TOOL, Workload

Result = tuple[str | None, list[str]]


class TooSlow(Exception):
    """A response took longer than its time limit; ``done`` is the part of its chunks that was parsed."""

    def __init__(self, done: int) -> None:
        self.done = done


def parse_with_core(workload: Workload, chunks: Sequence[str]) -> Result:
    """The result of toolglot's core, to be checked before it is timed."""
    parser = ResponseParser(workload.dialect, [TOOL])
    deltas = [delta for chunk in chunks for delta in parser.feed(chunk)]
    message = assemble(deltas + parser.finish())
    return message.content, [call.arguments for call in message.tool_calls]


def run_core(dialect: str, chunks: Sequence[str]) -> None:
    """toolglot's core with its own deltas, which are dropped as a server drops them once they are sent."""
    parser = ResponseParser(dialect, [TOOL])
    feed = parser.feed
    for chunk in chunks:
        feed(chunk)
    parser.finish()


class _Delta:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class _Floor:
    """The least a streaming parser can do for a chunk: look for one character, return one object."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[_Delta]:
        if not self._held and "<" not in text:
            return [_Delta(text)]
        return [_Delta(text)]


def run_floor(chunks: Sequence[str]) -> None:
    """The floor, on the same chunks and with the same loop."""
    feed = _Floor().feed
    for chunk in chunks:
        feed(chunk)


class VllmBuiltin:
    """vLLM's built-in parser of a family, driven as its server drives it: ``parse_delta`` for each engine step.

    The tokenizer is a tiny one that has the family's markers as single tokens; the ids of every chunk are made before
    the clock starts.
    """

    def __init__(self, name: str, tokenizer: Any, clock: Callable[[], float], limit: float) -> None:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser.parser_manager import ParserManager

        self._clock = clock
        self._limit = limit
        self._tokenizer = tokenizer
        self._parser_class = ParserManager.get_parser(tool_parser_name=name, enable_auto_tools=True, model_name="any")
        self._request = ChatCompletionRequest.model_validate(
            {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "tools": [TOOL]}
        )

    def prepare(self, chunks: Sequence[str]) -> list[tuple[str, list[int]]]:
        """The chunks with their token ids."""
        known: dict[str, list[int]] = {}
        steps = []
        for chunk in chunks:
            if chunk not in known:
                known[chunk] = self._tokenizer.encode(chunk, add_special_tokens=False)
            steps.append((chunk, known[chunk]))
        return steps

    def consume(self, steps: Sequence[tuple[str, list[int]]]) -> Result:
        """Parse one response. Raises TooSlow beyond the time limit."""
        parser = self._parser_class(self._tokenizer, self._request.tools)
        parse = parser.parse_delta
        content: list[str] = []
        arguments: dict[int, list[str]] = {}  # kept to be checked; the cost of that is far below the parser's
        end = self._clock() + self._limit
        for at, (text, ids) in enumerate((*steps, ("", []))):
            message = parse(text, ids, self._request, prompt_token_ids=[1], finished=at == len(steps))
            if at % 64 == 0 and self._clock() > end:
                raise TooSlow(at)
            if message is None:
                continue
            if message.content:
                content.append(message.content)
            for call in message.tool_calls or ():
                if call.function is not None and call.function.arguments:
                    arguments.setdefault(call.index, []).append(call.function.arguments)
        return "".join(content) or None, ["".join(pieces) for _, pieces in sorted(arguments.items())]
