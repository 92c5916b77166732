"""Who is right where an engine's own parser and the corpus differ, and why: rules that look at what was found.

A rule holds if its condition is true of the two results; the first that holds gives the reason. Where none does, the
reason is given for the line, in ``LINES``. "toolglot": the corpus is right. "open": the format does not say; then
both are sound, and the corpus states the rule that toolglot has chosen (docs/rules.md).
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import jsonschema
from peer_parsers import Response, alike, as_json, same
from template_text import rendered


class Case:
    """One line of the corpus, and what a parser made of it in one way. ``other``: in the other way."""

    def __init__(
        self, dialect: str, line: dict[str, Any], found: Response | Exception, other: Response | Exception
    ) -> None:
        self.dialect, self.line, self.other = dialect, line, other
        expected = line["expected"]
        self.wanted: Response = (
            [(call["name"], call["arguments"]) for call in expected["tool_calls"]], expected["content"] or "",
        )
        self.error = found if isinstance(found, Exception) else None
        self.found: Response = ([], "") if isinstance(found, Exception) else found

    @property
    def id(self) -> str:
        return str(self.line["id"])

    @property
    def same_names(self) -> bool:
        """Whether the calls are the same but for their arguments."""
        return [name for name, _ in self.found[0]] == [name for name, _ in self.wanted[0]]

    @property
    def same_calls(self) -> bool:
        return self.same_names and all(same(a, b) for (_, a), (_, b) in zip(*self.calls, strict=True))

    @property
    def calls(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        return self.found[0], self.wanted[0]

    def pairs(self) -> Iterator[tuple[str, Any, Any]]:
        """Name and both arguments, of calls that differ."""
        for (name, found), (_, wanted) in zip(*self.calls, strict=False):
            if not same(found, wanted):
                yield name, as_json(found), as_json(wanted)

    @cached_property
    def strings(self) -> list[str]:
        """The strings in the expected arguments, keys included; arguments that are no JSON as they are."""
        return [text for _, arguments in self.wanted[0] for text in _strings(as_json(arguments))]

    @cached_property
    def markers(self) -> set[str]:
        """The dialect's markers, as far as they look like some."""
        from toolglot.core import get_dialect
        from toolglot.core.serving.tokens import spellings

        texts = (part.strip() for text in spellings(get_dialect(self.dialect)) for part in re.split(r"\{\w+\}", text))
        return {tag for text in texts for tag in re.findall(r"<[^<>]+>?|\[\w+\]?|\]<\]\w+\[>\[", text) if len(tag) > 2}

    def schema(self, name: str) -> dict[str, Any]:
        """What the tool's parameters must be; which are required does not matter here."""
        tools = (tool["function"] for tool in self.line["tools"])
        parameters = next((tool.get("parameters") for tool in tools if tool["name"] == name), None) or {}
        return {**_nullable(parameters), "required": []}


def _nullable(schema: Any) -> Any:
    """The schema with OpenAPI's ``nullable`` in the words of JSON Schema."""
    if isinstance(schema, list):
        return [_nullable(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    told = {key: _nullable(item) for key, item in schema.items()}
    return {"anyOf": [{"type": "null"}, told]} if told.get("nullable") is True else told


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *_strings(item))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _squeezed(text: str) -> str:
    return "".join(text.split())


class Rule(NamedTuple):
    """A reason, and when it applies."""

    key: str
    right: str
    reason: str
    holds: Callable[[Case], bool]


def _faults(case: Case, name: str, arguments: Any) -> int:
    return sum(1 for _ in jsonschema.Draft202012Validator(case.schema(name)).iter_errors(arguments))


def _breaks_schema(case: Case) -> bool:
    pairs = list(case.pairs())
    return case.same_names and bool(pairs) and all(
        _faults(case, name, wanted) < _faults(case, name, found) for name, found, wanted in pairs
    )


def _invalid_json(case: Case) -> bool:
    pairs = zip(*case.calls, strict=False)
    return any(isinstance(as_json(found), str) and not isinstance(as_json(wanted), str)
               for (_, found), (_, wanted) in pairs)  # fmt: skip


def _marker_in_string(case: Case) -> bool:
    return not case.same_calls and any(marker in text for text in case.strings for marker in case.markers)


def _typed(case: Case) -> bool:
    """Every value that differs is a string whose text is the expected value, and the schema takes both."""
    pairs = list(case.pairs())
    return case.same_names and bool(pairs) and all(
        _untyped(found, wanted) and _faults(case, name, found) == _faults(case, name, wanted)
        for name, found, wanted in pairs
    )


def _untyped(found: Any, wanted: Any) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        return list(found) == list(wanted) and all(map(_untyped, found.values(), wanted.values()))
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_untyped, found, wanted))
    if alike(found, wanted):
        return True
    if not isinstance(found, str):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape that Python does not know
            return alike(ast.literal_eval(found), wanted)
    except (ValueError, SyntaxError):
        return alike(as_json(found.strip().lower()), wanted)


def _as_written(case: Case) -> bool:
    """The expected arguments stand in the raw text as they are, and others were found."""
    differ = [wanted for (_, found), (_, wanted) in zip(*case.calls, strict=False) if not same(found, wanted)]
    return case.same_names and bool(differ) and all(wanted in case.line["raw"] for wanted in differ)


def _lost_text(case: Case) -> bool:
    found, wanted = _squeezed(case.found[1]), _squeezed(case.wanted[1])
    return case.same_calls and len(found) < len(wanted)


def _only_blanks(case: Case) -> bool:
    return case.same_calls and _squeezed(case.found[1]) == _squeezed(case.wanted[1])


def _markup_shown(case: Case) -> bool:
    found, wanted = ("".join([content, *(arguments for _, arguments in calls)])
                     for calls, content in (case.found, case.wanted))  # fmt: skip
    return case.same_names and any(found.count(marker) > wanted.count(marker) for marker in _plain(case.markers))


def _plain(markers: set[str]) -> set[str]:
    """The markers as far as a JSON string holds them as they are."""
    return {text for marker in markers if len(text := marker.partition('"')[0]) > 2}


def _call_lost(case: Case) -> bool:
    """A call, or its arguments, is neither there nor in the content."""
    names = [name for name, _ in case.found[0]]
    lost = [name for name, _ in case.wanted[0] if names.count(name) < [n for n, _ in case.wanted[0]].count(name)]
    return any(name not in case.found[1] for name in lost)


def _arguments_lost(case: Case) -> bool:
    """Keys of the arguments are neither there nor in the content."""
    shown = case.found[1] + "".join(arguments for _, arguments in case.found[0])
    return case.same_names and any(
        isinstance(wanted, dict) and any(json.dumps(key, ensure_ascii=False).strip('"') not in shown for key in wanted)
        for _, _, wanted in case.pairs()
    )


def _template(case: Case) -> bool:
    """The line is spelled as the template spells it, and no call was made of it."""
    from toolglot.core import get_dialect

    return not case.found[0] and rendered(get_dialect(case.dialect), case.line["expected"]) == case.line["raw"]


def _shown(case: Case) -> bool:
    """Calls are missing, and what was written of them is content."""
    return len(case.found[0]) < len(case.wanted[0]) and not _call_lost(case)


def _itself(case: Case) -> bool:
    """In the other way the same parser reads what the corpus expects."""
    if isinstance(case.other, Exception) or case.other[1].strip() != case.wanted[1].strip():
        return False
    calls = case.other[0]
    return len(calls) == len(case.wanted[0]) and all(
        a == b and same(x, y) for (a, x), (b, y) in zip(calls, case.wanted[0], strict=True)
    )


RULES = (
    Rule("raises", "toolglot", "the parser raises: the response is lost", lambda case: case.error is not None),
    Rule("itself", "toolglot", "its other way, with or without streaming, agrees with the corpus", _itself),
    Rule("marker", "toolglot", "the text of a marker inside a string or a value is data", _marker_in_string),
    Rule("json", "toolglot", "its arguments are no valid JSON, the corpus's are", _invalid_json),
    Rule("schema", "toolglot", "its values break the tool's schema, the corpus's do not", _breaks_schema),
    Rule("template", "toolglot", "the template renders this very line, and the parser makes no call of it", _template),
    Rule("call lost", "toolglot", "a call is neither among the calls nor in the content", _call_lost),
    Rule("argument lost", "toolglot", "an argument is neither in its call nor in the content", _arguments_lost),
    Rule("text lost", "toolglot", "text beside the calls is in no field of the response", _lost_text),
    Rule("markup", "toolglot", "markers are shown as content or inside an argument", _markup_shown),
    Rule("as written", "toolglot", "the model wrote JSON arguments, and the parser changed them", _as_written),
    Rule("typed", "open", "the schema takes a string and another type, and the text fits both", _typed),
    Rule("blanks", "open", "only blanks of the content differ: which of them are framing", _only_blanks),
    Rule("spelling", "open", "it does not read this spelling, and shows the call as content: nothing is lost", _shown),
)

# What no rule can see. Each reason is one that the line's source or its raw text bears out.
LINES: dict[str, tuple[str, str]] = {
    "apertus-two-blocks": ("toolglot", "two blocks are two calls; of the first block the markers are shown"),
    "dots-doubled-opener": ("open", "an opener written twice: whether the second is skipped"),
    "dots-verbatim": ("toolglot", "the value stands in line, so its blanks are the model's"),
    "ds32-text-that-looks-like-json": ("toolglot", 'string="true" says that the value is text'),
    "functiongemma-quote-token-inside": ("open", "a quote token that nothing of the notation follows: end, or data"),
    "gemma4-triple-quote-in-string": ("toolglot", "code with three quotes: cut at the first one, code becomes a key"),
    "gemma4-container-in-json-quotes": ("toolglot", "JSON's quotes become part of keys and values"),
    "gemma4-value-in-json-quotes": ("toolglot", "JSON's quotes become part of the values, and one is cut at a brace"),
    "gemma4-key-in-json-quotes": ("toolglot", "JSON's quotes become part of the key, and the value is cut at a brace"),
    "gptoss-closer-in-string": ("open", "by token ids a control token ends the message; by text its place tells"),
    "inkling-call-first": ("toolglot", "the tool's name in front of the block's token is its header, not content"),
    "lfm2-unescaped-quotes": ("toolglot", "the template escapes nothing; the second argument became part of the first"),
    "minicpm5-cdata-on-own-lines": ("open", "newlines around a CDATA section: markup, or part of the value"),
    "minicpm5-entities": ("toolglot", "the template writes values as XML text, so entities are decoded"),
    "mm2-padded": ("open", "newlines around a value, which the template never writes: markup or data"),
    "mm3-object-without-properties": ("open", "no schema says whether elements named `item` are a list"),
    "mm3-text-between-elements": ("open", "no schema says whether elements named `item` are a list"),
    "olmo3-raw-newlines": ("toolglot", "newlines inside a string became commas"),
    "qwen3c-crlf": ("toolglot", "half of a line end became part of the values"),
    "seed-multi-line-value": ("toolglot", "the value begins in line, so the newline it ends with is the model's"),
    "step3-padded": ("open", "a value on lines of its own: one newline on each side is markup, or all are"),
}


def verdict(case: Case) -> tuple[str, str] | None:
    """Who is right, and the reason: the key of a rule, or words. None: nobody has said yet."""
    return LINES.get(case.id) or next(((rule.right, rule.key) for rule in RULES if rule.holds(case)), None)
