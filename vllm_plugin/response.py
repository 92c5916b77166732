"""One response on its way from vLLM's text to vLLM's messages: the core, what surrounds it, and its safety net.

Parsing is driven by text. A defect of ours must not cost a client its response: it is logged once, with dialect
and request, and the rest of the text goes out as content.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

from toolglot.core import Message, ResponseParser, assemble
from toolglot.core.deltas import ContentDelta, Delta
from toolglot.core.serving.metrics import Metrics
from toolglot.core.serving.prompt import Thinking
from toolglot.core.serving.record import open_parser
from toolglot.core.serving.settings import current
from toolglot.core.serving.tokens import StrayFilter, stray_tokens, without_stray
from toolglot.core.spec import Dialect
from toolglot.vllm_plugin.messages import Outbox
from toolglot.vllm_plugin.request import choice_of, keeps_special_tokens, previous_calls, request_id, tools_of

__all__ = ["Response", "open_core", "parse_whole", "strays"]

logger = logging.getLogger("vllm.toolglot")
metrics = Metrics("vllm", logger)
# The core's own log lines would come once a response, and bypass vLLM's logging; see Metrics.report.
logging.getLogger("toolglot").addHandler(logging.NullHandler())


def id_maker(request: Any, previous: int) -> Callable[[str, int], str]:
    """Ids in vLLM's form. They follow from the request, since vLLM may replay a stream and must get the same."""
    identity = request_id(request)

    def make_id(name: str, index: int) -> str:
        if not identity:
            return f"chatcmpl-tool-{os.urandom(16).hex()}"
        told = f"toolglot/{identity}/{previous + index}/{name}".encode("utf-8", "surrogatepass")
        return f"chatcmpl-tool-{hashlib.blake2b(told, digest_size=16).hexdigest()}"

    return make_id


def open_core(
    dialect: Dialect, request: Any, thinking: Thinking | None, *, constrained: bool = False
) -> ResponseParser:
    """The core for one response to this request; without ``thinking`` reasoning is not its affair.

    ``constrained``: vLLM is known to enforce our own tag on this request.
    """
    previous = previous_calls(request)
    settings = current()
    return open_parser(
        dialect,
        engine="vllm",
        record=settings.record,
        report=logger.error,
        tools=tools_of(request.tools),
        tool_choice=choice_of(request),
        parallel_tool_calls=getattr(request, "parallel_tool_calls", None) is not False,
        reasoning=thinking is not None,
        starts_in_reasoning=None if thinking is None else thinking is Thinking.OPEN,
        make_id=id_maker(request, previous),
        previous_calls=previous,
        constrained=constrained,
        **settings.options,
    )


def strays(dialect: Dialect, request: Any, tokenizer: Any) -> dict[int, str]:
    """The special tokens to be taken out of the text: none where vLLM does it, or the client wants them."""
    if not keeps_special_tokens(request):
        return {}
    calls = bool(tools_of(request.tools)) and choice_of(request) != "none"
    return stray_tokens(tokenizer, dialect, calls)


def failed(dialect: Dialect, request: Any, error: Exception) -> None:
    """Log an exception: a defect of ours."""
    metrics.defect(dialect.name, error, f", request {request_id(request) or 'unknown'}")


def parse_whole(dialect: Dialect, request: Any, tokenizer: Any, text: str, thinking: Thinking | None) -> Message:
    """A complete response: the stream with one chunk."""
    try:
        text, removed = without_stray(text, strays(dialect, request, tokenizer))
        core = open_core(dialect, request, thinking)
        message = assemble([*core.feed(text), *core.finish()])
        metrics.report(dialect.name, core.anomalies, removed)
        return message
    except Exception as error:
        failed(dialect, request, error)
        return Message(content=text or None, reasoning=None, tool_calls=[])


class Response:
    """A response that comes in steps."""

    def __init__(
        self, dialect: Dialect, request: Any, tokenizer: Any, thinking: Thinking | None, *, constrained: bool = False
    ) -> None:
        self._dialect = dialect
        self._request = request
        self._outbox = Outbox()
        self._core: ResponseParser | None = None
        self._filter: StrayFilter | None = None
        try:
            stray = strays(dialect, request, tokenizer)
            self._filter = StrayFilter(stray) if stray else None
            self._core = open_core(dialect, request, thinking, constrained=constrained)
        except Exception as error:
            failed(dialect, request, error)

    def feed(self, text: str, ids: Sequence[int]) -> Any | None:
        """The message for one engine step."""
        if self._filter is not None:
            text = self._filter.feed(text, ids)
        return self._outbox.step(self._parse(text))

    def finish(self) -> Any | None:
        """All that was held back, for the last message."""
        removed = 0
        if self._filter is not None:
            self._outbox.put(self._parse(self._filter.finish()))
            removed = self._filter.removed
        core = self._core
        if core is not None:
            try:
                self._outbox.put(core.finish())
                metrics.report(self._dialect.name, core.anomalies, removed)
            except Exception as error:
                self._outbox.put(self._give_up(core, "", error))
        return self._outbox.rest()

    def _parse(self, text: str) -> Sequence[Delta]:
        core = self._core
        if core is not None:
            try:
                return core.feed(text)
            except Exception as error:
                return self._give_up(core, text, error)
        return [ContentDelta(text)] if text else []

    def _give_up(self, core: ResponseParser, text: str, error: Exception) -> Sequence[Delta]:
        """After a defect: what the core still holds, as content; the rest of the response is text."""
        failed(self._dialect, self._request, error)
        self._core = None
        return core.abandon(text)
