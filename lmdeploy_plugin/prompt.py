"""Where generation begins: what the prompt leaves open about reasoning.

LMDeploy builds a response parser before the prompt. What the prompt will end with is told by the tokenizer's chat
template, asked with the request's own template arguments; by the last message when the model is to continue it; by
the ids when the request brings its prompt as ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolglot.core.serving import prompt
from toolglot.core.serving.prompt import Thinking
from toolglot.core.spec import Dialect

__all__ = ["thinking_of_request", "thinking_of_template"]

TAIL = 1024  # tokens of a prompt given as ids that are looked at


def thinking_of_request(dialect: Dialect, tokenizer: Any, request: Any, arguments: Mapping[str, Any]) -> Thinking:
    """How reasoning stands, by the best evidence there is."""
    messages = request.messages
    if not messages and request.input_ids and tokenizer is not None:
        text = tokenizer.decode(request.input_ids[-TAIL:], skip_special_tokens=False)
        return prompt.thinking_of_text(dialect, tokenizer, text)
    if isinstance(messages, list) and messages and messages[-1].get("role") == "assistant":
        content = messages[-1].get("content")  # the model goes on from here
        return prompt.thinking_of_turn(dialect, content if isinstance(content, str) else "")
    return thinking_of_template(dialect, tokenizer, arguments)


def thinking_of_template(dialect: Dialect, tokenizer: Any, arguments: Mapping[str, Any]) -> Thinking:
    """What the chat template leaves at the end of a prompt; where there is none, what the arguments say."""
    found = prompt.thinking_of_template(dialect, tokenizer, arguments, needs_turn=False)
    return found or prompt.thinking_of_arguments(dialect, arguments)
