"""What serves requests in the engines, with tokens that are ready at once in the place of a model.

vLLM's OpenAIServingChat is built as its server builds it, LMDeploy's ChatRunner is prepared as its route prepares it;
only the source of the tokens is replaced. So nothing but the server's own work on a token is timed.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .engines import Step
from .workloads import Workload

__all__ = ["PASSING", "LmdeployServing", "VllmServing", "register_passing"]

PASSING = "passing"  # the name of a tool parser that passes the text on
Answer = tuple[str, dict[int, list[str]]]  # content, arguments of each call


def _body(workload: Workload, parser: str | None) -> dict[str, Any]:
    """A request; without a parser vLLM takes none with tools."""
    tools = {} if parser is None else {"tools": [workload.tool]}
    return {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "stream": True, **tools}


def register_passing() -> None:
    """A tool parser of vLLM that passes the text on: what vLLM does for any parser, and for none without one."""
    from vllm.tool_parsers import ToolParserManager
    from vllm.tool_parsers.abstract_tool_parser import ToolParser

    from toolglot.vllm_plugin.compat import protocol

    message = protocol().DeltaMessage

    class Passing(ToolParser):  # type: ignore[misc]
        engine_based_streaming = True
        supports_required_and_named = False

        def extract_tool_calls_streaming(self, *arguments: Any, **named: Any) -> Any:
            return message(content=arguments[2] if arguments else named["delta_text"])

    ToolParserManager.register_module(PASSING, force=True, module=Passing)


class VllmServing:
    """vLLM's OpenAIServingChat for one tool parser, or for none: a request is answered with lines of a stream."""

    def __init__(self, model: Path, tool_parser: str | None) -> None:
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
        self._model = model
        self._tool_parser = tool_parser
        self._steps: Sequence[Step] = ()
        self._serving: Any = None

    def _arguments(self) -> Any:
        from vllm.entrypoints.launchers.cli_args import make_arg_parser
        from vllm.utils.argparse_utils import FlexibleArgumentParser

        chosen = ("--enable-auto-tool-choice", "--tool-call-parser", self._tool_parser) if self._tool_parser else ()
        return make_arg_parser(FlexibleArgumentParser()).parse_args([
            *("--model", str(self._model), "--served-model-name", "any"),
            *("--max-model-len", "4096", "--dtype", "float32", "--enforce-eager"),
            *chosen,
        ])  # fmt: skip

    async def start(self) -> None:
        """Build what serves: everything but the engine."""
        from starlette.datastructures import State
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.entrypoints.launchers.api_server.app_state import init_app_state
        from vllm.renderers import renderer_from_config
        from vllm.v1.engine.input_processor import InputProcessor

        arguments = self._arguments()
        config = AsyncEngineArgs.from_cli_args(arguments).create_engine_config()
        renderer = renderer_from_config(config)
        client = SimpleNamespace(
            vllm_config=config,
            model_config=config.model_config,
            renderer=renderer,
            input_processor=InputProcessor(config, renderer),
            errored=False,
            check_admission=lambda n: None,
            generate=self._generate,
        )
        state = State()
        await init_app_state(client, state, arguments, ("generate",))
        self._serving = state.openai_serving_chat

    async def _generate(self, prompt: Any, params: Any, request_id: str, **_: Any) -> AsyncIterator[Any]:
        """The tokens, one output each, as vLLM's engine client yields them."""
        import asyncio

        from vllm.outputs import CompletionOutput, RequestOutput

        last = len(self._steps)
        for at, (text, ids) in enumerate((*self._steps, ("", [])), 0):
            await asyncio.sleep(0)  # the others' turn
            output = CompletionOutput(0, text, ids, None, None, finish_reason="stop" if at == last else None)
            yield RequestOutput(request_id, None, [1], None, [output], at == last)

    async def answer(self, workload: Workload, steps: Sequence[Step], read: bool = False) -> Answer:
        """One request; its lines are read only where they are to be checked."""
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

        self._steps = steps
        request = ChatCompletionRequest.model_validate(_body(workload, self._tool_parser))
        found = await self._serving.create_chat_completion(request, None)
        if not hasattr(found, "__aiter__"):
            raise RuntimeError(f"vLLM refuses the request: {found}")
        content: list[str] = []
        calls: dict[int, list[str]] = {}
        async for line in found:
            if read and line.startswith("data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    content.append(choice["delta"].get("content") or "")
                    for call in choice["delta"].get("tool_calls") or ():
                        calls.setdefault(call["index"], []).append(call["function"].get("arguments") or "")
        return "".join(content), calls


class LmdeploySource:
    """What ChatRunner asks of an engine."""

    model_name = "any"

    def __init__(self) -> None:
        self.steps: Sequence[Step] = ()

    async def preprocess(self, messages: Any, session: Any, **_: Any) -> Any:
        """Nothing: the prompt is not used."""

    async def generate(self, request: Any, stream_response: bool = True) -> AsyncIterator[Any]:
        """The tokens, one output each, as LMDeploy's engine yields them."""
        import asyncio

        from lmdeploy.serve.core.async_engine import GenOut

        last = len(self.steps)
        for at, (text, ids) in enumerate((*self.steps, ("", []))):
            await asyncio.sleep(0)
            yield GenOut(text, 1, at, "stop" if at == last else None, ids)


class LmdeployServing:
    """LMDeploy's ChatRunner for one tool parser, or for none: a request is answered with the runner's chunks."""

    def __init__(self, tokenizer: Any, tool_parser: str | None) -> None:
        from lmdeploy.serve.parsers import ResponseParserManager

        class Parser(ResponseParserManager.get("default")):  # type: ignore[misc]
            """A class of its own: the choice of parsers is kept on it."""

        Parser.set_parsers(tool_parser_name=tool_parser, tokenizer=tokenizer)
        self._tool_parser = tool_parser
        self._source = LmdeploySource()
        self._context = SimpleNamespace(
            response_parser_cls=Parser,
            async_engine=self._source,
            default_gen_config={},
            create_session=lambda number: SimpleNamespace(session_id=number),
            session_manager=SimpleNamespace(remove=lambda session: None),
        )

    async def start(self) -> None:
        """Everything is there."""

    async def answer(self, workload: Workload, steps: Sequence[Step], read: bool = False) -> Answer:
        """One request; its chunks are read only where they are to be checked."""
        from lmdeploy.serve.core.chat_runner import ChatRunner
        from lmdeploy.serve.openai.protocol import ChatCompletionRequest

        self._source.steps = steps
        request = ChatCompletionRequest.model_validate(_body(workload, self._tool_parser))
        runner = await ChatRunner.prepare(self._context, request)
        content: list[str] = []
        calls: dict[int, list[str]] = {}
        async for chunk in runner.stream():
            if read:
                content.append(chunk.delta_message.content or "")
                for call in chunk.delta_message.tool_calls or ():
                    calls.setdefault(call.index, []).append(call.function.arguments or "")
        return "".join(content), calls
