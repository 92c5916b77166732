"""Tags, XGrammar's bitmask kernels and the parser together, over a model on the GPU: validity, and cost per token.

    python scripts/cuda_tags.py [--device cuda] [--seconds 200] [--output docs/cuda_tags.md]

A model of random weights with a vocabulary of a real size generates under our tags: its calls must be valid. The same
steps without a grammar are the base that the cost of the mask and of the parser is compared with. It runs on the CPU
as well, where a smaller model stands in; figures are ratios, not speeds of serving. Under 4 minutes.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
import xgrammar
from transformers import Qwen3Config, Qwen3ForCausalLM

from toolglot.core import ResponseParser, assemble, get_dialect, list_dialects, structural_tag
from toolglot.core.serving.tokens import spellings

VOCABULARY = 151_936
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "book",
            "parameters": {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "maxLength": 16},
                    "seats": {"type": "integer", "minimum": 1, "maximum": 9},
                    "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
                },
                "required": ["title", "seats"],
            },
        },
    },
    {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}},
]


def words() -> list[str]:
    """A vocabulary of a real size: characters, the markers of all dialects, and random words."""
    rng = random.Random(0)
    found = dict.fromkeys([chr(code) for code in range(32, 127)] + ["\n", "\t", "｜", "▁"])
    for name in list_dialects():
        found.update(dict.fromkeys(text for text in spellings(get_dialect(name)) if 1 < len(text) < 64))
    letters = "etaoinshrdlucmfwypvbgkjqxz" * 3 + "ETAOIN0123456789     _.,"
    while len(found) < VOCABULARY - 1:
        found["".join(rng.choices(letters, k=rng.randint(2, 9)))] = None
    return [*list(found)[: VOCABULARY - 1], "<end>"]


def model_on(device: str) -> Any:
    """Random weights; large enough on a GPU that a step costs what it costs there."""
    large = device == "cuda"
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=1024 if large else 64,
        intermediate_size=3072 if large else 128,
        num_hidden_layers=24 if large else 2,
        num_attention_heads=16 if large else 4,
        num_key_value_heads=8 if large else 2,
        head_dim=64 if large else 16,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    return Qwen3ForCausalLM(config).to(device=device, dtype=torch.bfloat16 if large else torch.float32).eval()


class Run:
    """One batch of responses of one dialect."""

    def __init__(self, model: Any, vocabulary: list[str], device: str, batch: int) -> None:
        self._model, self._words, self._device, self._batch = model, vocabulary, device, batch
        self._end = len(vocabulary) - 1
        self.seconds = {"model": 0.0, "mask": 0.0, "parser": 0.0}
        self.steps = 0

    def _wait(self) -> float:
        if self._device == "cuda":
            torch.cuda.synchronize()
        return perf_counter()

    def generate(self, grammar: Any, dialect: str, steps: int) -> list[Any]:
        """The messages of the responses that ended; ``grammar`` None generates freely."""
        matchers = [xgrammar.GrammarMatcher(grammar) for _ in range(self._batch)] if grammar is not None else []
        parsers = [ResponseParser(dialect, TOOLS, tool_choice="required", reasoning=False) for _ in matchers]
        deltas: list[list[Any]] = [[] for _ in matchers]
        mask = xgrammar.allocate_token_bitmask(self._batch, VOCABULARY)
        tokens = torch.randint(0, 95, (self._batch, 8), device=self._device)
        cache = None
        ended = [False] * self._batch
        torch.manual_seed(1)
        for _ in range(steps):
            start = self._wait()
            out = self._model(tokens, past_key_values=cache, use_cache=True)
            cache, logits = out.past_key_values, out.logits[:, -1].float()
            masked = self._wait()
            for at, matcher in enumerate(matchers):
                if not ended[at]:
                    matcher.fill_next_token_bitmask(mask, at)
            if matchers:
                xgrammar.apply_token_bitmask_inplace(logits, mask.to(self._device))
            applied = self._wait()
            if matchers:  # a random model never ends by itself: what is short and ends something is likelier
                logits[:, :95] += 3.0
                logits[:, self._end] += 6.0
            tokens = torch.multinomial(torch.softmax(logits, -1), 1)
            picked = tokens[:, 0].tolist()
            chosen = self._wait()
            for at in range(len(matchers)):
                if ended[at]:
                    continue
                if picked[at] == self._end:
                    ended[at] = True
                    continue
                deltas[at] += parsers[at].feed(self._words[picked[at]])
            parsed = self._wait()
            for at, matcher in enumerate(matchers):
                if picked[at] != self._end and not ended[at] and not matcher.accept_token(picked[at]):
                    raise AssertionError("a token outside the mask")
            accepted = self._wait()
            self.seconds["model"] += (masked - start) + (chosen - applied)
            self.seconds["mask"] += (applied - masked) + (accepted - parsed)
            self.seconds["parser"] += parsed - chosen
            self.steps += 1
            if matchers and all(ended):
                break
        return [assemble(deltas[at] + parser.finish()) for at, parser in enumerate(parsers) if ended[at]]


def main() -> int:
    """Print the table; the status is 1 when a response that ended is not a valid call."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--seconds", type=float, default=200.0, help="no dialect is begun after so long")
    options.add_argument("--output", type=Path)
    arguments = options.parse_args()
    began = perf_counter()
    device = arguments.device
    torch.set_grad_enabled(False)
    vocabulary = words()
    info = xgrammar.TokenizerInfo(vocabulary, vocab_size=VOCABULARY, stop_token_ids=[VOCABULARY - 1])
    compiler = xgrammar.GrammarCompiler(info)
    model = model_on(device)
    machine = torch.cuda.get_device_name() if device == "cuda" else f"CPU, {platform.machine()}"
    lines = [
        f"{machine}; torch {torch.__version__}; {VOCABULARY:,} words; ratios to a step without a grammar.",
        "",
        "| dialect | batch | ended and valid | not ended | mask | parser |",
        "|---|---|---|---|---|---|",
    ]
    failed = False
    for batch in (1, 32):
        base = Run(model, vocabulary, device, batch)
        base.generate(None, "hermes", 8)  # warm
        base = Run(model, vocabulary, device, batch)
        base.generate(None, "hermes", 24)
        step = base.seconds["model"] / base.steps
        for dialect in list_dialects():
            if perf_counter() - began > arguments.seconds * (0.4 if batch == 1 else 1):
                lines.append(f"| {dialect} | {batch} | not run: time | | | |")
                continue
            tag = structural_tag(dialect, TOOLS, "required")
            grammar = compiler.compile_structural_tag(json.dumps(tag))
            run = Run(model, vocabulary, device, batch)
            messages = run.generate(grammar, dialect, 160 if device == "cuda" else 80)
            valid = sum(_valid(message) for message in messages)
            failed = failed or valid < len(messages)
            per_step = {part: seconds / run.steps / step for part, seconds in run.seconds.items()}
            lines.append(
                f"| {dialect} | {batch} | {valid} of {len(messages)} | {batch - len(messages)} "
                f"| {per_step['mask']:.3f} | {per_step['parser']:.3f} |"
            )
    print("\n".join(lines))
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(failed)


def _valid(message: Any) -> bool:
    """Whether a message is calls of the tools, with arguments as their schemas ask."""
    for call in message.tool_calls:
        values = json.loads(call.arguments)
        if call.name == "ping":
            if values:
                return False
        elif not (
            len(values["title"]) <= 16 and 1 <= values["seats"] <= 9 and set(values.get("tags", ())) <= {"a", "b"}
        ):
            return False
    return bool(message.tool_calls) and message.content is None


if __name__ == "__main__":
    sys.exit(main())
