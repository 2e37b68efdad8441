"""The packet-level grid of `benches/` goes on where it stopped."""

import random
from pathlib import Path

import pytest
from benches import harvest_figure_5 as grid


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "SIZES", (1024, 4096))
    monkeypatch.setattr(grid, "DELAYS", ("10ns", "10us"))


@pytest.mark.usefixtures("small")
def test_a_run_that_was_cut_off_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = tmp_path / "whole.csv"
    points = len(grid.COLLECTIVES) * 2 * 2 * len(grid.STRATEGIES)
    assert grid.run(whole, 1) == points
    assert grid.run(whole, 1) == 0
    text = whole.read_bytes()
    lines = text.splitlines(keepends=True)
    assert len(lines) == points + 1
    chance = random.Random(7)  # noqa: S311 (no secret)
    for number in range(3):
        # What was written, in any order, and cut anywhere.
        kept = [lines[0], *chance.sample(lines[1:], points)]
        cut = b"".join(kept)[: chance.randrange(len(text))]
        other = tmp_path / f"{number}.csv"
        other.write_bytes(cut)
        missing = grid.run(other, 2)
        assert missing == points - max(cut.count(b"\n") - 1, 0)
        assert other.read_bytes() == text
