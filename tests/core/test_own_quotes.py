"""The literal transcoder for families with a quote token of their own: a call's arguments, whole, split and cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_literals import passed

from toolglot.core.literal_strings import compile_ends
from toolglot.core.literals import LiteralReader
from toolglot.core.schema import ToolSchema

QUOTE = '<|"|>'
CLOSER = "<tool_call|>"
STRING, INTEGER = {"type": "string"}, {"type": "integer"}
SCHEMA = ToolSchema(
    {
        "properties": {
            "s": STRING,
            "i": INTEGER,
            "b": {"type": "boolean"},
            "u": {"type": ["integer", "string"]},
            "n": {"type": ["string", "null"]},
            "zips": {"type": "array", "items": STRING},
            "items": {"items": {"properties": {"sku": STRING, "qty": INTEGER}}},
            "map": {"additionalProperties": STRING},
        }
    }
)


def new_reader(close: str = "}") -> LiteralReader:
    return LiteralReader.of_arguments(close, QUOTE, compile_ends((CLOSER,)), SCHEMA)


def read(chunks: list[str], close: str = "}") -> tuple[str, str, bool]:
    """JSON text, what is left behind the object, and whether it ended."""
    reader = new_reader(close)
    out = rest = ""
    for number, chunk in enumerate(chunks):
        rest += chunk
        round_it = passed(reader, chunk)
        if round_it is not None:
            assert rest == chunk
            out += round_it
            rest = ""
            continue
        pos, text, done = reader.feed(rest, 0, False)
        out += text
        rest = rest[pos:]
        if done:
            return out, rest + "".join(chunks[number + 1 :]), True
        assert len(rest) < len(CLOSER)
    pos, text, done = reader.feed(rest, 0, True)
    return out + text + ("" if done else reader.cut() or ""), rest[pos:], done


def written(text: str, close: str = "}") -> tuple[str, str, bool]:
    """The same under every single split and one character at a time. ``Q`` in the text stands for the quote."""
    text = text.replace("Q", QUOTE)
    whole = read([text], close)
    assert read(list(text), close) == whole
    for place in range(1, len(text)):
        assert read([text[:place], text[place:]], close) == whole
    return whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("}", "{}"),
        ("k:QxQ}", '{"k": "x"}'),
        ("k:QQ,l:Q Q}", '{"k": "", "l": " "}'),
        ("a key:1,Qq:uQ:2, \"j\":3,'p':4}", '{"a key": 1, "q:u": 2, "j": 3, "p": 4}'),
        ("2:x,true:y,None:z}", '{"2": "x", "true": "y", "None": "z"}'),
        # between two quotes nothing is escaped, no marker is one, and a quote is data by what follows it
        ('k:Qa\\n{"b"}, [c] <|"<|<tool_call|>\nQ}', '{"k": "a\\\\n{\\"b\\"}, [c] <|\\"<|<tool_call|>\\n"}'),
        ("k:QaQbQ Q c Q}", '{"k": "a\\"b\\" \\" c "}'),
        ("k:QxQ \n ,l:1}", '{"k": "x", "l": 1}'),
        # bare words: by the schema, else by their own syntax
        ("s:2,i:2,b:True,u:2,x:2}", '{"s": "2", "i": 2, "b": true, "u": 2, "x": 2}'),
        ("s:null,n:null,x:null,y:None}", '{"s": "null", "n": null, "x": null, "y": null}'),
        ("s:02139,i:007,x:1e-05,y:1e+21}", '{"s": "02139", "i": 7, "x": 1e-05, "y": 1e+21}'),
        ("i:two words,x:New York}", '{"i": "two words", "x": "New York"}'),
        ("o:{s:2,i:x}}", '{"o": {"s": 2, "i": "x"}}'),
        ("zips:[02139,Q1Q,null]}", '{"zips": ["02139", "1", "null"]}'),
        ("items:[{sku:7,qty:007,x:1}]}", '{"items": [{"sku": "7", "qty": 7, "x": 1}]}'),
        ("map:{a:1,b:[2]}}", '{"map": {"a": "1", "b": [2]}}'),
        ("x:f(a, b)}", '{"x": "f(a, b)"}'),
        # containers
        ("l:[],o:{},m:[[1],[QaQ,{k:[]}]]}", '{"l": [], "o": {}, "m": [[1], ["a", {"k": []}]]}'),
        ("o:{k v:1.5e-05,w:[QxQ,2,]},}", '{"o": {"k v": 1.5e-05, "w": ["x", 2]}}'),
        ("r:[[Qa]bQ,Qc}Q],[Q[dQ]]}", '{"r": [["a]b", "c}"], ["[d"]]}'),
        # strings as Python or JSON write them
        ("l:[\"x\",'y, z'],o:{\"m\": \"a } \\\"b\\\"\"}}", '{"l": ["x", "y, z"], "o": {"m": "a } \\"b\\""}}'),
        ("f='report.docx'}", '{"f": "report.docx"}'),
        ("s:a=b,o:{k=1:2}}", '{"s": "a=b", "o": {"k=1": 2}}'),
        # strings in a row, as a template writes them
        ('a:QxQ,b:QyQ,c:Q"zQ,d:1,e:QQ,f:QvQ}', '{"a": "x", "b": "y", "c": "\\"z", "d": 1, "e": "", "f": "v"}'),
        ("l:[QaQ,QbQ,Q<|cQ,QQ,QdQ],o:{k:QaQ,s:QbQ},t:QcQ}",
         '{"l": ["a", "b", "<|c", "", "d"], "o": {"k": "a", "s": "b"}, "t": "c"}'),
        # half a pair
        ("a:,x:1,c,:2}", '{"x": 1, "": 2}'),
    ],
)
def test_arguments(text: str, expected: str) -> None:
    assert written(text) == (expected, "", True)
    assert isinstance(json.loads(expected), dict)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k:QxQ<tool_call|>", '{"k": "x"}'),
        ("k:2<tool_call|>", '{"k": 2}'),
        ("k:[1,{a:QbQ<tool_call|>", '{"k": [1, {"a": "b"}]}'),
        ("k:<tool_call|>", "{}"),
        ("k:1,<tool_call|>", '{"k": 1}'),
        ("k<tool_call|>", "{}"),
    ],
)
def test_closer_of_the_block(text: str, expected: str) -> None:
    assert written(text) == (expected, CLOSER, True)


def test_other_bracket() -> None:
    assert written("k:Qls (x)Q)", ")") == ('{"k": "ls (x)"}', "", True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "{}"),
        ("ke", "{}"),
        ("k:", "{}"),
        ("k:Q", '{"k": ""}'),
        ("k:Qab", '{"k": "ab"}'),
        ("k:QabQ", '{"k": "ab"}'),
        ("k:1,l:2", '{"k": 1}'),
        ("k:[QaQ,Qb", '{"k": ["a", "b"]}'),
        ("k:{a:1,b", '{"k": {"a": 1}}'),
        ('k:Qa<|"', '{"k": "a<|\\""}'),
    ],
)
def test_cut(text: str, expected: str) -> None:
    assert written(text) == (expected, "", False)


@given(st.lists(st.sampled_from([QUOTE, CLOSER, *"<|\"'{}[](),:=\\\n a1", "k:", "s:", "true", "e" * 9]), max_size=30))
def test_any_text(pieces: list[str]) -> None:
    """Whatever it is: no exception, one result, an object."""
    text = "".join(pieces)
    whole = read([text])
    assert read(list(text)) == whole
    assert read(pieces) == whole
    assert isinstance(json.loads(whole[0]), dict)
