"""A stand-in for LMDeploy's engine, which has no CPU device: a tiny model of `transformers`, one token at a time.

Only `AsyncEngine._build_pytorch` is replaced. LMDeploy's command line, app, routes, ChatRunner, sessions, tokenizer and
grammar (GuidedDecodingManager) are its own.

    python scripts/lmdeploy_standin.py serve api_server MODEL --backend pytorch ...   # LMDeploy's command line

A prompt that holds the result of ``say(text)`` makes the model write that text.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import torch
from lmdeploy.messages import EngineOutput, RequestMetrics, ResponseType, ScheduleMetrics
from lmdeploy.pytorch.engine.guided_process import GuidedDecodingManager
from lmdeploy.serve.core.async_engine import AsyncEngine
from lmdeploy_server import said, say
from transformers import AutoModelForCausalLM, AutoTokenizer

__all__ = ["install", "say"]


class Engine:
    """What AsyncEngine asks of an engine."""

    is_dummy = False

    def __init__(self, model_path: str, engine_config: Any) -> None:
        torch.set_num_threads(1)
        self.engine_config = engine_config
        self.tokenizer = AutoTokenizer.from_pretrained(model_path)
        self.model = AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.float32).eval()
        self.guided = GuidedDecodingManager(self.tokenizer, self.model.config.vocab_size)
        self.ticks = 0
        self.active = 0

    def create_instance(self) -> Instance:
        """A handle for one request at a time."""
        return Instance(self)

    def start_loop(self) -> bool:
        """Nothing runs in the background."""
        return True

    def close(self) -> None:
        """Nothing is open."""

    def end_session(self, session_id: int) -> bool:
        """Nothing is kept between requests."""
        return True

    def get_schedule_metrics(self) -> Any:
        """For the health monitor."""
        return ScheduleMetrics(active_seqs=self.active, scheduler_tick=self.ticks)

    async def get_health_status(self) -> dict[str, Any]:
        """For the health monitor."""
        return {"alive": True, "message": "", "schedule_metrics": self.get_schedule_metrics()}

    def script(self, prompt: list[int]) -> list[int] | None:
        """The tokens that the prompt demands."""
        text = said(self.tokenizer.decode(prompt))
        if text is None:
            return None
        return [*self.tokenizer.encode(text, add_special_tokens=False), self.tokenizer.eos_token_id]


class Instance:
    """One request at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cancelled = False

    async def async_cancel(self, session_id: int) -> None:
        """Stop the request in progress."""
        self._cancelled = True

    async def async_stream_infer(
        self, session_id: int, input_ids: list[int], gen_config: Any = None, **_: Any
    ) -> AsyncIterator[Any]:
        """The tokens of a response, one output each."""
        engine = self._engine
        self._cancelled = False
        engine.active += 1
        stops = set(gen_config.stop_token_ids or ())
        script = engine.script(input_ids)
        try:
            tokens = iter(script) if script is not None else self._tokens(session_id, input_ids, gen_config)
            for count, token in enumerate(tokens, 1):
                await asyncio.sleep(0)
                engine.ticks += 1
                done = token in stops or count >= gen_config.max_new_tokens
                status = ResponseType.FINISH if done else ResponseType.SUCCESS
                if self._cancelled:
                    status = ResponseType.CANCEL
                yield EngineOutput(status, [token], req_metrics=RequestMetrics(token_timestamp=time.time()))
                if status is not ResponseType.SUCCESS:
                    return
        finally:
            engine.active -= 1
            engine.guided.remove_processor(session_id)

    def _next(self, ids: list[int], cache: Any) -> tuple[Any, Any]:
        with torch.inference_mode():
            out = self._engine.model(torch.tensor([ids]), past_key_values=cache, use_cache=True)
        return out.logits[0, -1:].float(), out.past_key_values

    def _tokens(self, session_id: int, prompt: list[int], gen_config: Any) -> Any:
        guided = self._engine.guided
        format_ = gen_config.response_format
        processor = guided.get_processor(session_id, 0, format_) if format_ else None
        bitmap = guided.allocate_batched_bitmap(1)
        dice = torch.Generator().manual_seed((gen_config.random_seed or 0) % (1 << 63))
        ids, cache = prompt, None
        while True:
            logits, cache = self._next(ids, cache)
            if processor is not None and not guided.is_terminated(processor):
                guided.fill_bitmap(processor, bitmap, 0)
                guided.apply_batched_bitmap(logits, bitmap)
            token = int(torch.multinomial(torch.softmax(logits[0], -1), 1, generator=dice))
            if processor is not None and not guided.is_terminated(processor):
                guided.accept_token(processor, token)
            yield token
            ids = [token]


def _build(self: Any, model_path: str, backend_config: Any = None, **_: Any) -> Engine:
    return Engine(model_path, backend_config)


def install() -> None:
    """Put the stand-in where LMDeploy builds its engine."""
    AsyncEngine._build_pytorch = _build


# At import, so that the children of `--dp 2` have it too.
install()

if __name__ == "__main__":
    from lmdeploy.cli import run

    sys.argv[0] = "lmdeploy"
    run()
