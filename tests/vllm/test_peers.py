"""What vLLM's own parsers make of the corpus is what docs/peers.md says, and somebody is right."""

from __future__ import annotations

from typing import Any

import pytest
import vllm


@pytest.mark.skipif(not vllm.__version__.startswith("0.32."), reason="the page is about vLLM 0.32")
def test_the_page_is_up_to_date() -> None:
    import peers

    text = peers.page("vllm")
    assert peers.PAGES["vllm"].read_text(encoding="utf-8") == text, "run `python scripts/peers.py`"
    assert text.count("| raises") < 20
    assert "| ? |" not in text, "a difference without a verdict: a rule or a line in scripts/peer_verdicts.py"


WEATHER = {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("wanted", "found", "reason"),
    [
        ('{"n": 1}', ([("f", '{"n": "1"}')], ""), ("toolglot", "schema")),
        ('{"n": "1"}', ([("f", '{"n": 1}')], ""), None),  # the peer is right
        ('{"n": 1}', ([("f", '{"n": 2}')], ""), None),  # nobody can say
        ('{"n": 1}', ([("f", '{"n": 1')], ""), ("toolglot", "json")),
        ('{"n": 1}', ([], ""), ("toolglot", "call lost")),
        ('{"n": 1}', ([], "f(n=1)"), ("open", "spelling")),
    ],
)
def test_rules_can_fail(wanted: str, found: Any, reason: Any) -> None:
    from peer_verdicts import Case, verdict

    call = {"name": "f", "arguments": wanted, "complete": True}
    line = {"id": "x", "raw": "f(n=1)", "tools": [{"type": "function", "function": WEATHER}],
            "expected": {"content": None, "reasoning": None, "tool_calls": [call]}}  # fmt: skip
    assert verdict(Case("hermes", line, found, found)) == reason
