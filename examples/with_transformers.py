"""Tool calls with `transformers` alone: streamed through toolglot, and forced by an XGrammar logits processor.

    python examples/with_transformers.py MODEL_PATH_OR_NAME

Without a model it runs on the tiny random one of the tests: the grammar leaves it no other way than a valid call. Needs
torch, transformers, xgrammar and toolglot. transformers' streamer passes whole words on, so deltas come word by word.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import xgrammar
from transformers import AutoModelForCausalLM, AutoTokenizer, TextIteratorStreamer
from xgrammar.contrib.hf import LogitsProcessor

from toolglot.core import Delta, Dialect, ResponseParser, assemble, get_dialect, structural_tag
from toolglot.core.serving.auto import choose
from toolglot.core.serving.prompt import Thinking, thinking_of_text
from toolglot.core.serving.tokens import as_spelled, check_tokenizer, stray_tokens

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "maxLength": 16},
                    "days": {"type": "integer", "minimum": 1, "maximum": 7},
                },
                "required": ["city", "days"],
                "additionalProperties": False,
            },
        },
    }
]


class ResponseStreamer(TextIteratorStreamer):
    """Keeps the special tokens that are markers of the dialect, and leaves out all others, as the end of the turn."""

    def __init__(self, tokenizer: Any, stray: dict[int, str]) -> None:
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=False)
        self._stray = stray

    def put(self, value: Any) -> None:
        """Called by `generate`, with the prompt and then with each token."""
        if self.next_tokens_are_prompt or int(value) not in self._stray:
            super().put(value)


def respond(
    model: Any,
    tokenizer: Any,
    dialect: Dialect,
    messages: list[dict[str, Any]],
    tool_choice: str = "auto",
    template: dict[str, Any] | None = None,
    **options: Any,
) -> Iterator[Delta]:
    """The deltas of a response, while the model writes it; ``template`` goes to its chat template."""
    check_tokenizer(tokenizer, dialect)
    prompt = tokenizer.apply_chat_template(
        messages, tools=TOOLS, add_generation_prompt=True, tokenize=False, **(template or {})
    )
    thinking = thinking_of_text(dialect, tokenizer, prompt)  # whether the prompt has opened a reasoning section
    reasoning: Any = "optional" if thinking is Thinking.FREE else thinking is Thinking.OPEN
    tag = structural_tag(dialect, TOOLS, tool_choice, reasoning=reasoning)
    processors = []
    if tag is not None:
        vocabulary = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
        processors.append(LogitsProcessor(xgrammar.GrammarCompiler(vocabulary).compile_structural_tag(tag)))
    parser = ResponseParser(
        dialect,
        TOOLS,
        tool_choice=tool_choice,
        starts_in_reasoning=thinking is Thinking.OPEN,
        constrained=bool(processors),
    )
    streamer = ResponseStreamer(tokenizer, stray_tokens(tokenizer, dialect, True))
    inputs = tokenizer(prompt, return_tensors="pt", add_special_tokens=False).to(model.device)
    arguments = {**inputs, "streamer": streamer, "logits_processor": processors, "max_new_tokens": 512, **options}
    writer = Thread(target=model.generate, kwargs=arguments, daemon=True)
    writer.start()
    for text in streamer:
        yield from parser.feed(text)
    writer.join()
    yield from parser.finish()


def main() -> int:
    """Ask for a call, and print what arrives."""
    if len(sys.argv) > 1:
        path, name = sys.argv[1], None
    else:
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
        from tiny_model import tiny_model

        path, name = str(tiny_model()), "hermes"
    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForCausalLM.from_pretrained(path)
    dialect = choose(tokenizer, logging.getLogger("example")) if name is None else get_dialect(name)
    messages = [{"role": "user", "content": "What will the weather be like in Prague?"}]
    deltas = []
    for delta in respond(
        model, tokenizer, as_spelled(dialect, tokenizer), messages, "required", {"enable_thinking": False}
    ):
        print(delta, flush=True)
        deltas.append(delta)
    for call in assemble(deltas).tool_calls:
        print(f"{call.name}({call.arguments})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
