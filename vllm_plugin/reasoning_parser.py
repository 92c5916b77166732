"""vLLM's ReasoningParser over the core: one class for each dialect that has a reasoning channel.

Beside a tool parser of the same dialect it hands over the whole response (handoff.py). Alone, or beside another
tool parser, it parses reasoning until the answer begins, and leaves the rest, raw, to whoever comes next.

Token ids matter in one place: vLLM asks for the end of reasoning before it applies a grammar. There the closer is
looked for among the ids, with a cost in proportion to the new ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, ClassVar

from vllm.reasoning import ReasoningParser

from toolglot.core import ResponseParser
from toolglot.core.deltas import Delta
from toolglot.core.serving.prompt import Thinking
from toolglot.core.serving.tokens import fitted, is_special
from toolglot.core.spec import Dialect
from toolglot.vllm_plugin.compat import protocol
from toolglot.vllm_plugin.handoff import Handoff, offer
from toolglot.vllm_plugin.names import HARMONY, made_on_demand
from toolglot.vllm_plugin.prompt import Prompt
from toolglot.vllm_plugin.request import keep_special_tokens
from toolglot.vllm_plugin.response import failed, parse_whole
from toolglot.vllm_plugin.start import announce

__all__ = ["ToolglotReasoningParser"]


class ToolglotReasoningParser(ReasoningParser):
    """What the reasoning parsers of all dialects have in common; `dialect` is set by their classes."""

    dialect: ClassVar[str]
    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self._spec = fitted(self.dialect, tokenizer)
        announce(self.dialect)
        self._prompt = Prompt(self._spec, tokenizer, kwargs.get("chat_template_kwargs"))
        self._handoff = Handoff(self.dialect, tokenizer, self._prompt)
        self._handed = False
        self._alone: _Alone | None = None
        self._counter = _Counter(*_tags(self._spec))
        offer(self._handoff)

    @property
    def reasoning_start_str(self) -> str | None:
        """For vLLM's thinking budget."""
        return self._spec.reasoning.open if self._spec.reasoning is not None else None

    @property
    def reasoning_end_str(self) -> str | None:
        """For vLLM's thinking budget."""
        return self._spec.reasoning.close if self._spec.reasoning is not None else None

    # The prompt

    def adjust_request(self, request: Any) -> Any:
        """Keep the reasoning markers in the text."""
        if is_special(self.model_tokenizer, self._spec, False):
            keep_special_tokens(request)
        return request

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """vLLM 0.33 tells the prompt before anything else."""
        self._prompt.tell(prompt_token_ids)

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        """Older versions tell it at the start of a stream."""
        self._prompt.tell(prompt_token_ids)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether generation behind this prompt starts outside reasoning, and no reasoning is to be expected."""
        self._prompt.tell(input_ids)
        thinking = self._prompt.thinking
        return thinking is Thinking.CLOSED or (thinking is Thinking.FREE and self._prompt.switched_off())

    # The engine's side: when does a grammar begin?

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Whether these new tokens hold the closer; `input_ids` are all of them, the new ones included."""
        closer = self._tokens(_tags(self._spec)[1])
        new = list(delta_ids)
        if len(closer) > 1:
            before = len(closer) - 1
            end = len(input_ids) - len(new)
            new = [*islice(input_ids, max(0, end - before), max(0, end)), *new]
        return _find(new, closer) >= 0

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The ids that go to the tool parser with the rest of the text: it is driven by text."""
        return input_ids

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """Tokens inside reasoning, calls in it included. Asked again with more tokens it counts only those."""
        opener, closer = (self._tokens(text) for text in _tags(self._spec))
        return self._counter.count(token_ids, opener, closer, self._prompt.thinking is Thinking.OPEN)

    def _tokens(self, text: str) -> list[int]:
        number = self.vocab.get(text)
        return [number] if number is not None else list(self.model_tokenizer.encode(text, add_special_tokens=False))

    # A complete response

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """Reasoning and content. One object may serve several choices."""
        self._counter.reset()
        thinking = self._prompt.thinking
        if self._handoff.taken:
            message = parse_whole(self._spec, request, self.model_tokenizer, model_output, thinking)
            self._handoff.message = message
            return message.reasoning, message.content
        alone = _Alone(self._spec, thinking)
        reasoning, content = alone.feed(model_output)
        more_reasoning, more_content = alone.finish()
        return (reasoning + more_reasoning) or None, (content + more_content) or None

    # A stream

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any | None:
        """One engine step: all of it goes to the tool parser, or its reasoning comes out here."""
        if self._handoff.taken:
            self._handed = True
            return protocol().DeltaMessage(content=delta_text)
        if self._alone is None:
            self._alone = _Alone(self._spec, self._prompt.thinking)
        return _message(*self._alone.feed(delta_text))

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether the tool parser takes over."""
        return self._handed or (self._alone is not None and self._alone.answered)

    def finish_streaming(self) -> Any | None:
        """What is held back, at the end of reasoning or of the response."""
        return None if self._handed or self._alone is None else _message(*self._alone.finish())


def _message(reasoning: str, content: str) -> Any | None:
    if not reasoning and not content:
        return None
    message = protocol().DeltaMessage()
    if reasoning:
        message.reasoning = reasoning
    if content:
        message.content = content
    return message


class _Alone:
    """Reasoning without calls: the core until the answer begins, then the raw text.

    The core sees text in pieces that end where a closer can end, so that what follows one stays raw; behind a
    closer it sees single characters, until one of them is content that is no blank. After a defect of the core all
    text is the answer's.
    """

    def __init__(self, dialect: Dialect, thinking: Thinking) -> None:
        self._dialect = dialect
        self._core = ResponseParser(dialect, [], starts_in_reasoning=thinking is Thinking.OPEN)
        self._pieces = re.compile(f"[^{re.escape(_tags(dialect)[1][-1])}]+|.", re.DOTALL)
        self.answered = False

    def feed(self, text: str) -> tuple[str, str]:
        """Reasoning and content of one step."""
        found = {"reasoning": "", "content": ""}
        at = 0
        while at < len(text) and not self.answered:
            if self._core.region == "reasoning":
                piece = self._pieces.match(text, at)
                end = piece.end() if piece is not None else at + 1
            else:
                end = at + 1
            try:
                deltas = self._core.feed(text[at:end])
            except Exception as error:
                deltas = self._failed(error, text[at:end])
            for delta in deltas:
                found[delta.kind] += delta.text  # type: ignore[union-attr]
                self.answered |= bool(found["content"].strip())
            at = end
        if self.answered:
            found["content"] += self.finish()[1]
        return found["reasoning"], found["content"] + text[at:]

    def finish(self) -> tuple[str, str]:
        """What the core still holds."""
        found = {"reasoning": "", "content": ""}
        try:
            deltas = self._core.finish()
        except Exception as error:
            deltas = self._failed(error, "")
        for delta in deltas:
            found[delta.kind] += delta.text  # type: ignore[union-attr]
        return found["reasoning"], found["content"]

    def _failed(self, error: Exception, chunk: str) -> list[Delta]:
        failed(self._dialect, None, error)
        self.answered = True
        return self._core.abandon(chunk)


class _Counter:
    """Counts the tokens between opener and closer."""

    def __init__(self, opener: str, closer: str) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin a new response."""
        self._seen: int = 0
        self._inside: bool | None = None
        self._count: int = 0

    def count(self, ids: Sequence[int], opener: list[int], closer: list[int], inside: bool) -> int:
        """The number for all of `ids`, whose beginning was counted before."""
        if len(ids) < self._seen:
            self.reset()
        if self._inside is None:
            self._inside = inside
        at = self._seen
        while at < len(ids):
            tag = closer if self._inside else opener
            if list(islice(ids, at, at + len(tag))) == tag:
                self._inside = not self._inside
                at += len(tag)
                continue
            self._count += self._inside
            at += 1
        self._seen = at
        return self._count


def _find(ids: list[int], wanted: list[int]) -> int:
    return next((at for at in range(len(ids) - len(wanted) + 1) if ids[at : at + len(wanted)] == wanted), -1)


def _tags(dialect: Dialect) -> tuple[str, str]:
    """What opens reasoning and what ends it, in the text."""
    if dialect.reasoning is not None:
        return dialect.reasoning.open, dialect.reasoning.close
    assert dialect.messages is not None
    return dialect.messages.reasoning, dialect.messages.content


def _make(name: str, dialect: str) -> type[ToolglotReasoningParser]:
    namespace = {"__module__": __name__, "__doc__": f"Reasoning of the dialect `{dialect}`.", "dialect": dialect}
    if dialect == HARMONY:
        from toolglot.vllm_plugin.harmony import reasoning_class

        return reasoning_class(name, ToolglotReasoningParser, namespace)
    return type(name, (ToolglotReasoningParser,), namespace)


__getattr__ = made_on_demand(globals(), "Reasoning", _make)
