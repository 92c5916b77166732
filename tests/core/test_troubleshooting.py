"""docs/troubleshooting.md: its figures. Its commands are run by test_docs.py."""

from __future__ import annotations

from pathlib import Path

from toolglot.core.serving.record import LIMIT, LONGEST

PAGE = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")


def test_the_figures_of_the_page() -> None:
    assert "stops growing at 64 MiB" in PAGE and LIMIT == 64 << 20
    assert "4 million\ncharacters" in PAGE and 4_000_000 <= LONGEST < 5_000_000
