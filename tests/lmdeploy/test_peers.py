"""What LMDeploy's own parsers make of the corpus is what docs/peers_lmdeploy.md says, and somebody is right."""

from __future__ import annotations

import lmdeploy
import pytest


@pytest.mark.skipif(not lmdeploy.__version__.startswith("0.18."), reason="the page is about LMDeploy 0.18")
def test_the_page_is_up_to_date() -> None:
    import peers

    text = peers.page("lmdeploy")
    assert peers.PAGES["lmdeploy"].read_text(encoding="utf-8") == text, "run `python scripts/peers.py`"
    assert "| ? |" not in text, "a difference without a verdict: a rule or a line in scripts/peer_verdicts.py"


def test_every_parser_is_compared() -> None:
    """Each name that LMDeploy registers is the peer of a dialect."""
    from lmdeploy.serve.parsers.tool_parser import ToolParserManager
    from peer_parsers import LMDeploy

    from toolglot.core import get_dialect, list_dialects

    names = {name for dialect in list_dialects() for name in LMDeploy().names(get_dialect(dialect))}
    own = {name for name in ToolParserManager.module_dict if not name.startswith("toolglot")}
    assert own <= names, own - names
