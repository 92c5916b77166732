"""LMDeploy's ResponseParser, over the core where a toolglot name was chosen, and LMDeploy's own everywhere else.

LMDeploy picks a response parser by the model's architecture, not by a flag: `default`, or `gpt-oss`. `in_place_of`
makes a subclass of LMDeploy's own for each of the two places. `set_parsers`, called once when the server starts,
decides which of the two natures it has; nothing of LMDeploy is changed but the class that stands in its registry.

    --tool-call-parser   --reasoning-parser
    ours                 none                the core; reasoning tags are content (channels of gpt_oss are split anyway)
    ours                 any with its tags   the core, with reasoning
    none                 ours                the core, for reasoning only
    LMDeploy's           ours                LMDeploy's own, with our two tags
    LMDeploy's or none   LMDeploy's or none  LMDeploy's own
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, ClassVar

from lmdeploy.serve.openai.protocol import FunctionCall, ToolCall
from lmdeploy.serve.parsers.response_parser import ResponseParser as EngineParser
from lmdeploy.serve.parsers.response_parser import normalize_chat_request, validate_parser_names

from toolglot import core
from toolglot.core import ConfigurationError
from toolglot.core.serving.auto import AUTO, choose
from toolglot.core.serving.doctor import version_of
from toolglot.core.serving.prompt import Thinking, has_reasoning
from toolglot.core.serving.record import notice, open_parser
from toolglot.core.serving.settings import current, unknown_variables
from toolglot.core.serving.tokens import fitted, is_special, special_tokens, stray_tokens
from toolglot.core.spec import Dialect
from toolglot.lmdeploy_plugin.constrain import tag_for
from toolglot.lmdeploy_plugin.parsers import PREFIX, ToolglotReasoningParser, ToolglotToolParser
from toolglot.lmdeploy_plugin.prompt import thinking_of_request
from toolglot.lmdeploy_plugin.request import (
    choice_of,
    exposed_tools,
    keep_special_tokens,
    previous_calls,
    template_arguments,
)
from toolglot.lmdeploy_plugin.response import Emitted, Response, new_id
from toolglot.lmdeploy_plugin.tokens import ReasoningCounter

__all__ = ["in_place_of"]

logger = logging.getLogger("lmdeploy.toolglot")


@dataclass(frozen=True)
class Chosen:
    """What the server was started with, where that is toolglot's affair."""

    dialect: Dialect
    calls: bool
    reasoning: bool
    tokenizer: Any


def in_place_of(own: type[Any] | None, place: str) -> type[Any]:
    """The class for one place in LMDeploy's registry. ``own`` is what LMDeploy has there; None when it has nothing."""

    class ToolglotResponseParser(_ToolglotResponseParser, own or EngineParser):  # type: ignore[misc]
        """LMDeploy's own parser, or toolglot's."""

    ToolglotResponseParser.place = place
    ToolglotResponseParser.own = own
    return ToolglotResponseParser


class _ToolglotResponseParser:
    """What both places have in common; LMDeploy's own class is its next base."""

    place: ClassVar[str]
    own: ClassVar[type[Any] | None]
    chosen: ClassVar[Chosen | None] = None
    supports_required_tool_choice: ClassVar[bool] = True
    tool_parser_cls: ClassVar[Any]
    reasoning_parser_cls: ClassVar[Any]
    request: Any
    tool_parser: Any
    reasoning_tokens: int | None
    _response: Response | None = None

    # At start-up

    @classmethod
    def set_parsers(
        cls, reasoning_parser_name: str | None = None, tool_parser_name: str | None = None, tokenizer: Any = None
    ) -> None:
        """Choose the parsers by their names, as the server was started with them."""
        reasoning_name, tool_name = validate_parser_names(reasoning_parser_name, tool_parser_name)
        reasoning_name, tool_name = _picked(reasoning_name, tokenizer, True), _picked(tool_name, tokenizer, False)
        if cls.chosen is not None:  # nothing of an earlier choice may stay
            cls.chosen = None
            del cls.tool_parser_cls, cls.reasoning_parser_cls
        tool, reasoning = _registered(tool_name, reasoning_name)
        ours = tool if tool_name is not None else reasoning
        if not _is_ours(ours):
            if cls.own is None:
                from lmdeploy.serve.parsers import ResponseParserManager

                others = [name for name in ResponseParserManager.module_dict if name != cls.place]
                raise ValueError(f"The response parser {cls.place} is not in the parser list: {others}")
            super().set_parsers(reasoning_name, tool_name, tokenizer)  # type: ignore[misc]
            if _is_ours(reasoning) and tokenizer is not None:
                reasoning.validate_as_tags(tokenizer)
            return
        spec = fitted(ours.dialect, tokenizer)
        cls.chosen = Chosen(spec, tool is not None, _reasoning_of(spec, reasoning), tokenizer)
        cls.tool_parser_cls, cls.reasoning_parser_cls = tool, reasoning
        _announce(cls.chosen)

    # Before generation

    def __init__(self, request: Any) -> None:
        chosen = self.chosen
        if chosen is None:
            super().__init__(request)  # type: ignore[call-arg]
            return
        EngineParser.__init__(self, request)
        self.tool_parser = self.tool_parser_cls() if chosen.calls else None
        tools = exposed_tools(request)
        choice = choice_of(request) if tools and chosen.calls else "none"
        if choice_of(request) == "required" and choice == "none":
            raise ConfigurationError('tool_choice="required" needs tools, and a tool-call parser')
        thinking = None
        if chosen.reasoning:
            arguments = template_arguments(request)
            thinking = thinking_of_request(chosen.dialect, chosen.tokenizer, request, arguments)
        previous = previous_calls(request)
        settings = current()

        def open_core() -> core.ResponseParser:
            return open_parser(
                chosen.dialect,
                engine="lmdeploy",
                record=settings.record,
                report=logger.error,
                tools=tools,
                tool_choice=choice,
                parallel_tool_calls=request.parallel_tool_calls is not False,
                reasoning=thinking is not None,
                starts_in_reasoning=None if thinking is None else thinking is Thinking.OPEN,
                make_id=new_id,
                previous_calls=previous,
                **settings.options,
            )

        opened = open_core()  # what cannot be parsed is refused before the model starts
        self._open_core = open_core
        self._inside = thinking is Thinking.OPEN
        tag = tag_for(chosen.dialect, request, tools, thinking) if choice != "none" else None
        self.request = self._adjusted(request, tools, choice != "none", tag)
        self._start(opened)

    def _adjusted(self, request: Any, tools: list[dict[str, Any]], calls: bool, tag: dict[str, Any] | None) -> Any:
        """The request that is rendered and generated."""
        chosen = self.chosen
        assert chosen is not None
        changes: dict[str, Any] = {"tools": tools or None}
        self._stray: dict[int, str] = {}
        if (calls or chosen.reasoning) and is_special(chosen.tokenizer, chosen.dialect, calls):
            asked = request.skip_special_tokens is False and "skip_special_tokens" in request.model_fields_set
            changes.update(keep_special_tokens())
            if not asked:
                self._stray = stray_tokens(chosen.tokenizer, chosen.dialect, calls)
            if request.include_stop_str_in_output:  # then the client wants to see it
                stops = {*chosen.dialect.stops, getattr(chosen.tokenizer, "eos_token", None)}
                self._stray = {number: text for number, text in self._stray.items() if text not in stops}
        request = normalize_chat_request(request.model_copy(update=changes))
        return request if tag is None else request.model_copy(update={"response_format": tag})

    def _start(self, opened: core.ResponseParser) -> None:
        chosen = self.chosen
        assert chosen is not None
        counted = chosen.reasoning and chosen.tokenizer is not None
        counter = ReasoningCounter(chosen.dialect, chosen.tokenizer, self._inside) if counted else None
        self._response = Response(chosen.dialect, opened, self._stray, counter)
        self.reasoning_tokens = self._response.reasoning_tokens

    # The response

    def stream_chunk(
        self, delta_text: str, delta_token_ids: list[int], final: bool = False, **kwargs: Any
    ) -> list[Emitted]:
        """One engine step of a stream: deltas in the model's order, each with whether it holds tool calls."""
        response = self._response
        if response is None:
            return super().stream_chunk(delta_text, delta_token_ids, final=final, **kwargs)  # type: ignore[misc, no-any-return]
        emitted = response.feed(delta_text, delta_token_ids, final)
        if self.reasoning_tokens is not None:
            self.reasoning_tokens = response.reasoning_tokens
        return emitted

    def parse_complete(
        self, text: str, token_ids: list[int] | None = None, **kwargs: Any
    ) -> tuple[str | None, list[Any] | None, str | None]:
        """A complete response: the stream with one chunk."""
        if self._response is None:
            return super().parse_complete(text, token_ids, **kwargs)  # type: ignore[misc, no-any-return]
        if self._response.begun:
            self._start(self._open_core())
        content: list[str] = []
        reasoning: list[str] = []
        calls: list[ToolCall] = []
        for message, _ in self.stream_chunk(text, token_ids or [], final=True):
            content.append(message.content or "")
            reasoning.append(message.reasoning_content or "")
            for call in message.tool_calls or ():
                if call.function.name is not None:
                    calls.append(ToolCall(id=call.id, function=FunctionCall(name=call.function.name, arguments="")))
                calls[-1].function.arguments += call.function.arguments or ""
        return "".join(content) or None, calls or None, "".join(reasoning) or None


def _picked(name: str | None, tokenizer: Any, reasoning: bool) -> str | None:
    """`toolglot` becomes the name of a dialect's parser."""
    if name != AUTO:
        return name
    dialect = choose(tokenizer, logger)
    if reasoning and not has_reasoning(dialect):
        raise ConfigurationError(f"dialect {dialect.name!r} has no reasoning; leave --reasoning-parser out")
    return PREFIX + dialect.name


def _registered(tool_name: str | None, reasoning_name: str | None) -> tuple[Any, Any]:
    from lmdeploy.serve.parsers.reasoning_parser import ReasoningParserManager
    from lmdeploy.serve.parsers.tool_parser import ToolParserManager

    return (
        None if tool_name is None else ToolParserManager.get(tool_name),
        None if reasoning_name is None else ReasoningParserManager.get(reasoning_name),
    )


def _is_ours(parser: Any) -> bool:
    return isinstance(parser, type) and issubclass(parser, (ToolglotToolParser, ToolglotReasoningParser))


def _reasoning_of(spec: Dialect, parser: Any) -> bool:
    """Whether reasoning is split off. Raises ConfigurationError for a reasoning parser that reads other tags."""
    if parser is None:
        return spec.messages is not None
    if _is_ours(parser) and parser.dialect == spec.name:
        return True
    tags = (parser.get_reasoning_open_tag(), parser.get_reasoning_close_tag())
    if spec.reasoning is not None and tags == (spec.reasoning.open, spec.reasoning.close):
        return True
    advice = f"use --reasoning-parser {PREFIX}{spec.name}" if has_reasoning(spec) else "leave --reasoning-parser out"
    raise ConfigurationError(
        f"the reasoning parser {parser.__name__} reads {' and '.join(tags)}, which dialect {spec.name!r} does not "
        f"write; {advice}"
    )


def _announce(chosen: Chosen) -> None:
    """One line in the server's log. Raises ConfigurationError for a wrong setting."""
    current().check()
    for problem in unknown_variables(os.environ):
        logger.warning("toolglot: %s", problem)
    logger.info(
        "toolglot %s: dialect %s%s, LMDeploy %s, settings: %s",
        version_of("toolglot") or "unknown",
        chosen.dialect.name,
        " with reasoning" if chosen.reasoning else "",
        version_of("lmdeploy") or "unknown",
        current(),
    )
    if current().record:
        logger.warning(notice(current().record))
    special_tokens(chosen.tokenizer)
