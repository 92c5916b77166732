"""Where the engines' own parsers read a well-formed response differently, and who is right.

    python scripts/peers.py            # rewrites docs/peers.md and docs/peers_lmdeploy.md
    python scripts/peers.py --check    # exit status 1 if a page is not what would be written
    python scripts/peers.py --engine lmdeploy

Every corpus line without reasoning, options and anomalies whose calls are complete goes through the parser of the same
family, at once and token by token. Arguments are compared as JSON, content without surrounding blanks.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from peer_parsers import ENGINES, Engine, Request, Response, same
from peer_verdicts import LINES, RULES, Case, verdict

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"vllm": ROOT / "docs" / "peers.md", "lmdeploy": ROOT / "docs" / "peers_lmdeploy.md"}
CORPUS = ROOT / "tests" / "corpus"
HEAD = """# Where {engine}'s own parsers read differently

Made by `python scripts/peers.py --engine {key}` with {engine} {version}; a test checks that it is up to date.
Well-formed corpus lines (calls complete, nothing odd, no reasoning) go through {engine}'s own parser of the same
family, at once and token by token. Listed is each line whose calls (arguments compared as JSON) or content (without
surrounding blanks) differ from the corpus.

"Right" is toolglot, which gives what the corpus says, or "open" where the format does not say and either reading is
sound; then the corpus states the rule that toolglot has chosen ([rules.md](rules.md)). The reason is one of these,
found by comparing the two results (`scripts/peer_verdicts.py`), or stated for the line. In brackets: the line's note.

"""


class Difference(NamedTuple):
    """One line of the corpus that a parser reads differently: what it found, and the verdicts on that."""

    line: dict[str, Any]
    whole: str
    stream: str
    verdicts: list[tuple[str, str] | None]


# By dialect and parsers' names: how many lines were compared and which differ, or why none were.
Comparison = dict[tuple[str, str], tuple[int, list[Difference]] | str]


def lines_of(dialect: str) -> Iterator[dict[str, Any]]:
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


def difference(found: Response | Exception, line: dict[str, Any]) -> str:
    """What differs, "" for nothing."""
    if isinstance(found, Exception):
        return f"raises {type(found).__name__}"
    wanted = [(call["name"], call["arguments"]) for call in line["expected"]["tool_calls"]]
    calls, content = found
    if not calls:
        return "no call"
    if len(calls) != len(wanted):
        return f"{len(calls)} calls, not {len(wanted)}"
    if [name for name, _ in calls] != [name for name, _ in wanted]:
        return "name"
    if not all(same(mine, theirs) for (_, mine), (_, theirs) in zip(wanted, calls, strict=True)):
        return "arguments"
    text = (line["expected"]["content"] or "").strip()
    if content.strip() == text:
        return ""
    return "text lost" if len(content.strip()) < len(text) else "text"


def _asked(dialect: str, line: dict[str, Any], lead: str) -> Request:
    """The line, behind what the parser wants in front of it if toolglot reads the same then."""
    from toolglot.core import parse

    message = parse(lead + line["raw"], dialect, line["tools"], starts_in_reasoning=False)
    calls = [(call.name, call.arguments) for call in message.tool_calls]
    wanted = [(call["name"], call["arguments"]) for call in line["expected"]["tool_calls"]]
    unchanged = (message.content, calls) == (line["expected"]["content"], wanted)
    return Request(lead + line["raw"] if unchanged else line["raw"], line["tools"])


def differences(engine: Engine, dialect: str, name: str) -> tuple[int, list[Difference]]:
    """How many lines were compared, and those that differ."""
    lead, _ = engine.leads.get(name, ("", ""))
    count, listed = 0, []
    for line in lines_of(dialect):
        count += 1
        found: list[Response | Exception] = []
        request = _asked(dialect, line, lead)
        for way in (engine.whole, engine.streamed):
            try:
                found.append(way(name, request))
            except Exception as error:
                found.append(error)
        differ = [difference(each, line) for each in found]
        cases = (Case(dialect, line, found[0], found[1]), Case(dialect, line, found[1], found[0]))
        if any(differ):
            given = [verdict(case) for case, what in zip(cases, differ, strict=True) if what]
            listed.append(Difference(line, differ[0], differ[1], given))
    return count, listed


def compare(key: str) -> Comparison:
    """All dialects through the parsers of an engine."""
    from toolglot.core import get_dialect, list_dialects

    engine = ENGINES[key]()
    table: Comparison = {}
    for dialect in list_dialects():
        names = engine.names(get_dialect(dialect))
        classes: dict[type, list[str]] = {}
        for name in names:
            if (found := engine.parser(name)) is not None:
                classes.setdefault(found, []).append(name)
        if dialect in engine.left_out or not classes:
            none = "no parser in this version" if names else f"no parser of {engine.title}'s"
            table[dialect, ""] = engine.left_out.get(dialect, none)
            continue
        for group in classes.values():
            result = differences(engine, dialect, group[0])
            twin = next((at for at, other in table.items() if at[0] == dialect and other == result), None)
            if twin is None:
                table[dialect, " ".join(group)] = result
            else:  # another class that reads the same
                table[dialect, " ".join([twin[1], *group])] = table.pop(twin)
    return table


def page(key: str) -> str:
    """The whole page of an engine."""
    engine = ENGINES[key]()
    summary, details = [], []
    counted: Counter[str] = Counter()
    for (dialect, names), result in compare(key).items():
        if isinstance(result, str):
            summary.append(f"| `{dialect}` | – | – | – | {result} |")
            continue
        count, found = result
        shown = ", ".join(f"`{name}`" for name in names.split())
        split = sum(each.whole != each.stream for each in found)
        summary.append(f"| `{dialect}` | {shown} | {count} | {len(found)} | {split} |")
        if found:
            details += [f"## `{dialect}`: {engine.title}'s {shown}", ""]
            details += ["| line | at once | streamed | right | why |", "|---|---|---|---|---|"]
            details += [_row(each) for each in found]
            details.append("")
        counted.update(given[1] for each in found for given in {*each.verdicts} if given)
    reasons = ["| reason | right | what it says | lines |", "|---|---|---|---|"]
    used = (rule for rule in RULES if counted[rule.key])
    reasons += [f"| {rule.key} | {rule.right} | {rule.reason} | {counted[rule.key]} |" for rule in used]
    table = [f"| dialect | {engine.title}'s parser | lines | differ | differ with and without streaming |"]
    table.append("|---|---|---|---|---|")
    head = HEAD.format(engine=engine.title, key=key, version=engine.version)
    leads = [f"- `{name}` {why}: {lead!r} is put in front where toolglot reads the same then."
             for name, (lead, why) in engine.leads.items()]  # fmt: skip
    return head + "\n".join([*reasons, "", *leads, *([""] if leads else []), *table, *summary, "", *details])


def _row(difference: Difference) -> str:
    line = difference.line
    given = list(dict.fromkeys(each for each in difference.verdicts if each is not None))
    right = "toolglot" if any(who == "toolglot" for who, _ in given) else "open" if given else "?"
    why = "; ".join(reason for _, reason in given)
    if "note" in line and line["id"] not in LINES:
        why += f" ({line['note']})"
    cells = (f"`{line['id']}`", difference.whole or "same", difference.stream or "same", right, why)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main() -> int:
    """Command line."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--check", action="store_true")
    options.add_argument("--engine", choices=sorted(PAGES))
    given = options.parse_args()
    logging.disable(logging.CRITICAL)
    stale = []
    for key in [given.engine] if given.engine else PAGES:
        text = page(key)
        if not given.check:
            PAGES[key].write_text(text, encoding="utf-8")
        elif not PAGES[key].exists() or PAGES[key].read_text(encoding="utf-8") != text:
            stale.append(str(PAGES[key].relative_to(ROOT)))
    if stale:
        print(f"{' and '.join(stale)} out of date: python scripts/peers.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
