"""The names in LMDeploy's registries: for each dialect a tool parser and, where it has one, a reasoning parser; the
base classes are there as `toolglot`, which response_parser.py replaces by a dialect's.

They say which dialect was chosen, and hold what belongs to it; the text is the affair of response_parser.py. Beside
a tool parser of LMDeploy's own a reasoning parser of ours is what LMDeploy's are: a description of two tags.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from lmdeploy.serve.parsers.reasoning_parser import ReasoningParser
from lmdeploy.serve.parsers.tool_parser import ToolParser

from toolglot.core import ConfigurationError, get_dialect
from toolglot.core.serving.prompt import Thinking
from toolglot.core.serving.tokens import as_spelled, check_tokenizer
from toolglot.core.spec import Dialect
from toolglot.lmdeploy_plugin.prompt import thinking_of_template

__all__ = ["PREFIX", "ToolglotReasoningParser", "ToolglotToolParser", "make_reasoning_parser", "make_tool_parser"]

PREFIX = "toolglot_"


class ToolglotToolParser(ToolParser):
    """What the tool parsers of all dialects have in common; `dialect` is set by their classes."""

    dialect: ClassVar[str]


class ToolglotReasoningParser(ReasoningParser):
    """What the reasoning parsers of all dialects have in common; `dialect` is set by their classes."""

    dialect: ClassVar[str]
    tokenizer: ClassVar[Any] = None

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._arguments = arguments

    @classmethod
    def spec(cls) -> Dialect:
        """The dialect as the model's tokenizer spells it."""
        return as_spelled(get_dialect(cls.dialect), cls.tokenizer)

    @classmethod
    def validate_tokenizer(cls, tokenizer: Any) -> None:
        """Refuse a tokenizer that cannot write the dialect. A tag need not be a single token."""
        cls.tokenizer = tokenizer
        check_tokenizer(tokenizer, cls.spec())

    @classmethod
    def validate_as_tags(cls, tokenizer: Any) -> None:
        """The same, for use beside a tool parser of LMDeploy's own, which wants two tags of one token each."""
        cls.tokenizer = tokenizer
        if cls.spec().reasoning is None:
            raise ConfigurationError(
                f"the reasoning of dialect {cls.dialect!r} has no tags; use --tool-call-parser {PREFIX}{cls.dialect}"
            )
        super().validate_tokenizer(tokenizer)

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        """What opens a reasoning block."""
        spec = cls.spec()
        return spec.reasoning.open if spec.reasoning is not None else ""

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        """What closes it."""
        spec = cls.spec()
        return spec.reasoning.close if spec.reasoning is not None else ""

    def starts_in_reasoning_mode(self) -> bool:
        """Whether the prompt leaves a reasoning block open."""
        return thinking_of_template(self.spec(), self.tokenizer, self._arguments) is Thinking.OPEN


@cache
def make_tool_parser(dialect: str) -> type[ToolglotToolParser]:
    """The class registered as `toolglot_<dialect>`."""
    return type(_class_name(dialect, "Tool"), (ToolglotToolParser,), _namespace(dialect, "Tool calls"))


@cache
def make_reasoning_parser(dialect: str) -> type[ToolglotReasoningParser]:
    """The class registered as `toolglot_<dialect>`."""
    return type(_class_name(dialect, "Reasoning"), (ToolglotReasoningParser,), _namespace(dialect, "Reasoning"))


def _class_name(dialect: str, kind: str) -> str:
    return "Toolglot" + "".join(part[:1].upper() + part[1:] for part in dialect.split("_")) + f"{kind}Parser"


def _namespace(dialect: str, what: str) -> dict[str, Any]:
    return {"__module__": __name__, "__doc__": f"{what} of the dialect `{dialect}`.", "dialect": dialect}
