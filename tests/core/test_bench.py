"""The benchmarks, small: what they write is parsed right, a wrong result is not timed, the page is of the figures."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from toolglot.core import list_dialects

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT))

from bench import core, metrics, report, timing, workloads  # noqa: E402
from bench.__main__ import RESULTS  # noqa: E402


@pytest.mark.parametrize("dialect", list_dialects())
def test_responses(dialect: str) -> None:
    """Every response that is written from a dialect's data is parsed to what it says."""
    for make, sizes in core.QUICK:
        workload = make(dialect)
        for size in sizes:
            assert "".join(workload.chunks(size)) == workload.text
            workload.check(*core.parse(workload, workload.chunks(size)))
        assert "".join(workload.aligned(4)) == workload.text


def test_grid() -> None:
    found = core.grid(["hermes"], quick=True)["hermes"]
    assert len(found) == len(core.QUICK)
    assert all(figure > 0 for row in found.values() for figures in row.values() for figure in figures)


@pytest.mark.parametrize("change", [{"content": "other"}, {"calls": ({"path": "other"},)}, {"text": "<tool_call>"}])
def test_a_wrong_result_is_not_timed(change: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "in_turns", lambda *arguments: pytest.fail("it was timed"))
    make = lambda dialect: dataclasses.replace(workloads.short_call(dialect), **change)  # noqa: E731
    with pytest.raises(workloads.WrongResult):
        list(core.cells("hermes", [(make, (4,))]))


def test_turns() -> None:
    """Subjects are timed in turns, each as often as the others."""
    told: list[str] = []
    times = timing.in_turns([lambda: told.append("a"), lambda: told.append("b")], 3, 0.2)
    assert 2 <= len(times[0]) == len(times[1]) <= 3
    assert told[:2] == ["a", "b"]
    assert timing.ratio([2.0, 9.0, 4.0], [1.0, 3.0, 2.0]) == 2.0


@pytest.mark.parametrize("dialect", ["hermes", "qwen3_coder", "gemma4", "minimax_m3"])
def test_metrics(dialect: str) -> None:
    found = metrics.of(dialect, quick=True)
    for kind in ("string", "code"):
        assert 0.5 < found["growth"][kind]["exponent"] <= 1.02
        assert 0 <= found["lag"][kind]["mean"] < 4
        assert found["lag"][kind]["first"] >= 0
    for new, most, _ in found["memory"].values():
        assert 500 < new < most + 1 < 20_000


def test_the_page_is_made_of_the_figures() -> None:
    made = report.blocks(report.load(RESULTS))
    shown = [block for page in report.PAGES for block in report.BLOCK.finditer(page.read_text(encoding="utf-8"))]
    assert {block[2] for block in shown} == set(made)
    for block in shown:
        assert block[0] == block[1] + made[block[2]] + block[3], f"run `python -m bench pages` ({block[2]})"
    for image in ("argument_size.svg", "over_floor.svg"):
        assert (report.IMAGES / image).stat().st_size < 200_000


def test_targets_find_what_is_missed() -> None:
    results = report.load(RESULTS)
    worse = json.loads(json.dumps(results))
    worse["core"]["grid"]["hermes"]["content 64 KB"]["4"][2] = 99.0
    before, after = ({each.what: each.missed for each in report.targets(found)} for found in (results, worse))
    assert after["core / floor, plain content"] == before["core / floor, plain content"] + 1
