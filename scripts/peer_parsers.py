"""The engines' own parsers, driven alike: a response and its tools give calls and content, at once and streamed.

A stream comes token by token, as the engine would have it. vLLM's parsers look at token ids, so there the tokens are
the tests' own tokenizer's, which holds the markers of all dialects; LMDeploy's look at the text, so there they are the
model's own where a package ships its tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from tiny_model import tiny_model

# A response: names and arguments of the calls, as text, and the content.
Response = tuple[list[tuple[str, str]], str]


class Step(NamedTuple):
    """What an engine hands over at once."""

    text: str
    ids: list[int]


class Request(NamedTuple):
    """What a parser is asked."""

    text: str
    tools: list[Any]

    def as_dict(self) -> dict[str, Any]:
        return {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "tools": self.tools}


@cache
def tiny_tokenizer() -> Any:
    """The tests' tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model())


@cache
def harmony_encoding() -> Any:
    """The tokenizer of gpt-oss."""
    from openai_harmony import load_harmony_encoding

    return load_harmony_encoding("HarmonyGptOss")


def tiny_steps(text: str) -> list[Step]:
    """The text token by token; a character in several tokens comes with the last of them."""
    tokenizer = tiny_tokenizer()
    steps: list[Step] = []
    before, held = "", []
    ids = tokenizer.encode(text, add_special_tokens=False)
    for count, number in enumerate(ids, 1):
        held.append(number)
        so_far = tokenizer.decode(ids[:count], skip_special_tokens=False)
        if not so_far.endswith("\ufffd"):
            steps.append(Step(so_far[len(before) :], held))
            before, held = so_far, []
    return steps


def harmony_steps(text: str) -> list[Step]:
    """The same by the tokenizer of gpt-oss."""
    encoding = harmony_encoding()
    return [Step(encoding.decode([number]), [number]) for number in encoding.encode(text, allowed_special="all")]


def real_steps(tokenizer: str, text: str) -> list[Step]:
    """The same by a model's own tokenizer; what it is fed to never looks at ids."""
    from real_tokenizers import pieces

    return [Step(piece, [1]) for piece in pieces(tokenizer, text)]


def added_up(deltas: Iterable[Any]) -> Response:
    """Calls and content of a stream of messages."""
    names: list[str] = []
    arguments: list[str] = []
    content = ""
    for message in deltas:
        content += message.content or ""
        for call in message.tool_calls or []:
            while len(names) <= call.index:
                names.append("")
                arguments.append("")
            names[call.index] += call.function.name or ""
            arguments[call.index] += call.function.arguments or ""
    return list(zip(names, arguments, strict=True)), content


class Engine(Protocol):
    """What is asked of an engine. ``leads``: what a parser wants in front of a call, and what that means."""

    title: ClassVar[str]
    left_out: ClassVar[dict[str, str]]
    leads: ClassVar[dict[str, tuple[str, str]]]

    @property
    def version(self) -> str: ...

    def names(self, spec: Any) -> list[str]:
        """Its names for a dialect."""

    def parser(self, name: str) -> type | None:
        """Its class for a name, None where this version has none."""

    def whole(self, name: str, request: Request) -> Response:
        """A response at once."""

    def streamed(self, name: str, request: Request) -> Response:
        """A response token by token."""


class VLLM:
    """vLLM."""

    title: ClassVar[str] = "vLLM"
    left_out: ClassVar[dict[str, str]] = {
        "cohere_command": "its parser needs a package of Cohere's, which is not part of vLLM",
        "hy_v3": "its parser wants a tokenizer whose markers have one suffix; the tests' tokenizer has two",
        "hy_v4": "the same",
    }
    leads: ClassVar[dict[str, tuple[str, str]]] = {}

    def __init__(self) -> None:
        from vllm.plugins import load_general_plugins

        load_general_plugins()

    @cached_property
    def version(self) -> str:
        import vllm

        return str(vllm.__version__)

    def names(self, spec: Any) -> list[str]:
        return str(spec.engines.vllm).split()

    def parser(self, name: str) -> type | None:
        from vllm.tool_parsers import ToolParserManager

        registered: type | None = None
        if name in ToolParserManager.list_registered():
            registered = ToolParserManager.get_tool_parser(name)
        return registered

    def _made(self, name: str, request: Request) -> tuple[Any, Any]:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser.parser_manager import ParserManager

        asked = ChatCompletionRequest.model_validate(request.as_dict())
        harmony = {"is_harmony": True, "reasoning_parser_name": "openai_gptoss"} if name == "openai" else {}
        made = ParserManager.get_parser(tool_parser_name=name, enable_auto_tools=True, model_name="any", **harmony)
        assert made is not None
        return made(tiny_tokenizer(), asked.tools), asked

    def _steps(self, name: str, text: str) -> list[Step]:
        return harmony_steps(text) if name == "openai" else tiny_steps(text)

    def whole(self, name: str, request: Request) -> Response:
        parser, asked = self._made(name, request)
        ids = [number for step in harmony_steps(request.text) for number in step.ids] if name == "openai" else None
        _, content, calls = parser.parse(request.text, asked, enable_auto_tools=True, model_output_token_ids=ids)
        return [(call.name, call.arguments) for call in calls or []], content or ""

    def streamed(self, name: str, request: Request) -> Response:
        parser, asked = self._made(name, request)
        steps = self._steps(name, request.text)
        deltas = []
        for at, step in enumerate(steps, 1):
            last = at == len(steps)
            deltas.append(parser.parse_delta(step.text, step.ids, asked, prompt_token_ids=[1], finished=last))
        return added_up(delta for delta in deltas if delta is not None)


class LMDeploy:
    """LMDeploy."""

    title: ClassVar[str] = "LMDeploy"
    left_out: ClassVar[dict[str, str]] = {}
    leads: ClassVar[dict[str, tuple[str, str]]] = {
        "deepseek-v32": ("\n\n", "reads a block only behind two newlines, although a response may begin with one"),
        "deepseek-v4": ("\n\n", "reads a block only behind two newlines, although a response may begin with one"),
        "llama3": ("<|python_tag|>", "reads a call only behind that token, which the template does not write"),
    }
    # Whose tokens a stream is made of; others come by the tests' tokenizer.
    tokenizers: ClassVar[dict[str, str]] = {
        "qwen": "qwen3.6",
        "qwen3coder": "qwen3.6",
        "interns2-preview": "qwen3.6",
        "deepseek-v32": "deepseek",
        "deepseek-v4": "deepseek",
    }

    @cached_property
    def version(self) -> str:
        import lmdeploy

        return str(lmdeploy.__version__)

    def names(self, spec: Any) -> list[str]:
        return str(spec.engines.lmdeploy).split()

    def parser(self, name: str) -> type | None:
        from lmdeploy.serve.parsers import ResponseParserManager
        from lmdeploy.serve.parsers.tool_parser import ToolParserManager

        found: type | None
        if name == "gpt-oss":
            # toolglot puts a subclass in this place, which is LMDeploy's own in everything but toolglot's names.
            classes = getattr(ResponseParserManager.get(name), "__mro__", ())
            return next((cls for cls in classes if cls.__module__.startswith("lmdeploy.")), None)
        found = ToolParserManager.module_dict.get(name)
        return found

    def _made(self, name: str, request: Request) -> Any:
        from lmdeploy.serve.openai.protocol import ChatCompletionRequest
        from lmdeploy.serve.parsers.response_parser import BaseResponseParser

        asked = ChatCompletionRequest.model_validate(request.as_dict())
        if name == "gpt-oss":
            made = self.parser(name)
            assert made is not None
            return made(asked)
        # LMDeploy keeps the choice on a class; one of its own leaves that of the process alone.
        chosen = type("Chosen", (BaseResponseParser,), {"tool_parser_cls": self.parser(name)})
        return chosen(asked)

    def _steps(self, name: str, text: str) -> list[Step]:
        if name == "gpt-oss":
            return harmony_steps(text)
        return real_steps(self.tokenizers[name], text) if name in self.tokenizers else tiny_steps(text)

    def whole(self, name: str, request: Request) -> Response:
        ids = [number for step in self._steps(name, request.text) for number in step.ids]
        content, calls, _ = self._made(name, request).parse_complete(request.text, ids)
        return [(call.function.name, call.function.arguments) for call in calls or []], content or ""

    def streamed(self, name: str, request: Request) -> Response:
        """A response token by token; its end comes alone, as in LMDeploy."""
        parser = self._made(name, request)
        deltas: list[Any] = []
        for step in self._steps(name, request.text):
            deltas += (message for message, _ in parser.stream_chunk(step.text, step.ids, final=False))
        deltas += (message for message, _ in parser.stream_chunk("", [], final=True))
        return added_up(deltas)


ENGINES: dict[str, Callable[[], Engine]] = {"vllm": VLLM, "lmdeploy": LMDeploy}


def as_json(text: str) -> Any:
    """The value of arguments, the text itself where they are no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def alike(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: numbers by value, keys in order."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(map(alike, left.values(), right.values()))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    return bool(left == right)


def same(left: str, right: str) -> bool:
    """Whether two texts of arguments are the same JSON."""
    return alike(as_json(left), as_json(right))
