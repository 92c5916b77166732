"""The public API: clear errors on a wrong configuration, aliases, and no state shared between responses."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import CorpusLine, all_lines, std_tools
from harness import expected_result, make_id, new_parser, to_result

from toolglot.core import ResponseParser, assemble, get_dialect, list_dialects, parse

FIVE = ("deepseek_v31", "hermes", "kimi_k2", "llama4_pythonic", "qwen3_coder")
WRONG = (ValueError, TypeError, LookupError)  # what a wrong configuration may raise
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def test_dialects_are_listed() -> None:
    listed = list(list_dialects())
    assert listed == sorted(set(listed))
    assert set(FIVE) | {"gpt_oss", "mistral"} <= set(listed)
    assert [get_dialect(name).name for name in listed] == listed


@pytest.mark.parametrize(
    ("alias", "name"),
    [("qwen3_xml", "qwen3_coder"), ("harmony", "gpt_oss"), ("openai", "gpt_oss"), ("qwen3_json", "hermes")],
)
def test_aliases(alias: str, name: str) -> None:
    assert get_dialect(alias).name == name
    assert alias not in list_dialects()
    assert parse("Hello.", dialect=alias) is not None


def test_every_alias_resolves() -> None:
    seen: dict[str, str] = {}
    for name in list_dialects():
        for alias in (name, *get_dialect(name).aliases):
            assert get_dialect(alias).name == name
            assert seen.setdefault(alias, name) == name, f"{alias} is claimed twice"


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("qwen3_code", "qwen3_coder"),
        ("hermess", "hermes"),
        ("deepseek_v3.1", "deepseek_v31"),
        ("kimi-k2", "kimi_k2"),
        ("", "hermes"),
    ],
)
def test_unknown_dialect(wrong: str, near: str) -> None:
    """The message names what was asked for and a near match, or else what there is."""
    for make in (get_dialect, ResponseParser, lambda name: parse("x", dialect=name)):
        try:
            make(wrong)
        except WRONG as error:
            assert near in str(error)
            assert wrong in str(error)
        else:  # a dash for an underscore may be accepted as an alias
            assert get_dialect(wrong).name == near


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "function"},
        {"type": "function", "function": {}},
        {"type": "function", "function": {"name": ""}},
        {"type": "function", "function": {"name": 7}},
        {"type": "function", "function": "add"},
        {"type": "function", "function": {"name": "add", "parameters": "none"}},
        {"type": 7},
        "add",
        None,
        7,
    ],
    ids=repr,
)
def test_bad_tool_is_named(entry: Any) -> None:
    """The error says which entry is wrong."""
    for tools in ([entry], [*std_tools()[:2], entry]):
        with pytest.raises(WRONG, match=rf"\b{len(tools) - 1}\b"):
            ResponseParser("hermes", tools=tools)


@pytest.mark.parametrize("tools", [{"type": "function"}, "add", 7, {}])
def test_tools_must_be_a_list(tools: Any) -> None:
    with pytest.raises(WRONG, match="tools"):
        ResponseParser("hermes", tools=tools)


def test_other_tools_are_left_out() -> None:
    """Tools of other types have no function to call; the flat form of the Responses API has one."""
    tools = [{"type": "web_search"}, {"type": "function", "name": "add", "parameters": {}}]
    assert [call.name for call in parse(CALL, dialect="hermes", tools=tools).tool_calls] == ["add"]


def test_tool_without_parameters_is_fine() -> None:
    for parameters in ({}, {"parameters": None}, {"parameters": {}}):
        tools = [{"type": "function", "function": {"name": "add", **parameters}}]
        assert parse(CALL, dialect="hermes", tools=tools).tool_calls[0].name == "add"


def test_required_needs_tools() -> None:
    with pytest.raises(WRONG, match="required"):
        ResponseParser("hermes", tools=[], tool_choice="required")


@pytest.mark.parametrize("tools", [[], "std"])
def test_named_tool_must_be_offered(tools: Any) -> None:
    with pytest.raises(WRONG, match="subtract"):
        ResponseParser("hermes", tools=std_tools() if tools == "std" else tools, tool_choice=named("subtract"))


def test_allowed_tools() -> None:
    """`allowed_tools` narrows the accepted names."""
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named("ping")]}}
    message = parse("Hm." + CALL, dialect="hermes", tools=std_tools(), tool_choice=choice)
    assert (message.content, message.tool_calls) == ("Hm.", [])
    with pytest.raises(WRONG, match="subtract"):
        choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named("subtract")]}}
        ResponseParser("hermes", tools=std_tools(), tool_choice=choice)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("undeclared_tools", "ignore"),
        ("reasoning_calls", "suspend"),
        ("arguments", "whole"),
        ("tool_choice", "sometimes"),
        ("tool_choice", {"type": "function"}),
        ("tool_choice", 7),
    ],
)
def test_unknown_option_value(option: str, value: Any) -> None:
    with pytest.raises(WRONG, match=option):
        ResponseParser("hermes", tools=std_tools(), **{option: value})


def test_unknown_option() -> None:
    with pytest.raises(TypeError, match="undeclared"):
        ResponseParser("hermes", undeclared="drop")
    with pytest.raises(TypeError, match="undeclared"):
        parse("x", dialect="hermes", undeclared="drop")


def test_after_the_end() -> None:
    parser = ResponseParser("hermes")
    assert [delta.text for delta in [*parser.feed("Hello"), *parser.finish()]] == ["Hello"]
    with pytest.raises((RuntimeError, ValueError), match="finish"):
        list(parser.feed("more"))


def test_empty_input() -> None:
    for dialect in list_dialects():
        parser = ResponseParser(dialect, tools=std_tools())
        assert [*parser.feed(""), *parser.feed(""), *parser.finish()] == []
        message = parse("", dialect=dialect)
        assert (message.content, message.reasoning, message.tool_calls) == (None, None, [])
        message = assemble([])
        assert (message.content, message.reasoning, message.tool_calls) == (None, None, [])


def test_own_ids_differ() -> None:
    """Made ids are non-empty, differ from call to call, and from response to response."""
    first = parse(CALL + CALL, dialect="hermes", tools=std_tools())
    second = parse(CALL, dialect="hermes", tools=std_tools())
    ids = [call.id for call in (*first.tool_calls, *second.tool_calls)]
    assert len(ids) == len(set(ids)) == 3
    assert all(ids)


def test_make_id_is_asked_once_a_call() -> None:
    asked: list[tuple[str, int]] = []

    def record(name: str, index: int) -> str:
        asked.append((name, index))
        return f"id-{index}"

    tools = std_tools()
    dropped = CALL.replace("add", "nope")
    message = parse(dropped + CALL + CALL, dialect="hermes", tools=tools, make_id=record)
    assert asked == [("add", 0), ("add", 1)]
    assert [call.id for call in message.tool_calls] == ["id-0", "id-1"]


def test_request_is_not_changed() -> None:
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}]
    before = repr(tools)
    parse(CALL, dialect="hermes", tools=tools)
    assert repr(tools) == before
    assert parse(CALL, dialect="hermes", tools=tuple(tools)).tool_calls[0].name == "add"


def test_anomalies_count_and_warn_once(caplog: pytest.LogCaptureFixture) -> None:
    """Two dropped calls: two in the counter, one warning."""
    parser = ResponseParser("hermes", tools=std_tools())
    assert parser.anomalies["undeclared_tool"] == 0
    dropped = CALL.replace("add", "nope")
    with caplog.at_level("WARNING"):
        deltas = [*parser.feed("x" + dropped + dropped), *parser.finish()]
    assert [delta.text for delta in deltas] == ["x"]
    assert parser.anomalies["undeclared_tool"] == 2
    assert parser.anomalies["dropped_characters"] >= 2 * len("nope")
    assert len([record for record in caplog.records if "undeclared_tool" in record.getMessage()]) == 1


@pytest.mark.parametrize("dialect", list_dialects())
def test_no_shared_state(dialect: str) -> None:
    """All responses of a corpus at once, one character each in turn, give what each gives alone."""
    lines: list[CorpusLine] = [line for line in all_lines() if line.dialect == dialect]
    running = [(line, new_parser(line), []) for line in lines]
    for place in range(max((len(line.raw) for line in lines), default=0)):
        for line, parser, deltas in running:
            if place < len(line.raw):
                deltas.extend(parser.feed(line.raw[place]))
    for line, parser, deltas in running:
        deltas.extend(parser.finish(line.finish_reason))
        assert to_result(assemble(deltas)) == expected_result(line), line.id


@pytest.mark.parametrize("dialect", list_dialects())
def test_parse_is_the_stream(dialect: str) -> None:
    for line in all_lines():
        if line.dialect != dialect or line.finish_reason is not None:
            continue
        parser = new_parser(line)
        deltas = [delta for char in line.raw for delta in parser.feed(char)]
        deltas += parser.finish()
        message = parse(line.raw, dialect=dialect, tools=line.tools, make_id=make_id, **line.options)
        assert to_result(message) == to_result(assemble(deltas)), line.id


def test_constrained_changes_no_result() -> None:
    """`constrained=True` may only send earlier."""
    for line in all_lines():
        parser = new_parser(line, constrained=True)
        deltas = [delta for char in line.raw for delta in parser.feed(char)]
        deltas += parser.finish(line.finish_reason)
        if line.expected["tool_calls"] and all(call["complete"] for call in line.expected["tool_calls"]):
            names = [call["name"] for call in line.expected["tool_calls"]]
            assert [call.name for call in assemble(deltas).tool_calls] == names, line.id


def test_controls_are_accepted() -> None:
    """The engine may say which spans of a chunk are control tokens; those it names count."""
    parser = ResponseParser("hermes", tools=std_tools(), make_id=make_id)
    start, end = CALL.index("<tool_call>"), CALL.index("</tool_call>")
    spans = [(start, start + len("<tool_call>")), (end, end + len("</tool_call>"))]
    message = assemble([*parser.feed(CALL, controls=spans), *parser.finish("stop")])
    assert [call.name for call in message.tool_calls] == ["add"]


def test_abandon_gives_back_what_is_unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter's last resort after a defect: nothing of the text is lost."""
    parser = ResponseParser("hermes")
    deltas = [*parser.feed("Hi"), *parser.feed(" there.\n<tool_c")]

    def broken(*_: object) -> bool:
        raise RuntimeError("a defect")

    monkeypatch.setattr("toolglot.core.machine.Machine._text", broken)
    chunk = "all>{"
    with pytest.raises(RuntimeError):
        parser.feed(chunk)
    message = assemble([*deltas, *parser.abandon(chunk)])
    assert message.content == "Hi there.\n<tool_call>{"
    assert parser.finish() == []
