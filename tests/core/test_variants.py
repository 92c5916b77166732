"""Checkpoints whose markers carry a suffix: the tokenizer says which, and nothing else changes."""

from __future__ import annotations

import pytest
from corpus import CorpusLine, all_lines
from harness import Result, expected_result, make_id, run

from toolglot.core import ConfigurationError, ResponseParser, get_dialect, list_dialects
from toolglot.core.serving.tokens import as_spelled, check_tokenizer

SUFFIXES = {"hy_v3": ":opensource", "hy_v4": ":6124c78e"}


def respells(line: CorpusLine) -> bool:
    """Whether all of its markers are whole, so that putting in another suffix says the same."""
    suffix = SUFFIXES.get(line.dialect, "")
    rest = line.raw.replace(suffix + ">", "")
    return bool(suffix) and rest != line.raw and suffix[:4] not in rest and "<tool_calls>" not in rest


LINES = [line for line in all_lines() if respells(line)]


class Tokenizer:
    """As much of one as is asked for."""

    def __init__(self, *tokens: str) -> None:
        self._vocabulary = {token: number for number, token in enumerate(tokens)}

    def get_vocab(self) -> dict[str, int]:
        return self._vocabulary


def respelled(text: str | None, old: str, new: str) -> str | None:
    return None if text is None else text.replace(old + ">", new + ">")


def test_every_dialect_with_variants_is_tested() -> None:
    assert len(LINES) > 50
    assert {name for name in list_dialects() if get_dialect(name).variants is not None} == set(SUFFIXES)


@pytest.mark.parametrize("suffix", ["", ":x1", ":opensource"])
@pytest.mark.parametrize("line", LINES, ids=str)
def test_other_suffix(line: CorpusLine, suffix: str) -> None:
    variants = get_dialect(line.dialect).variants
    assert variants is not None
    own = SUFFIXES[line.dialect]
    wanted = expected_result(line)
    calls = tuple(
        type(call)(call.name, str(respelled(call.arguments, own, suffix)), call.complete, call.id)
        for call in wanted.calls
    )
    wanted = Result(respelled(wanted.content, own, suffix), respelled(wanted.reasoning, own, suffix), calls)
    raw = str(respelled(line.raw, own, suffix))
    for chunks in ([raw], list(raw)):
        parser = ResponseParser(variants.of(suffix), line.tools, make_id=make_id, **line.options)
        assert run(parser, chunks, line.finish_reason) == wanted


@pytest.mark.parametrize("dialect", sorted(SUFFIXES))
def test_the_vocabulary_says_which(dialect: str) -> None:
    spec = get_dialect(dialect)
    own = SUFFIXES[dialect]
    assert spec.openers[0].on[0].text == f"<tool_calls{own}>"
    for suffix in ("", ":x1"):
        tokens = [f"<{tag}{suffix}>" for tag in ("tool_calls", "/tool_calls", "tool_call")]
        tokenizer = Tokenizer("<tool_callsy>", "a", *tokens)
        found = as_spelled(spec, tokenizer)
        assert found.name == dialect
        assert found.openers[0].on[0].text == f"<tool_calls{suffix}>"
        assert as_spelled(spec, tokenizer) is found
        check_tokenizer(tokenizer, found)
    assert as_spelled(spec, Tokenizer(f"<tool_calls{own}>", "<tool_calls:x1>")) is spec
    assert as_spelled(spec, None) is spec


def test_a_tokenizer_without_the_markers_is_refused() -> None:
    spec = get_dialect("hy_v3")
    tokenizer = Tokenizer("<tool_call>", "a")
    with pytest.raises(ConfigurationError, match="<tool_calls:opensource>"):
        check_tokenizer(tokenizer, as_spelled(spec, tokenizer))
    assert as_spelled(get_dialect("hermes"), tokenizer) is get_dialect("hermes")
