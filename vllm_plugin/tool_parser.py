"""vLLM's ToolParser over the core: one class for each dialect, made from the registry.

vLLM builds one object to adjust the request, others to parse: the non-streaming one may parse several
choices in turn, the streaming one belongs to one choice. Parsing is driven by text. Token ids run ahead of the
text (incomplete characters, stop strings); they only say which special tokens to take out.

Beside a reasoning parser of the same dialect the whole response comes here (handoff.py). Else thinking is the
reasoning parser's affair: what reaches this class is parsed without a reasoning channel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from toolglot.core import Message
from toolglot.core.serving.prompt import Thinking
from toolglot.core.serving.tokens import fitted, is_special
from toolglot.core.tools import chosen_functions, is_forced
from toolglot.vllm_plugin.compat import begin_at_once, begins_at_once, can_begin_at_once, protocol
from toolglot.vllm_plugin.constrain import tag_for
from toolglot.vllm_plugin.handoff import take
from toolglot.vllm_plugin.names import HARMONY, made_on_demand
from toolglot.vllm_plugin.request import (
    AllowedTools,
    choice_of,
    is_allowed_tools,
    keep_special_tokens,
    tools_of,
    wants_format,
)
from toolglot.vllm_plugin.response import Response, parse_whole
from toolglot.vllm_plugin.start import announce

__all__ = ["ToolglotToolParser"]


class ToolglotToolParser(ToolParser):
    """What the tool parsers of all dialects have in common; `dialect` is set by their classes."""

    dialect: ClassVar[str]
    engine_based_streaming = True
    supports_required_and_named = False

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None, **_: Any) -> None:
        super().__init__(tokenizer, tools)
        self._spec = fitted(self.dialect, tokenizer)
        announce(self.dialect)
        self._handoff = take(self.dialect, tokenizer)
        self._stream: Response | None = None

    @property
    def _thinking(self) -> Thinking | None:
        """How reasoning stands at the start, None where it is not parsed here."""
        return None if self._handoff is None else self._handoff.prompt.thinking

    # Before generation

    def adjust_request(self, request: Any) -> Any:
        """Prepare the request, in place: vLLM drops what is returned."""
        tools, choice = tools_of(request.tools), choice_of(request)
        if not tools or choice == "none":
            return request
        chosen_functions(tools, choice)  # what cannot be met is refused before the model starts
        if is_allowed_tools(request.tool_choice):
            request.tool_choice = AllowedTools.of(request.tool_choice)
        if self._spec.keep_special or is_special(self.model_tokenizer, self._spec, True):
            keep_special_tokens(request)
        if is_forced(choice) or (isinstance(choice, Mapping) and not wants_format(request)):
            self._constrain(request)
        return request

    def _constrain(self, request: Any) -> None:
        """Set the grammar of a forced call or of allowed tools, if vLLM has not, and where it can, with reasoning.

        vLLM would begin a grammar behind the end of reasoning: not at all when the model answers without any.
        """
        thinking = self._thinking
        covers = thinking in (Thinking.OPEN, Thinking.FREE) and can_begin_at_once(request)
        outputs = getattr(request, "structured_outputs", None)
        if thinking is None and getattr(outputs, "structural_tag", None) is not None:
            return
        tag = tag_for(self._spec, request, thinking=thinking if covers else None)
        if tag is None:
            return
        if covers:
            begin_at_once(request)
        request.structured_outputs = StructuredOutputsParams(structural_tag=tag.text)
        if hasattr(request, "response_format"):
            request.response_format = None
        else:
            request.text = None

    def _is_enforced(self, request: Any) -> bool:
        """Whether vLLM holds the model to our own tag from the first token on.

        So much is known only beside our reasoning parser: a tag begins behind the end of reasoning, and whether that
        was seen is not told to a tool parser that stands alone.
        """
        thinking = self._thinking
        if thinking is None:
            return False
        text = getattr(getattr(request, "structured_outputs", None), "structural_tag", None)
        covers = thinking in (Thinking.OPEN, Thinking.FREE)
        if text is None or (covers and not begins_at_once(request)):
            return False
        try:
            tag = tag_for(self.dialect, request, thinking=thinking if covers else None)
        except ValueError:
            return False
        return tag is not None and tag.text == text

    def get_structural_tag(
        self, request: Any, *, reasoning: bool = False, strict_level: Any = None, **_: Any
    ) -> Any | None:
        """The grammar of this dialect's calls as an xgrammar.StructuralTag (a fresh one: vLLM changes it)."""
        tag = tag_for(self._spec, request, int(strict_level or 0))
        if tag is None:
            return None
        from xgrammar import StructuralTag

        return StructuralTag.model_validate(tag.tag)

    # A complete response

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Parse a whole response: the stream with one chunk. One object may serve several choices."""
        message = self._parsed()
        if message is None:
            message = parse_whole(self._spec, request, self.model_tokenizer, model_output, self._thinking)
        engine = protocol()
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

    def _parsed(self) -> Message | None:
        """What the reasoning parser has had parsed already."""
        if self._handoff is None:
            return None
        message, self._handoff.message = self._handoff.message, None
        return message

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
        stream = self._stream
        if stream is None:
            enforced = self._is_enforced(request)
            self._stream = stream = Response(
                self._spec, request, self.model_tokenizer, self._thinking, constrained=enforced
            )
        return stream.feed(delta_text, delta_token_ids)

    def finish_streaming(self) -> Any | None:
        """The end of the stream: what was held back, merged by vLLM into the last message."""
        stream, self._stream = self._stream, None
        return None if stream is None else stream.finish()


def _make(name: str, dialect: str) -> type[ToolglotToolParser]:
    namespace = {
        "__module__": __name__,
        "__doc__": f"Tool calls of the dialect `{dialect}`.",
        "dialect": dialect,
        # Any name will do: it says that get_structural_tag is to be asked.
        "structural_tag_model": f"toolglot_{dialect}",
    }
    if dialect == HARMONY:
        from toolglot.vllm_plugin.harmony import tool_class

        return tool_class(name, ToolglotToolParser, namespace)
    return type(name, (ToolglotToolParser,), namespace)


__getattr__ = made_on_demand(globals(), "Tool", _make)
