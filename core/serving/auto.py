"""The parser name `toolglot`: which dialect a server's model writes, found out when the server starts.

The tokenizer is all that a parser is given. Its own chat template is read, so a template given on the command line
makes it a bad witness: then the dialect has to be named. TOOLGLOT_DIALECT overrules everything.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from ..chat_template import Render, compile_template
from ..detect import Detection, detect
from ..errors import ConfigurationError
from ..model_files import Model, chosen_template
from ..registry import get_dialect, list_dialects
from ..spec import Dialect
from .settings import DIALECT, current
from .tokens import remembered, special_tokens

__all__ = ["AUTO", "choose", "model_of"]

AUTO = "toolglot"  # the parsers' name
# Where transformers puts the code that comes with a model; and mistral-common, which renders no conversation that the
# assistant ends.
NOT_ASKED = ("transformers_modules", "mistral")


def choose(tokenizer: Any, logger: logging.Logger) -> Dialect:
    """The dialect of a tokenizer's model, logged once. Raises ConfigurationError, with the candidates, if that is
    not certain."""
    known = remembered(tokenizer)
    if "dialect" not in known:
        known["dialect"], why = _chosen(tokenizer)
        logger.info("toolglot: the dialect is %s: %s", known["dialect"].name, why)
    found: Dialect = known["dialect"]
    return found


def _chosen(tokenizer: Any) -> tuple[Dialect, str]:
    settings = current()
    settings.check()
    if name := settings.dialect:
        return get_dialect(name), f"{DIALECT} says so"
    advice = f"name it: toolglot_DIALECT in place of {AUTO}, or {DIALECT}=DIALECT"
    if tokenizer is None:
        raise ConfigurationError(f"without a tokenizer the dialect cannot be found out; {advice}")
    if any(argument.partition("=")[0] == "--chat-template" for argument in sys.argv):
        raise ConfigurationError(
            f"the dialect cannot be found out: parsers do not see what --chat-template gives; {advice}"
        )
    found = detect(model_of(tokenizer))
    if found.dialect is None:
        raise ConfigurationError(f"{refusal(found)}; {advice}")
    return get_dialect(found.dialect), "; ".join((*found.reasons, *found.notes))


def refusal(found: Detection) -> str:
    """Why nothing was chosen, and what it could be."""
    could = f"it could be {' or '.join(found.candidates)}" if found.candidates else (
        f"there are {', '.join(list_dialects())}"
    )
    return f"the dialect of this model is not certain: {'; '.join((*found.reasons, *found.notes))}; {could}"


def model_of(tokenizer: Any) -> Model:
    """What detection looks at, from a loaded tokenizer."""
    vocabulary = frozenset(map(str, tokenizer.get_vocab())) if hasattr(tokenizer, "get_vocab") else frozenset()
    template = chosen_template(getattr(tokenizer, "chat_template", None))
    render = None
    notes = []
    if template is None:
        render = _encoder(tokenizer)
    else:
        try:
            render = compile_template(template, getattr(tokenizer, "special_tokens_map", None) or {})
        except ConfigurationError as error:
            notes.append(str(error))
    special = frozenset(special_tokens(tokenizer).values())
    return Model(vocabulary, bool(vocabulary), special, template, render, tuple(notes))


def _encoder(tokenizer: Any) -> Render | None:
    """An engine's own encoder, where a model has no template (DeepSeek V3.2); never a model's code."""
    apply = getattr(tokenizer, "apply_chat_template", None)
    modules = " ".join(base.__module__ for base in type(tokenizer).__mro__)
    if apply is None or any(name in modules for name in NOT_ASKED):
        return None

    def render(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, generation: bool) -> str:
        return str(apply(messages, tools=tools, add_generation_prompt=generation, tokenize=False))

    return render
