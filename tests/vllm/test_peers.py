"""What vLLM's own parsers make of the corpus is what docs/peers.md says."""

from __future__ import annotations

import pytest
import vllm


@pytest.mark.skipif(not vllm.__version__.startswith("0.32."), reason="the page is about vLLM 0.32")
def test_the_page_is_up_to_date() -> None:
    import peers

    text = peers.page()
    assert peers.PAGE.read_text(encoding="utf-8") == text, "run `python scripts/peers.py`"
    assert text.count("| raises") < 20
