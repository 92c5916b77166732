"""A tiny chat model with random weights, made in seconds, that a real engine can serve on a CPU.

    python scripts/tiny_model.py        # prints the model's directory

Its output is noise: what makes its tool calls valid is the grammar that a structural tag puts on them, so
it shows the whole way from request to deltas without a download. Needs what the engine's environment has
(torch, transformers, tokenizers).
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# The markers of the dialects, as the models' own tokenizers hold them: plain added tokens survive decoding,
# special ones are removed unless the parser asks for them.
PLAIN_MARKERS = [
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<tool_calls>",
    "</tool_calls>",
    "<think>",
    "</think>",
    # GLM
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    # Seed-OSS, MiniMax
    "<seed:tool_call>",
    "</seed:tool_call>",
    "<seed:think>",
    "</seed:think>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    # MiniMax M3
    "]<]minimax[>[",
    "<mm:think>",
    "</mm:think>",
]
SPECIAL_MARKERS = [
    # DeepSeek
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
    "｜DSML｜",
    # Kimi
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_end|>",
    "<|tool_call_argument_begin|>",
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    # Llama
    "<|python_start|>",
    "<|python_end|>",
    "<|eom|>",
    "<|eot|>",
    "<|python_tag|>",
    # InternLM
    "<|action_start|>",
    "<|action_end|>",
    "<|plugin|>",
    "<|interpreter|>",
    # Granite 3, Phi-4-mini
    "<|tool_call|>",
    "<|/tool_call|>",
    # gpt-oss
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|return|>",
    "<|call|>",
    # Step3
    "<｜tool_calls_begin｜>",
    "<｜tool_calls_end｜>",
    "<｜tool_call_begin｜>",
    "<｜tool_call_end｜>",
    "<｜tool_sep｜>",
    # Hunyuan, each with its own suffix
    *(
        f"<{slash}{tag}{suffix}>"
        for suffix in (":opensource", ":6124c78e")
        for tag in ("think", "tool_calls", "tool_call", "arg_key", "arg_value")
        for slash in ("", "/")
    ),
    "<tool_sep:opensource>",
    # Apertus
    "<|tools_prefix|>",
    "<|tools_suffix|>",
    "<|inner_prefix|>",
    "<|inner_suffix|>",
    # LFM2
    "<|tool_call_start|>",
    "<|tool_call_end|>",
    # Gemma 4, FunctionGemma
    "<|tool_call>",
    "<tool_call|>",
    '<|"|>',
    "<|channel>",
    "<channel|>",
    "<start_function_call>",
    "<end_function_call>",
    "<escape>",
    # LongCat, IQuest, K2-Horizon
    *(
        f"<{slash}{tag}>"
        for tag in ("longcat_tool_call", "longcat_arg_key", "longcat_arg_value", "longcat_think", "iquest_tool_call")
        for slash in ("", "/")
    ),
    *(
        f"<{slash}ifm|{tag}>"
        for tag in ("think", "think_fast", "think_faster", "tool_calls", "tool_call", "arg_key", "arg_type",
                    "arg_value")
        for slash in ("", "/")
    ),
    # GigaChat 3.5, MiniCPM5
    "｜GCML｜",
    "<function",
    "</function>",
    "<param",
    "</param>",
    "<![CDATA[",
    "]]>",
    # Mistral
    "[TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "[THINK]",
    "[/THINK]",
    # Command
    *(
        f"<|{edge}_{tag}|>"
        for tag in ("THINKING", "ACTION", "RESPONSE", "TEXT")
        for edge in ("START", "END")
    ),
    # GigaChat 3
    "<|message_sep|>\n\n",
    "<|role_sep|>\n",
    "<|function_call|>",
    # PLaMo 3
    "<|plamo:begin_",
    "<|plamo:end_",
    ":plamo|>",
    "<|plamo:constrain|>",
    "<|plamo:msg|>",
    "<|plamo:tag|>",
    # Inkling
    "<|message_model|>",
    "<|end_message|>",
    *(f"<|content_{kind}|>" for kind in ("thinking", "text", "invoke_tool_json", "invoke_tool_text", "tool_error")),
    "<|content_model_end_sampling|>",
]
CHAT_MARKERS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PIECES = 2000

CHAT_TEMPLATE = """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- '# Tools\\n\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each call, write\\n<tool_call>\\n' }}
{{- '{"name": <name>, "arguments": <object>}\\n</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{%- set function = call.function if call.function else call %}
{{- '\\n<tool_call>\\n{"name": "' + function.name + '", "arguments": ' }}
{{- function.arguments if function.arguments is string else (function.arguments | tojson) }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif not (loop.first and message.role == 'system') %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}
"""


def training_text(lines: int = 6000) -> list[str]:
    """Text to learn pieces from: made-up prose, JSON, tags and code, the same on every run."""
    dice = random.Random(20)
    syllables = [a + b for a in "bcdfghklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "or", "st")]
    words = ["".join(dice.choices(syllables, k=dice.choice((1, 2, 2, 3)))) for _ in range(900)]
    words += ["the", "of", "and", "to", "in", "is", "for", "that", "with", "weather", "city", "unit", "name"]

    def some(count: int) -> list[str]:
        return dice.choices(words, k=count)

    text = []
    for _ in range(lines):
        kind = dice.randrange(5)
        first, second, third = some(3)
        number = dice.randrange(100_000)
        if kind == 0:
            text.append(f'{{"name": "get_{first}", "arguments": {{"{second}": "{third}", "n": {number}, "ok": 1}}}}')
        elif kind == 1:
            text.append(f"<function=get_{first}>\n<parameter={second}>\n{third} {number}\n</parameter>\n</function>")
        elif kind == 2:
            text.append(f"[get_{first}({second}='{third}', n={number / 100})] functions.{first}:0")
        elif kind == 3:
            text.append(f'def {first}({second}: int) -> str:\n    return f"{{{second}}} {third}"  # {number}\n')
        else:
            text.append(" ".join(some(12)).capitalize() + f", {number}. Žluťoučký kůň, 天气, héé?")
    return text


def _tokenizer() -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    raw.train_from_iterator(training_text(), trainer)
    raw.add_special_tokens(CHAT_MARKERS)
    raw.add_special_tokens([AddedToken(marker, special=True, normalized=False) for marker in SPECIAL_MARKERS])
    raw.add_tokens([AddedToken(marker, special=False, normalized=False) for marker in PLAIN_MARKERS])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        model_max_length=4096,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def _save(folder: Path) -> None:
    """Write tokenizer, configuration and weights."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = _tokenizer()
    torch.manual_seed(20)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=64,  # vLLM's CPU attention has no kernel for smaller heads
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def tiny_model(cache: Path | None = None) -> Path:
    """The model's directory, made if it is not there; its name changes with this file."""
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    target = (cache or ROOT / ".cache") / f"tiny-model-{version}"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="tiny-model-", dir=target.parent))
    try:
        _save(scratch)
        os.rename(scratch, target)
    except OSError:
        if not target.exists():  # else another process was faster
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


if __name__ == "__main__":
    print(tiny_model())
    sys.exit(0)
