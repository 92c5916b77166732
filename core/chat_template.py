"""A chat template, rendered as transformers does it: in jinja2's immutable sandbox, without files and network.

jinja2 is there wherever an engine is; it is imported when a template is compiled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from .errors import ConfigurationError

__all__ = ["Render", "compile_template"]

# (messages, tools, whether the generation prompt is added) -> text. May raise anything.
Render = Callable[[list[dict[str, Any]], "list[dict[str, Any]] | None", bool], str]


def compile_template(source: str, variables: Mapping[str, Any]) -> Render:
    """A function that renders ``source``; ``variables`` are what it sees besides (``bos_token`` and the like).

    Raises ConfigurationError where jinja2 is missing, or the template is none.
    """
    try:
        from jinja2 import TemplateError, nodes
        from jinja2.ext import Extension, loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError as error:
        raise ConfigurationError(
            f"a chat template cannot be rendered without jinja2: pip install jinja2 ({error})"
        ) from error

    class Generation(Extension):
        """``{% generation %}`` marks what the model writes, for training; here it is its content."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> nodes.Node | list[nodes.Node]:
            next(parser.stream)
            body: list[nodes.Node] = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return body

    def refuse(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    try:
        template = environment.from_string(source)
    except TemplateError as error:
        raise ConfigurationError(f"the chat template cannot be compiled: {error}") from error

    def render(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, generation: bool) -> str:
        return template.render(messages=messages, tools=tools, add_generation_prompt=generation, **variables)

    return render


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    """jinja2's own filter escapes HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
