"""HARVEST's published schedules: their figures against closed forms, and a file in their form read whole.

The schedules themselves are not here. With `LIGHTLOOM_HARVEST_SCHEDULES` set to a folder of them, each is read whole.
"""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT

from lightloom.errors import InputError
from lightloom_papers.figure import Outcome, Setting
from lightloom_papers.harvest.published import (
    FIGURE_PUBLISHED,
    hops_of_direct,
    published,
    published_page,
    question_of,
)
from lightloom_papers.harvest.read_published import main, read_whole

pytestmark = pytest.mark.slow
SCHEDULES = os.environ.get("LIGHTLOOM_HARVEST_SCHEDULES", "")
NAME = "harvest-swing-8-2-1KB-800-1000-1000-{}-0"


# What states a time that no circuits take.
IMPOSSIBLE = {"harvest-direct1-64-1-256MB-800-500-500-10000000-0"}


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return FIGURE_PUBLISHED.make(Setting())


def own_circuits_s(name: str) -> float:
    """Nanoseconds of 6 + 6 steps of Swing or recursive doubling, or of 63 direct ones, each on its own circuits."""
    _, algorithm, _, _, size, gbps, startup, hop, change, _ = name.split("-")
    letters = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    bytes_ = int(size[:-2]) * letters[size[-2]]
    steps, changes = (63, 62) if algorithm == "direct1" else (12, 10)
    sent = 63 / 64 * (1 if algorithm == "direct1" else 2) / (2 if algorithm == "swing" else 1)
    return steps * (float(startup) + float(hop)) + changes * float(change) + sent * bytes_ * 8 / float(gbps)


def test_ours_are_at_most_theirs_and_a_change_at_every_step_is_as_by_hand(outcome: Outcome) -> None:
    rows = list(zip(*outcome.table.values(), strict=True))
    assert len(rows) == len(published()) == len({row[0] for row in rows})
    for name, theirs_s, ours_s, ratio, changes, our_changes in rows:
        assert ratio == ours_s / theirs_s
        assert (abs(ratio - 1) <= 1e-4) == (name not in IMPOSSIBLE), name
        if "-64-" in name and changes == our_changes == (62 if "direct1" in name else 10):
            assert ours_s * 1e9 == pytest.approx(own_circuits_s(name), rel=1e-9), name


def test_times_of_direct_steps_on_one_port_are_whole_hops() -> None:
    """63 steps, each on one ring: 63·α, the changes, and a whole number of δ + β·m/64."""
    direct = [one for one in published() if "-direct1-" in one.name]
    assert len(direct) > 10
    for one in direct:
        hops = hops_of_direct(one)
        assert (abs(hops - round(hops)) < 0.01) == (one.name not in IMPOSSIBLE), one.name
    _, _, _, _, size, gbps, startup, hop, change, _ = direct[0].name.split("-")
    assert (size, gbps, startup, hop, change) == ("1MB", "800", "500", "500", "1000")
    by_hand = (direct[0].total_s * 1e9 - 63 * 500 - 60 * 1000) / (500 + 8 * (1 << 20) / 64 / 800)
    assert hops_of_direct(direct[0]) == pytest.approx(by_hand)


def test_the_page_is_the_table(outcome: Outcome) -> None:
    page = (ROOT / "docs" / "published-schedules.md").read_text()
    assert page == published_page(outcome.table), "run: python -m lightloom_papers.harvest.read_published"


def schedule(links: list[list[list[int]]], cost_ns: float, change_ns: float) -> dict[str, Any]:
    changes = sum(before != after for before, after in pairwise(links))
    return {
        "alpha_r": change_ns,
        "collective": "all-reduce-swing-nd",
        "cost": cost_ns,
        "num_of_reconfigs": changes,
        "reconf_cost_total": changes * change_ns,
        "steps": [{"step": number, "topology": topology} for number, topology in enumerate(links, 1)],
    }


def swing(gpu: int, step: int) -> int:
    along = (1, -1, 3)[step]
    return (gpu + (along if gpu % 2 == 0 else -along)) % 8


# As published for 8 GPUs: each step on two parallel circuits, or all of them on the two-way ring moved by six places.
OWN = [[[gpu, swing(gpu, step), 2] for gpu in range(8)] for step in (0, 1, 2, 2, 1, 0)]
MOVED = [[[gpu, (gpu + places) % 8, 1] for gpu in range(8) for places in (5, 7)]] * 6


@pytest.mark.parametrize(
    ("links", "change_ns", "stated_ns"), [(OWN, 0, 12008.96000344721), (MOVED, 100_000_000, 18017.92006034689)]
)
def test_two_small_schedules_cost_what_they_state(
    links: list[list[list[int]]], change_ns: int, stated_ns: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{NAME.format(change_ns)}.json"
    path.write_text(json.dumps(schedule(links, stated_ns, float(change_ns)), indent=2))
    stated_s, cost_s, packets_s = read_whole(path, question_of(path.stem))
    assert stated_s == stated_ns / 1e9
    assert cost_s == pytest.approx(stated_s, rel=1e-6)
    # A packet pays for the hops that it takes, not for 1/θ: six steps of 1 hop, or two of 1, two of 3 and two of 1.
    assert packets_s >= 12e-6
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(path.stem)
    wrong = schedule(links, stated_ns * 1.01, float(change_ns))
    path.write_text(json.dumps(wrong))
    assert main([str(tmp_path)]) == 1


def test_what_is_no_schedule_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none")]) == 2
    assert "usage: " in capsys.readouterr().err
    path = tmp_path / f"{NAME.format(1000)}.json"
    path.write_text("{}")
    assert main([str(tmp_path)]) == 1
    assert "sequence" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no name of a published schedule"):
        question_of("harvest-ring-8")
    with pytest.raises(InputError):
        read_whole(path, question_of(path.stem))


@pytest.mark.skipif(not SCHEDULES, reason="LIGHTLOOM_HARVEST_SCHEDULES names no folder of HARVEST's schedules")
def test_every_schedule_of_a_folder_is_read_whole() -> None:
    assert main([SCHEDULES]) == 0
