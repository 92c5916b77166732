"""A real server under load: very many streams at once, some of them left by their clients. Part of `make soak`.

    python scripts/load.py --engine vllm [--streams 600] [--live 200] [--left 0.3]

Every response is a text with a call that carries the stream's own number. Those that end must be right to the
character; the others are left in the middle, as by a browser tab that is closed. Then the server must be alive, with
nothing running, and its log must show no fault. LMDeploy runs on the stand-in of its engine (lmdeploy_standin.py).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import httpx
import openai
from engine_server import NAME, EngineServer
from lmdeploy_server import LmdeployServer, say
from tiny_model import tiny_model
from vllm_server import VllmServer

DIALECT = "kimi_k2"  # its markers are special tokens, so that the plugins have most to do
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    },
}
FAULT = re.compile(r"Traceback|toolglot: parsing failed")


@dataclass(frozen=True)
class Stream:
    """What the model writes in one response, and what a client has in the end."""

    number: int

    @property
    def content(self) -> str:
        """The text in front of the call."""
        return f"This is stream {self.number}."

    @property
    def arguments(self) -> str:
        """The call's."""
        return json.dumps({"city": f"City {self.number} <|x|>", "days": self.number})

    @property
    def text(self) -> str:
        """The raw response."""
        return (
            f"{self.content}<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
            f"<|tool_call_argument_begin|>{self.arguments}<|tool_call_end|><|tool_calls_section_end|>"
        )


def request(engine: str, text: str) -> dict[str, Any]:
    """A request that makes the model write this text: by a constraint, or as the stand-in is told."""
    common: dict[str, Any] = {"model": NAME, "tools": [TOOL], "max_tokens": 400, "stream": True}
    if engine == "lmdeploy":
        return {**common, "messages": [{"role": "user", "content": say(text)}]}
    body = {"chat_template_kwargs": {"enable_thinking": False}, "structured_outputs": {"choice": [text]}}
    return {**common, "messages": [{"role": "user", "content": "Hello"}], "extra_body": body}


async def ask(client: openai.AsyncOpenAI, engine: str, stream: Stream, leave: int | None) -> str:
    """One response, left after so many chunks: "finished", "left", or what was wrong."""
    content, finish = "", None
    calls: list[list[str]] = []
    answer = await client.chat.completions.create(**request(engine, stream.text))
    count = 0
    async for chunk in answer:
        count += 1
        if leave is not None and count > leave:
            await answer.close()
            return "left"
        for choice in chunk.choices:
            content += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                if call.id:
                    calls.append([call.function.name, ""])
                calls[-1][1] += call.function.arguments or ""
    wanted = (stream.content, [["get_weather", stream.arguments]], "tool_calls")
    return "finished" if (content, calls, finish) == wanted else f"wrong: {(content, calls, finish)}"


async def load(url: str, engine: str, streams: int, live: int, left: float) -> Counter[str]:
    """Run all streams, so many at once."""
    # A connection for each stream: one that is kept may be closed by the server at the moment of its next use.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    http = openai.DefaultAsyncHttpxClient(limits=limits, timeout=600)
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)
    dice = random.Random(0)
    gate = asyncio.Semaphore(live)
    results: Counter[str] = Counter()

    async def one(number: int, leave: int | None) -> None:
        async with gate:
            try:
                results[await ask(client, engine, Stream(number), leave)] += 1
            except openai.OpenAIError as error:
                results[f"error: {error} {error.__cause__!r}"] += 1

    await asyncio.gather(*(one(n, dice.randint(0, 30) if dice.random() < left else None) for n in range(streams)))
    results[f"last: {await ask(client, engine, Stream(streams), None)}"] += 1
    await client.close()
    return results


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--engine", choices=["vllm", "lmdeploy"], default="vllm")
    parser.add_argument("--streams", type=int, default=600, help="in all (default: 600)")
    parser.add_argument("--live", type=int, default=200, help="at once (default: 200)")
    parser.add_argument("--left", type=float, default=0.3, help="the part that is left by its client (default: 0.3)")
    options = parser.parse_args()
    tool_parser = f"toolglot_{DIALECT}"
    server: EngineServer
    if options.engine == "vllm":
        server = VllmServer(tiny_model(), tool_parser, arguments=["--max-num-seqs", str(options.live)])
    else:
        server = LmdeployServer(tiny_model(), tool_parser)
    with server:
        # What a first round loads and caches is no growth.
        asyncio.run(load(server.url, options.engine, options.live, options.live, options.left))
        before, begun = server.memory(), time.monotonic()
        results = asyncio.run(load(server.url, options.engine, options.streams, options.live, options.left))
        spent, after = time.monotonic() - begun, server.memory()
        faults = FAULT.findall(server.log.read_text(encoding="utf-8", errors="replace"))
    for result, count in results.most_common(20):
        print(f"{count:>6} {result}")
    print(
        f"{options.engine}: {options.streams} streams, {options.live} at once, {spent:.0f} s; faults in the log: "
        f"{len(faults)}; resident memory of the API server {before[0] >> 20} MB before, {after[0] >> 20} MB after; "
        f"of its children {before[1] >> 20} and {after[1] >> 20} MB"
    )
    return int(bool(faults) or set(results) - {"finished", "left", "last: finished"} != set())


if __name__ == "__main__":
    sys.exit(main())
