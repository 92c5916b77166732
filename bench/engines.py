"""The parsers of the engines, each driven at its engine's own boundary: what is called for one step of the engine.

Three ways through vLLM and LMDeploy: with toolglot's plugin, with the engine's own parser, and with none, where the
same messages are made by the engine's own constructors from what is known in advance. SGLang's detectors come from the
package `llm-router-utils`, a copy of its front end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any, Protocol

from .core import new_parser
from .workloads import Workload

__all__ = ["Lmdeploy", "ReplayedLmdeploy", "ReplayedVllm", "Sglang", "Step", "Subject", "TooSlow", "Vllm", "consume",
           "recorded", "steps_of", "tokenizer"]  # fmt: skip

Step = tuple[str, list[int]]
Found = tuple[str, int, str]  # content, number of the call, arguments
Call = Callable[[str, list[int], bool], Any]  # one step; whether it is the last


class TooSlow(Exception):
    """A response took longer than its time limit."""


class Subject(Protocol):
    """A way to parse the responses to one request."""

    def open(self) -> Call:
        """A function that takes the steps of one response."""

    def read(self, answer: Any) -> Iterator[Found]:
        """What the answer to a step says."""


def tokenizer() -> Any:
    """A tiny one that has the families' markers as single tokens, as vLLM's server has it: its vocabulary is kept."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
    from tiny_model import tiny_model
    from transformers import AutoTokenizer
    from vllm.tokenizers.hf import get_cached_tokenizer

    return get_cached_tokenizer(AutoTokenizer.from_pretrained(str(tiny_model())))


def steps_of(chunks: Sequence[str], tokenizer: Any) -> list[Step]:
    """The chunks with their token ids."""
    known: dict[str, list[int]] = {}
    for chunk in chunks:
        if chunk not in known:
            known[chunk] = tokenizer.encode(chunk, add_special_tokens=False)
    return [(chunk, known[chunk]) for chunk in chunks]


def recorded(workload: Workload, steps: Sequence[Step]) -> list[list[Any]]:
    """The core's deltas for each step, and for the end."""
    parser = new_parser(workload)
    return [*(parser.feed(text) for text, _ in steps), parser.finish()]


def consume(subject: Subject, workload: Workload, steps: Sequence[Step], limit: float) -> float:
    """Parse a response and check the result; the seconds it took. Raises TooSlow or WrongResult."""
    content: list[str] = []
    arguments: dict[int, list[str]] = {}
    step = subject.open()
    started = process_time()
    for at, (text, ids) in enumerate((*steps, ("", []))):
        for text_, number, piece in subject.read(step(text, ids, at == len(steps))):
            if text_:
                content.append(text_)
            if number >= 0:
                arguments.setdefault(number, []).append(piece)
        if at % 64 == 0 and process_time() - started > limit:
            raise TooSlow
    spent = process_time() - started
    joined = "".join(content)
    workload.check(joined if workload.content else None, ["".join(arguments[key]) for key in sorted(arguments)])
    return spent


def _request(kind: Any, workload: Workload) -> Any:
    body = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "tools": [workload.tool]}
    return kind.model_validate(body)


class Vllm:
    """vLLM's Parser with the tool parser of that name: ``parse_delta`` for each engine step."""

    def __init__(self, name: str, tokenizer: Any, workload: Workload) -> None:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser.parser_manager import ParserManager

        self._request = _request(ChatCompletionRequest, workload)
        self._tokenizer = tokenizer
        self._parser = ParserManager.get_parser(tool_parser_name=name, enable_auto_tools=True, model_name="any")

    def open(self) -> Call:
        request = self._request
        parse = self._parser(self._tokenizer, request.tools).parse_delta

        def step(text: str, ids: list[int], last: bool) -> Any:
            return parse(text, ids, request, prompt_token_ids=[1], finished=last)

        return step

    def read(self, answer: Any) -> Iterator[Found]:
        if answer is None:
            return
        yield answer.content or "", -1, ""
        for call in answer.tool_calls or ():
            if call.function is not None:
                yield "", call.index, call.function.arguments or ""


class Lmdeploy:
    """LMDeploy's response parser with the tool parser of that name: ``stream_chunk`` for each engine step."""

    def __init__(self, name: str, tokenizer: Any, workload: Workload) -> None:
        from lmdeploy.serve.openai.protocol import ChatCompletionRequest
        from lmdeploy.serve.parsers import ResponseParserManager

        class Parser(ResponseParserManager.get("default")):  # type: ignore[misc]
            """A class of its own: the choice of parsers is kept on it."""

        Parser.set_parsers(tool_parser_name=name, tokenizer=tokenizer)
        self._parser = Parser
        self._request = _request(ChatCompletionRequest, workload)

    def open(self) -> Call:
        parse = self._parser(self._request).stream_chunk
        return lambda text, ids, last: parse(text, ids, final=last)

    def read(self, answer: Any) -> Iterator[Found]:
        for message, _ in answer:
            yield message.content or "", -1, ""
            for call in message.tool_calls or ():
                yield "", call.index, call.function.arguments or ""


class Sglang:
    """SGLang's FunctionCallParser: ``parse_stream_chunk`` for each step, of text only."""

    def __init__(self, name: str, workload: Workload) -> None:
        from llm_router_utils.sglang.srt.entrypoints.openai.protocol import Tool
        from llm_router_utils.sglang.srt.function_call.function_call_parser import FunctionCallParser

        self._name, self._parser = name, FunctionCallParser
        self._tools = [Tool.model_validate(workload.tool)]

    def open(self) -> Call:
        parse = self._parser(self._tools, self._name).parse_stream_chunk
        return lambda text, ids, last: parse(text) if text else ("", [])

    def read(self, answer: Any) -> Iterator[Found]:
        text, calls = answer
        yield text, -1, ""
        for call in calls:
            yield "", call.tool_index, call.parameters or ""


class ReplayedVllm:
    """vLLM without a parser: what the core said of each step is made into vLLM's messages, and no more.

    So this is the engine's own share of the cost, which no parser can avoid.
    """

    read = Vllm.read

    def __init__(self, tokenizer: Any, workload: Workload, deltas: Sequence[list[Any]]) -> None:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser.abstract_parser import DelegatingParser
        from vllm.tool_parsers.abstract_tool_parser import ToolParser

        from toolglot.vllm_plugin.compat import protocol

        engine = protocol()

        class Replay(ToolParser):  # type: ignore[misc]
            engine_based_streaming = True
            supports_required_and_named = False

            def __init__(self, *arguments: Any, **named: Any) -> None:
                super().__init__(*arguments, **named)
                self._waiting = iter(deltas)

            def extract_tool_calls_streaming(self, *arguments: Any, **named: Any) -> Any:
                return _vllm_message(engine, next(self._waiting))

        self._parser = type("Parser", (DelegatingParser,), {"tool_parser_cls": Replay})
        self._request = _request(ChatCompletionRequest, workload)
        self._tokenizer = tokenizer

    open = Vllm.open


def _vllm_message(engine: Any, deltas: Sequence[Any]) -> Any:
    """One message for all deltas of a step, by vLLM's constructors; a call has one entry in it."""
    text = ""
    calls: list[Any] = []
    for delta in deltas:
        if delta.kind != "tool_call":
            text += delta.text
        elif delta.name is not None:
            function = engine.DeltaFunctionCall(name=delta.name, arguments=delta.arguments or "")
            calls.append(engine.DeltaToolCall(index=delta.index, id=delta.id, type="function", function=function))
        elif delta.arguments and calls and calls[-1].index == delta.index:
            calls[-1].function.arguments += delta.arguments
        elif delta.arguments:
            function = engine.DeltaFunctionCall(arguments=delta.arguments)
            calls.append(engine.DeltaToolCall(index=delta.index, function=function))
    if not calls:
        return engine.DeltaMessage(content=text) if text else None
    return engine.DeltaMessage(content=text, tool_calls=calls) if text else engine.DeltaMessage(tool_calls=calls)


class ReplayedLmdeploy:
    """LMDeploy without a parser: the same with LMDeploy's messages, one for each delta.

    LMDeploy's own response parser, with no parser chosen, is what makes the request ready, as it does for every one.
    """

    read = Lmdeploy.read
    open = Lmdeploy.open

    def __init__(self, workload: Workload, deltas: Sequence[list[Any]]) -> None:
        from lmdeploy.serve.openai.protocol import (
            ChatCompletionRequest,
            DeltaFunctionCall,
            DeltaMessage,
            DeltaToolCall,
        )
        from lmdeploy.serve.parsers.response_parser import BaseResponseParser

        def message(delta: Any) -> Any:
            if delta.kind == "content":
                return DeltaMessage(role="assistant", content=delta.text), False
            function = DeltaFunctionCall(name=delta.name, arguments=delta.arguments)
            if delta.name is None:
                call = DeltaToolCall(id=None, type=None, index=delta.index, function=function)
            else:
                call = DeltaToolCall(id=delta.id, index=delta.index, function=function)
            return DeltaMessage(role="assistant", tool_calls=[call]), True

        class Replay(BaseResponseParser):  # type: ignore[misc]
            def __init__(self, request: Any) -> None:
                super().__init__(request)
                self._waiting = iter(deltas)

            def stream_chunk(self, delta_text: str, delta_token_ids: list[int], **kwargs: Any) -> Any:
                said = next(self._waiting)
                return [message(delta) for delta in said if delta.kind != "tool_call" or delta.name or delta.arguments]

        self._parser = Replay
        self._request = _request(ChatCompletionRequest, workload)
