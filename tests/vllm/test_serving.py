"""Forced calls of every dialect, generated: vLLM's engine on the tiny model, its serving classes, one process.

One engine serves all dialects: for each its server's state is built as the command line would, with another tool
parser. What the random model writes is held by the tag alone, so what comes out must be calls that meet the schema.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import jsonschema
import pytest
from driving import request_for
from engine_cases import PING

from toolglot.core import list_dialects
from toolglot.core.serving.settings import Settings, use
from toolglot.vllm_plugin.response import Response

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 8},
                "days": {"type": "integer", "minimum": 1, "maximum": 7},
            },
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in (WEATHER, PING)}
NAMED = {"type": "function", "function": {"name": "get_weather"}}


class Engine:
    """vLLM's engine and its serving classes on an event loop of their own."""

    def __init__(self, model: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._model = model
        self._serving: dict[str, Any] = {}
        self.run(self._start())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(300)

    def _arguments(self, dialect: str) -> Any:
        from vllm.entrypoints.launchers.cli_args import make_arg_parser
        from vllm.utils.argparse_utils import FlexibleArgumentParser

        return make_arg_parser(FlexibleArgumentParser()).parse_args([
            *("--model", str(self._model), "--served-model-name", "any"),
            *("--max-model-len", "2048", "--dtype", "float32", "--enforce-eager"),
            *("--enable-auto-tool-choice", "--tool-call-parser", f"toolglot_{dialect}"),
        ])  # fmt: skip

    async def _start(self) -> None:
        from vllm.entrypoints.launchers.api_server.entry import build_async_engine_client

        self._context = build_async_engine_client(self._arguments("hermes"))
        self._client = await self._context.__aenter__()

    async def serving(self, dialect: str, *, again: bool = False) -> Any:
        """vLLM's OpenAIServingChat for `--tool-call-parser toolglot_<dialect>`; ``again``: as at another start."""
        from starlette.datastructures import State
        from vllm.entrypoints.launchers.api_server.app_state import init_app_state

        if again or dialect not in self._serving:
            state = State()
            await init_app_state(self._client, state, self._arguments(dialect), ("generate",))
            self._serving[dialect] = state.openai_serving_chat
        return self._serving[dialect]

    def close(self) -> None:
        self.run(self._context.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)


@pytest.fixture(scope="module")
def engine(model: Path) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        patch.setenv("VLLM_NO_USAGE_STATS", "1")
        patch.setenv("HF_HUB_OFFLINE", "1")
        engine = Engine(model)
        yield engine
        engine.close()


async def answer(serving: Any, choice: Any, stream: bool, seed: int) -> tuple[str, list[tuple[str, str]], str | None]:
    """Content, calls and finish reason."""
    request = request_for(
        [WEATHER, PING],
        tool_choice=choice,
        stream=stream,
        seed=seed,
        max_tokens=600,
        chat_template_kwargs={"enable_thinking": False},
        parallel_tool_calls=False,
    )
    found = await serving.create_chat_completion(request, None)
    if not stream:
        assert hasattr(found, "choices"), found
        (picked,) = found.choices
        calls = [(call.function.name, call.function.arguments) for call in picked.message.tool_calls or []]
        return picked.message.content or "", calls, picked.finish_reason
    content, finish = "", None
    pieces: list[list[str]] = []
    async for line in found:
        if not line.startswith("data: {"):
            continue
        for part in json.loads(line[6:])["choices"]:
            content += part["delta"].get("content") or ""
            finish = part.get("finish_reason") or finish
            for call in part["delta"].get("tool_calls") or []:
                if call.get("id"):
                    pieces.append([call["function"]["name"], ""])
                pieces[-1][1] += call["function"].get("arguments") or ""
    return content, [(name, arguments) for name, arguments in pieces], finish


@pytest.mark.parametrize("dialect", list_dialects())
def test_forced_calls(engine: Engine, dialect: str) -> None:
    async def ask() -> list[Any]:
        serving = await engine.serving(dialect)
        return await asyncio.gather(
            *(answer(serving, choice, stream, 1) for choice in ("required", NAMED) for stream in (False, True))
        )

    for at, (content, calls, finish) in enumerate(engine.run(ask())):
        assert not content.strip(), content
        ((name, arguments),) = calls
        jsonschema.validate(json.loads(arguments), SCHEMAS[name])
        if at >= 2:
            assert name == "get_weather"
        assert finish in ("tool_calls", "stop")


def test_a_defect_ends_one_response_only(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the plugin's own safety net, where vLLM turns an exception into an error of that response."""
    original = Response.feed
    seen: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def broken(self: Response, text: str, ids: Any) -> Any:
        seen[self] = seen.get(self, "") + text
        if "BOOM" in seen[self]:
            raise ValueError("a defect")
        return original(self, text, ids)

    monkeypatch.setattr(Response, "feed", broken)

    async def say(serving: Any, text: str) -> str:
        request = request_for(
            [PING],
            stream=True,
            max_tokens=100,
            structured_outputs={"choice": [text]},
            chat_template_kwargs={"enable_thinking": False},
        )
        found = ""
        async for line in await serving.create_chat_completion(request, None):
            if line.startswith("data: {"):
                sent = json.loads(line[6:])
                found += "".join(part["delta"].get("content") or "" for part in sent.get("choices") or [])
                found += "an error" if "error" in sent else ""
        return found

    async def ask() -> list[str]:
        serving = await engine.serving("hermes")
        texts = [f"Stream {number}{' BOOM' if number % 3 == 0 else ''} is here." for number in range(12)]
        return [*await asyncio.gather(*(say(serving, text) for text in texts)), await say(serving, "Afterwards.")]

    *found, afterwards = engine.run(ask())
    for number, text in enumerate(found):
        assert text.endswith("an error") if number % 3 == 0 else text == f"Stream {number} is here."
    assert afterwards == "Afterwards."


def test_settings_of_a_program(engine: Engine) -> None:
    """A program that starts the engine itself gives them as an object, before it does."""
    text = '<tool_call>\n{"name": "nosuch", "arguments": {"city": "A city"}}\n</tool_call>'

    async def asked(settings: Settings | None) -> tuple[Any, list[str]]:
        """The message without streaming, and the pieces of arguments in a stream."""
        use(settings)
        serving = await engine.serving("hermes", again=True)
        fields: dict[str, Any] = {
            "max_tokens": 200,
            "structured_outputs": {"choice": [text]},
            "chat_template_kwargs": {"enable_thinking": False},
        }
        found = await serving.create_chat_completion(request_for([PING], **fields), None)
        pieces = []
        async for line in await serving.create_chat_completion(request_for([PING], stream=True, **fields), None):
            for part in json.loads(line[6:])["choices"] if line.startswith("data: {") else ():
                calls = part["delta"].get("tool_calls") or []
                pieces += [call["function"].get("arguments") for call in calls]
        return found.choices[0].message, [piece for piece in pieces if piece]

    try:
        dropped, none = engine.run(asked(None))
        assert dropped.content == text and not dropped.tool_calls and none == []
        passed, pieces = engine.run(asked(Settings(undeclared_tools="pass")))
        assert [call.function.name for call in passed.tool_calls] == ["nosuch"] and len(pieces) > 1
        _, whole = engine.run(asked(Settings(undeclared_tools="pass", arguments="complete")))
        assert whole == ["".join(pieces)] == ['{"city": "A city"}']
    finally:
        use(None)
