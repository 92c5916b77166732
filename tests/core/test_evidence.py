"""What an adapter knows beyond the text: control tokens, an enforced grammar, the prompt, the finish reason."""

from __future__ import annotations

import json
import re

import pytest
from corpus import std_tools
from harness import make_id

from toolglot.core import Message, ResponseParser, assemble, get_dialect, parse, prompt_opens_reasoning
from toolglot.core.serving.prompt import Thinking, thinking_of_arguments


def spans(text: str, *tokens: str) -> list[tuple[int, int]]:
    """The first occurrence of each token behind the one before."""
    found, at = [], 0
    for token in tokens:
        start = text.index(token, at)
        at = start + len(token)
        found.append((start, at))
    return found


def test_only_control_tokens_are_markers_where_the_engine_knows() -> None:
    """Harmony encodes a body without special tokens: a marker quoted in it is text, and only the engine can tell."""
    raw = "<|channel|>final<|message|>Write <|end|> to end.<|return|>"
    body = raw.index("<|end|>")
    known = [*spans(raw, "<|channel|>", "<|message|>"), (raw.index("<|return|>"), len(raw))]
    parser = ResponseParser("gpt_oss", std_tools())
    message = assemble([*parser.feed(raw, known), *parser.finish()])
    assert message.content == "Write <|end|> to end."
    # The same in two chunks, spans being relative to each.
    parser = ResponseParser("gpt_oss", std_tools())
    first, second = raw[: body + 3], raw[body + 3 :]
    deltas = parser.feed(first, spans(first, "<|channel|>", "<|message|>"))
    deltas += parser.feed(second, spans(second, "<|return|>")) + parser.finish()
    assert assemble(deltas).content == "Write <|end|> to end."
    # By text alone it is a marker, and the rest is content between messages.
    assert parse(raw, "gpt_oss", std_tools()).content == "Write  to end."


def test_a_quoted_opener_is_text_where_the_engine_knows() -> None:
    raw = '[TOOL_CALLS]ping[ARGS]{} and [TOOL_CALLS]ping[ARGS]{} quoted'
    parser = ResponseParser("mistral", std_tools(), make_id=make_id)
    message = assemble([*parser.feed(raw, spans(raw, "[TOOL_CALLS]")), *parser.finish()])
    assert [call.name for call in message.tool_calls] == ["ping"]
    assert message.content == " and [TOOL_CALLS]ping[ARGS]{} quoted"


def test_a_quoted_closer_is_data_where_the_engine_knows() -> None:
    """Kimi K3 encodes values without special tokens: even a whole end of the call is data there."""
    quoted = "<|close|>argument<|sep|><|close|>call<|sep|>"
    head = '<|open|>call tool="write_file" index="1"<|sep|><|open|>argument key="content" type="string"<|sep|>a'
    raw = f"<|close|>response<|sep|><|open|>tools<|sep|>{head}{quoted}<|close|>argument<|sep|><|close|>call<|sep|>"
    place = raw.index(quoted)
    tokens = re.finditer(r"<\|(?:open|close|sep)\|>", raw)
    known = [token.span() for token in tokens if not place <= token.start() < place + len(quoted)]
    for size in (1, 7, len(raw)):
        parser = ResponseParser("kimi_k3", std_tools(), make_id=make_id)
        deltas = []
        for at in range(0, len(raw), size):
            inside = [(max(a - at, 0), b - at) for a, b in known if at < b and a < at + size]
            deltas += parser.feed(raw[at : at + size], [(a, min(b, size)) for a, b in inside])
        (call,) = assemble([*deltas, *parser.finish()]).tool_calls
        assert json.loads(call.arguments) == {"content": "a" + quoted}
        assert call.complete
    # By text alone the first closer is followed by what follows a real one.
    (call,) = parse(raw, "kimi_k3", std_tools()).tool_calls
    assert json.loads(call.arguments) == {"content": "a"}


def test_no_control_tokens_is_not_the_same_as_not_known() -> None:
    raw = "[TOOL_CALLS]ping[ARGS]{}"
    parser = ResponseParser("mistral", std_tools())
    assert assemble([*parser.feed(raw, []), *parser.finish()]).content == raw
    assert len(parse(raw, "mistral", std_tools()).tool_calls) == 1


RAW = (
    "<tool_call>\n<function=book>\n<parameter=title>\nx\n</parameter>\n<parameter=tags>\n"
    '["a", "b"]\n</parameter>\n<parameter=seats>\n12\n</parameter>\n</function>\n</tool_call>'
)


def stream(constrained: bool) -> tuple[Message, int]:
    """The message, and after how many characters the first tag was out."""
    parser = ResponseParser("qwen3_coder", std_tools(), constrained=constrained, make_id=make_id)
    deltas, seen = [], -1
    for count, char in enumerate(RAW, 1):
        deltas += parser.feed(char)
        text = "".join(d.arguments or "" for d in deltas if d.kind == "tool_call")
        if seen < 0 and '["a"' in text:
            seen = count
    return assemble([*deltas, *parser.finish()]), seen


def test_typed_values_stream_under_an_enforced_grammar() -> None:
    """The same result, earlier."""
    loose, late = stream(False)
    tight, early = stream(True)
    assert tight == loose
    assert loose.tool_calls[0].arguments == '{"title": "x", "tags": ["a", "b"], "seats": 12}'
    assert early < RAW.index('"b"') + 2 < late


@pytest.mark.parametrize(
    ("dialect", "prompt", "opened"),
    [
        ("hermes", "<|im_start|>assistant\n", False),
        ("hermes", "<|im_start|>assistant\n<think>\n", True),
        ("hermes", "<think>\nhm\n</think>\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n", True),
        ("hermes", "a <think> b<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("deepseek_v31", "hi<｜Assistant｜><think>", True),
        ("deepseek_v31", "hi<｜Assistant｜></think>", False),
        ("kimi_k2", "<|im_assistant|>assistant<|im_middle|><think>", True),
        ("kimi_k2", "<|im_assistant|>assistant<|im_middle|><think></think>", False),
        ("llama4_pythonic", "<|header_start|>assistant<|header_end|>\n\n", False),
        ("glm45", "Hi<|assistant|>", False),
        ("glm45", "Hi<|assistant|>\n<think></think>", False),
        ("glm47", "Hi<|assistant|><think>", True),
        ("glm47", "Hi<|assistant|></think>", False),
        ("seed_oss", "<seed:eos><seed:bos>assistant\n", False),
        ("seed_oss", "<seed:eos><seed:bos>assistant\n<seed:think><seed:cot_budget_reflect>", True),
        ("minimax_m2", "Hi[e~[\n]~b]ai\n<think>\n", True),
        ("step3", "Hi<|EOT|><|BOT|>assistant\n<think>\n", True),
        ("step3p5", "Hi<|im_end|>\n<|im_start|>assistant\n<think>\n", True),
        ("mimo", "Hi<|im_end|><|im_start|>assistant\n", False),
        ("mimo", "Hi<|im_end|><|im_start|>assistant\n<think></think>", False),
        ("hy_v3", "Hi<｜hy_Assistant:opensource｜><think:opensource></think:opensource>", False),
        ("hy_v3", "Hi<｜hy_Assistant:opensource｜><think:opensource>", True),
        ("hy_v4", "Hi<｜hy_Assistant:6124c78e｜><think:6124c78e>", True),
    ],
)
def test_the_prompt_says_where_generation_begins(dialect: str, prompt: str, opened: bool) -> None:
    assert prompt_opens_reasoning(dialect, prompt) is opened


@pytest.mark.parametrize(
    ("dialect", "arguments", "thinking"),
    [
        ("glm45", {}, Thinking.FREE),
        ("glm47", {}, Thinking.OPEN),  # its template always opens a block
        ("glm47", {"enable_thinking": False}, Thinking.CLOSED),
        ("minimax_m2", {}, Thinking.OPEN),
        ("hy_v3", {}, Thinking.FREE),
        ("hy_v3", {"reasoning_effort": "high"}, Thinking.OPEN),
        ("hy_v3", {"reasoning_effort": "no_think"}, Thinking.CLOSED),
        ("hy_v4", {"reasoning_effort": None}, Thinking.OPEN),
    ],
)
def test_the_arguments_of_the_template_say_it_where_there_is_no_prompt(
    dialect: str, arguments: dict[str, object], thinking: Thinking
) -> None:
    assert thinking_of_arguments(get_dialect(dialect), arguments) is thinking


def test_reasoning_that_is_always_opened_can_be_closed_already() -> None:
    for start, content, reasoning in ((None, None, "Hi"), (True, None, "Hi"), (False, "Hi", None)):
        message = parse("Hi", "minimax_m2", std_tools(), starts_in_reasoning=start)
        assert (message.content, message.reasoning) == (content, reasoning)


def test_a_model_that_stops_behind_an_opener_quoted_it() -> None:
    raw = "The tag is <tool_call>"
    for reason, content in (("stop", raw), ("length", "The tag is "), (None, "The tag is ")):
        parser = ResponseParser("hermes", std_tools())
        assert assemble([*parser.feed(raw), *parser.finish(reason)]).content == content
