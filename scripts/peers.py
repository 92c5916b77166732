"""Where vLLM's own parser of a family reads a well-formed response differently, written to docs/peers.md.

    python scripts/peers.py            # rewrites the page
    python scripts/peers.py --check    # exit status 1 if the page is not what would be written

Every corpus line without reasoning, options and anomalies whose calls are complete goes through vLLM's parser, at once
and token by token. Arguments are compared as JSON, content without surrounding blanks.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tiny_model import tiny_model

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "peers.md"
CORPUS = ROOT / "tests" / "corpus"
LEFT_OUT = {
    "gpt_oss": "vLLM parses it by token ids, with the model's own tokenizer only",
    "cohere_command": "its parser needs a package of Cohere's, which is not part of vLLM",
    "hy_v3": "its parser wants a tokenizer whose markers have one suffix; the tests' tokenizer has two",
    "hy_v4": "the same",
}
# Lines on which the two differ by a rule that either may choose; all others follow from the format, as the line's
# source and note say.
POLICY = {
    "mistral-array": "the tests' tokenizer has `[ARGS]`, so vLLM reads the newer format only",
    "hermes-parameters-key": "tolerance: `parameters` for `arguments`",
    "hermes-list-body": "tolerance: a list in one block",
    "hermes-two-objects-one-block": "tolerance: two objects in one block",
}
HEAD = """# Where vLLM's own parsers read differently

Made by `python scripts/peers.py` with vLLM {version}; a test checks that it is up to date. Well-formed corpus lines
(calls complete, nothing odd, no reasoning) go through vLLM's own parser of the same family, at once and token by token.
Listed is each line whose calls (arguments compared as JSON) or content (without surrounding blanks) differ from the
corpus. The corpus line's source and note say why it is expected so; "choice" marks rules that the format leaves open.

"""


class Difference(NamedTuple):
    """One line of the corpus that vLLM reads differently."""

    line: dict[str, Any]
    whole: str
    stream: str


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _lines(dialect: str) -> Iterator[dict[str, Any]]:
    """The well-formed lines of a corpus, with their tools."""
    from toolglot.core import ResponseParser

    standard = json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
    for text in (CORPUS / f"{dialect}.jsonl").read_text(encoding="utf-8").split("\n"):
        if not text.strip():
            continue
        line = json.loads(text)
        expected = line["expected"]
        line["tools"] = standard if line["tools"] == "std" else line["tools"]
        options = {**line.get("options", {})}
        if options.get("starts_in_reasoning") is False:
            del options["starts_in_reasoning"]
        odd = options or line.get("anomalies") or line.get("finish_reason") or expected["reasoning"]
        if odd or not line["tools"] or not expected["tool_calls"]:
            continue
        if not all(call["complete"] for call in expected["tool_calls"]):
            continue
        parser = ResponseParser(dialect, line["tools"], starts_in_reasoning=False)
        parser.feed(line["raw"])
        parser.finish()
        if not parser.anomalies:
            yield line


def _steps(tokenizer: Any, text: str) -> list[tuple[str, list[int]]]:
    """The text as an engine streams it: token by token, incomplete characters held back."""
    steps: list[tuple[str, list[int]]] = []
    before, held = "", []
    ids = tokenizer.encode(text, add_special_tokens=False)
    for count, number in enumerate(ids, 1):
        held.append(number)
        so_far = tokenizer.decode(ids[:count], skip_special_tokens=False)
        if not so_far.endswith("\ufffd"):
            steps.append((so_far[len(before) :], held))
            before, held = so_far, []
    return steps


def _whole(parser: Any, line: dict[str, Any], request: Any) -> tuple[list[Any], str]:
    _, content, calls = parser.parse(line["raw"], request, enable_auto_tools=True)
    return [(call.name, _loads(call.arguments)) for call in calls or []], content or ""


def _streamed(parser: Any, line: dict[str, Any], request: Any, tokenizer: Any) -> tuple[list[Any], str]:
    names: list[str] = []
    arguments: list[str] = []
    content = ""
    steps = _steps(tokenizer, line["raw"])
    for at, (text, ids) in enumerate(steps):
        last = at == len(steps) - 1
        message = parser.parse_delta(text, ids, request, prompt_token_ids=[1], finished=last)
        if message is None:
            continue
        content += message.content or ""
        for call in message.tool_calls or []:
            while len(names) <= call.index:
                names.append("")
                arguments.append("")
            names[call.index] += call.function.name or ""
            arguments[call.index] += call.function.arguments or ""
    return [(name, _loads(text)) for name, text in zip(names, arguments, strict=True)], content


def _verdict(found: tuple[list[Any], str] | Exception, line: dict[str, Any]) -> str:
    """What differs, "" for nothing."""
    if isinstance(found, Exception):
        return f"raises {type(found).__name__}"
    wanted = [(call["name"], _loads(call["arguments"])) for call in line["expected"]["tool_calls"]]
    calls, content = found
    if not calls:
        return "no call"
    if len(calls) != len(wanted):
        return f"{len(calls)} calls, not {len(wanted)}"
    if [name for name, _ in calls] != [name for name, _ in wanted]:
        return "name"
    if json.dumps(calls) != json.dumps(wanted):
        return "arguments"
    text = (line["expected"]["content"] or "").strip()
    if content.strip() == text:
        return ""
    return "text lost" if len(content.strip()) < len(text) else "text"


def differences(dialect: str, name: str, tokenizer: Any) -> tuple[int, list[Difference]]:
    """How many lines were compared, and those that differ."""
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.parser.parser_manager import ParserManager

    made = ParserManager.get_parser(tool_parser_name=name, enable_auto_tools=True, model_name="any")
    assert made is not None
    count, found = 0, []
    for line in _lines(dialect):
        count += 1
        body = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "tools": line["tools"]}
        request = ChatCompletionRequest.model_validate(body)
        verdicts = []
        for way in (_whole, _streamed):
            try:
                parser = made(tokenizer, request.tools)
                extra = (tokenizer,) if way is _streamed else ()
                verdicts.append(_verdict(way(parser, line, request, *extra), line))
            except Exception as error:
                verdicts.append(_verdict(error, line))
        if any(verdicts):
            found.append(Difference(line, *verdicts))
    return count, found


def page() -> str:
    """The whole page."""
    import vllm
    from transformers import AutoTokenizer
    from vllm.plugins import load_general_plugins
    from vllm.tool_parsers import ToolParserManager

    from toolglot.core import get_dialect, list_dialects

    load_general_plugins()
    registered = set(ToolParserManager.list_registered())
    tokenizer = AutoTokenizer.from_pretrained(tiny_model())
    summary, details = [], []
    for dialect in list_dialects():
        name = next(iter(get_dialect(dialect).engines.vllm.split()), "")
        if name not in registered or dialect in LEFT_OUT:
            reason = LEFT_OUT.get(dialect, "no parser in this version" if name else "no parser of vLLM's")
            summary.append(f"| `{dialect}` | – | – | – | {reason} |")
            continue
        count, found = differences(dialect, name, tokenizer)
        lost = sum(difference.whole != difference.stream for difference in found)
        summary.append(f"| `{dialect}` | `{name}` | {count} | {len(found)} | {lost} |")
        if found:
            details += [f"## `{dialect}`: vLLM's `{name}`", ""]
            details += ["| line | at once | streamed | why |", "|---|---|---|---|"]
            details += [_row(difference) for difference in found]
            details.append("")
    table = ["| dialect | vLLM's parser | lines | differ | differ with and without streaming |"]
    table.append("|---|---|---|---|---|")
    return HEAD.format(version=vllm.__version__) + "\n".join([*table, *summary, "", *details])


def _row(difference: Difference) -> str:
    line = difference.line
    choice = next((reason for start, reason in POLICY.items() if line["id"].startswith(start)), "")
    why = f"choice: {choice}" if choice else line.get("note", "the template's own spelling")
    cells = (f"`{line['id']}`", difference.whole or "same", difference.stream or "same", why)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main() -> int:
    """Command line."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--check", action="store_true")
    given = options.parse_args()
    logging.disable(logging.CRITICAL)
    text = page()
    if not given.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.relative_to(ROOT)} is out of date: python scripts/peers.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
