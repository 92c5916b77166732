"""vLLM's ToolParser over the core: one class for each dialect, made from the registry.

vLLM builds one object to adjust the request, others to parse: the non-streaming one may parse several
choices in turn, the streaming one belongs to one choice. Parsing is driven by text alone. Token ids run
ahead of the text (incomplete characters, stop strings), so they are not used.

Thinking is the reasoning parser's affair here: what reaches this class is parsed without a reasoning
channel.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import uuid4

from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from toolglot.core import ResponseParser, assemble, get_dialect, list_dialects
from toolglot.core.tools import is_forced
from toolglot.vllm_plugin.compat import protocol
from toolglot.vllm_plugin.constrain import tag_for
from toolglot.vllm_plugin.messages import Outbox
from toolglot.vllm_plugin.names import class_name
from toolglot.vllm_plugin.request import choice_of, previous_calls, tools_of

__all__ = ["ToolglotToolParser"]

logger = logging.getLogger("vllm.toolglot")


def make_id(name: str, index: int) -> str:
    """An id in the form that vLLM itself gives to calls."""
    return f"chatcmpl-tool-{uuid4().hex}"


class ToolglotToolParser(ToolParser):
    """What the tool parsers of all dialects have in common; `dialect` is set by their classes."""

    dialect: ClassVar[str]
    engine_based_streaming = True
    supports_required_and_named = False

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None, **_: Any) -> None:
        super().__init__(tokenizer, tools)
        self._stream: ResponseParser | None = None
        self._outbox = Outbox()
        self._broken = False

    # Before generation

    def adjust_request(self, request: Any) -> Any:
        """Prepare the request, in place: vLLM drops what is returned."""
        choice = choice_of(request)
        if not tools_of(request.tools) or choice == "none":
            return request
        self._parser(request)  # a request that cannot be parsed is refused before the model starts
        if get_dialect(self.dialect).keep_special:
            request.skip_special_tokens = False
        outputs = getattr(request, "structured_outputs", None)
        if is_forced(choice) and getattr(outputs, "structural_tag", None) is None:
            tag = self.get_structural_tag(request)
            if tag is not None:
                request.structured_outputs = StructuredOutputsParams(structural_tag=json.dumps(tag.model_dump()))
                if hasattr(request, "response_format"):
                    request.response_format = None
                else:
                    request.text = None
        return request

    def get_structural_tag(
        self, request: Any, *, reasoning: bool = False, strict_level: Any = None, **_: Any
    ) -> Any | None:
        """The grammar of this dialect's calls as an xgrammar.StructuralTag (a fresh one: vLLM changes it)."""
        tag = tag_for(self.dialect, request, int(strict_level or 0))
        if tag is None:
            return None
        from xgrammar import StructuralTag

        return StructuralTag.model_validate(tag)

    # A complete response

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Parse a whole response: the stream with one chunk. One object may serve several choices."""
        engine = protocol()
        try:
            parser = self._parser(request)
            message = assemble([*parser.feed(model_output), *parser.finish()])
        except Exception:
            logger.exception("toolglot: parsing failed, the response is passed on as text")
            return engine.ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)
        calls = [
            engine.ToolCall(
                id=call.id,
                type="function",
                function=engine.FunctionCall(id=call.id, name=call.name, arguments=call.arguments),
            )
            for call in message.tool_calls
        ]
        # Without calls vLLM shows the raw text, unless every parser of the request is engine-based (or, before
        # 0.32, always). Where text was dropped that would show what a stream of the same response does not.
        handled = bool(calls) or message.content != model_output
        return engine.ExtractedToolCallInformation(tools_called=handled, tool_calls=calls, content=message.content)

    # A stream

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any | None:
        """Parse one engine step of a stream."""
        if self._broken:
            return protocol().DeltaMessage(content=delta_text) if delta_text else None
        try:
            if self._stream is None:
                self._stream = self._parser(request)
            self._outbox.put(self._stream.feed(delta_text))
            return self._outbox.message()
        except Exception:
            return self._give_up(delta_text)

    def finish_streaming(self) -> Any | None:
        """The end of the stream: what was held back, merged by vLLM into the last message."""
        if self._stream is None or self._broken:
            return None
        try:
            self._outbox.put(self._stream.finish())
            self._stream = None
            return self._outbox.rest()
        except Exception:
            return self._give_up("")

    def _give_up(self, text: str) -> Any | None:
        """After a defect of ours: the rest of the response is text. The client's stream must not break."""
        logger.exception("toolglot: parsing failed, the rest of the response is passed on as text")
        self._broken = True
        left = self._outbox.rest()
        if left is None:
            return protocol().DeltaMessage(content=text) if text else None
        if text:
            left.content = (left.content or "") + text
        return left

    def _parser(self, request: Any) -> ResponseParser:
        """A parser for one response to this request."""
        return ResponseParser(
            self.dialect,
            tools=tools_of(request.tools),
            tool_choice=choice_of(request),
            parallel_tool_calls=getattr(request, "parallel_tool_calls", None) is not False,
            reasoning=False,
            make_id=make_id,
            previous_calls=previous_calls(request),
        )


def __getattr__(name: str) -> Any:
    """The class of a dialect, made when vLLM asks for it by name."""
    for dialect in list_dialects():
        if name == class_name(dialect):
            made = type(
                name,
                (ToolglotToolParser,),
                {
                    "__module__": __name__,
                    "__doc__": f"Tool calls of the dialect `{dialect}`.",
                    "dialect": dialect,
                    # Any name will do: it says that get_structural_tag is to be asked.
                    "structural_tag_model": f"toolglot_{dialect}",
                },
            )
            globals()[name] = made
            return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
