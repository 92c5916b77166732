"""Real encoders write the calls, the core reads them back: mistral-common and openai-harmony, which vLLM brings along.

The text is what a model of the family is trained to write, and the spans of its control tokens are known. So a marker
that stands in an argument or in the reasoning, spelled by ordinary tokens, must come back as text.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolglot.core import Message, ResponseParser, assemble

CALLS = [
    ("get_weather", {"city": "Rome", "days": 3}),
    ("ping", {}),
    ("write_file", {"path": "é/東京.md", "content": 'a "q" \\ \n [TOOL_CALLS]x[ARGS]{} <|call|><|end|> [/THINK] 😀'}),
    ("book", {"title": "007", "vip": True, "price": 1.5, "tags": ["[", "}"], "opts": {"name": "x"}, "note": None}),
]
TRICKY = "see [TOOL_CALLS]ping[ARGS]{} or <|end|><|start|>assistant<|channel|>final<|message|>"
Span = tuple[int, int]


def cut(text: str, controls: Sequence[Span], dice: random.Random) -> list[tuple[str, list[Span]]]:
    """The text in a few chunks, each with its own control spans; a token is never cut."""
    inner = {at for start, end in controls for at in range(start + 1, end)}
    places = [at for at in range(1, len(text)) if at not in inner]
    cuts = sorted(dice.sample(places, min(len(places), dice.randint(0, 12))))
    bounds = list(zip([0, *cuts], [*cuts, len(text)], strict=True))
    return [
        (text[start:end], [(a - start, b - start) for a, b in controls if start <= a and b <= end])
        for start, end in bounds
    ]


def read_back(dialect: str, text: str, controls: Sequence[Span]) -> Message:
    """The message, the same for every chunking."""
    found = []
    for seed in range(20):
        parser = ResponseParser(dialect, make_id=lambda name, index: f"made{index}")
        chunks = cut(text, controls, random.Random(seed)) if seed else [(text, list(controls))]
        deltas = [delta for chunk, spans in chunks for delta in parser.feed(chunk, spans)]
        found.append(assemble([*deltas, *parser.finish("stop")]))
    assert all(message == found[0] for message in found)
    return found[0]


def calls_of(message: Message) -> list[tuple[str, Any]]:
    assert all(call.complete for call in message.tool_calls)
    return [(call.name, json.loads(call.arguments)) for call in message.tool_calls]


# -- Mistral ------------------------------------------------------------------------------------------------


SPECIAL = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
LATER = ("[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]")


def mistral_tokenizer(version: str, folder: Path) -> Any:
    """A tokenizer of the version. mistral-common ships those before v11; later ones differ in their control tokens."""
    import mistral_common
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    if version in ("v3", "v7"):
        return MistralTokenizer.v3(is_tekken=True) if version == "v3" else MistralTokenizer.v7()
    model = json.loads((Path(mistral_common.__file__).parent / "data" / "tekken_240911.json").read_text())
    count = model["config"]["default_num_special_tokens"]
    names = [*SPECIAL, *(f"<SPECIAL_{at}>" for at in range(len(SPECIAL), 32)), *LATER[: 2 if version == "v11" else 4]]
    names += [f"<SPECIAL_{at}>" for at in range(len(names), count)]
    model["special_tokens"] = [
        {"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(names)
    ]
    model["vocab"] = model["vocab"][:20_000]
    model["config"] |= {"version": version, "default_vocab_size": 20_000 + count}
    path = folder / "tekken.json"
    path.write_text(json.dumps(model))
    return MistralTokenizer.from_file(str(path))


def mistral_text(tokenizer: Any, message: Any) -> tuple[str, list[Span]]:
    """What the tokenizer makes of an assistant's message in a conversation, up to the end of its turn."""
    from mistral_common.protocol.instruct.messages import ToolMessage, UserMessage
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

    results = [ToolMessage(tool_call_id=call.id, content="1") for call in message.tool_calls]
    request = ChatCompletionRequest(messages=[UserMessage(content="Go."), message, *results])
    ids = tokenizer.encode_chat_completion(request).tokens
    inner = tokenizer.instruct_tokenizer.tokenizer
    begin = ids.index(inner.get_special_token("[/INST]")) + 1
    ids = ids[begin : ids.index(inner.get_special_token("</s>"))]
    text = ""
    controls: list[Span] = []
    run: list[int] = []
    for number in [*ids, None]:
        if number is not None and not inner.is_special(number):
            run.append(number)
            continue
        text += inner.decode(run, special_token_policy=SpecialTokenPolicy.IGNORE) if run else ""
        run = []
        if number is not None:
            marker = inner.id_to_piece(number)
            controls.append((len(text), len(text) + len(marker)))
            text += marker
    return text, controls


@pytest.mark.parametrize("content", ["", "Let me see."])
@pytest.mark.parametrize("version", ["v3", "v7", "v11", "v13"])
def test_mistral(version: str, content: str, tmp_path: Path) -> None:
    from mistral_common.protocol.instruct.messages import AssistantMessage, TextChunk, ThinkChunk
    from mistral_common.protocol.instruct.tool_calls import FunctionCall, ToolCall

    if version == "v3" and content:
        content = ""  # v3 has content or calls
    chunks: Any = content or None
    if version == "v13":
        chunks = [ThinkChunk(thinking=TRICKY), *([TextChunk(text=content)] if content else [])]
    calls = [
        ToolCall(id=f"abcdefgh{at}", function=FunctionCall(name=name, arguments=json.dumps(arguments)))
        for at, (name, arguments) in enumerate(CALLS)
    ]
    message = AssistantMessage(content=chunks, tool_calls=calls)
    text, controls = mistral_text(mistral_tokenizer(version, tmp_path), message)
    found = read_back("mistral", text, controls)
    assert calls_of(found) == CALLS
    assert (found.content or "").strip() == content
    assert found.reasoning == (TRICKY if version == "v13" else None)
    ids = [call.id for call in found.tool_calls]
    assert ids == ([f"abcdefgh{at}" for at in range(4)] if version == "v11" else [f"made{at}" for at in range(4)])


# -- gpt-oss ------------------------------------------------------------------------------------------------


def harmony_text(messages: list[Any]) -> tuple[str, list[Span]]:
    """The messages as a completion behind ``<|start|>assistant``."""
    from openai_harmony import Conversation, HarmonyEncodingName, load_harmony_encoding

    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    ids = encoding.render_conversation(Conversation.from_messages(messages))
    special = set(encoding.encode("".join(HARMONY), allowed_special="all"))
    text = ""
    controls: list[Span] = []
    run: list[int] = []
    for number in [*ids, None]:
        if number is not None and number not in special:
            run.append(number)
            continue
        text += encoding.decode_utf8(run) if run else ""
        run = []
        if number is not None:
            marker = encoding.decode_utf8([number])
            controls.append((len(text), len(text) + len(marker)))
            text += marker
    begin = len("<|start|>assistant")
    assert text.startswith("<|start|>assistant")
    return text[begin:], [(start - begin, end - begin) for start, end in controls if start >= begin]


HARMONY = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>", "<|return|>")


@pytest.mark.parametrize("preamble", [None, "One moment."])
@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_harmony(name: str, arguments: dict[str, Any], preamble: str | None) -> None:
    from openai_harmony import Message as HarmonyMessage
    from openai_harmony import Role

    def say(text: str, channel: str) -> Any:
        return HarmonyMessage.from_role_and_content(Role.ASSISTANT, text).with_channel(channel)

    call = say(json.dumps(arguments, ensure_ascii=False), "commentary")
    call = call.with_recipient(f"functions.{name}").with_content_type("<|constrain|>json")
    messages = [say(TRICKY, "analysis"), *([say(preamble, "commentary")] if preamble else []), call]
    found = read_back("gpt_oss", *harmony_text(messages))
    assert calls_of(found) == [(name, arguments)]
    assert found.content == preamble
    assert found.reasoning == TRICKY


def test_harmony_answer() -> None:
    from openai_harmony import Message as HarmonyMessage
    from openai_harmony import Role

    answer = HarmonyMessage.from_role_and_content(Role.ASSISTANT, TRICKY).with_channel("final")
    found = read_back("gpt_oss", *harmony_text([answer]))
    assert (found.content, found.reasoning, found.tool_calls) == (TRICKY, None, [])
