"""HARVEST's published schedules: their figures against closed forms, and a file in their form read whole.

The schedules themselves are not here. With `LIGHTLOOM_HARVEST_SCHEDULES` set to a folder of them, each is read whole.
"""

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
from tests.conftest import ROOT

from lightloom.base.errors import InputError
from lightloom_papers.figure import Outcome, Setting
from lightloom_papers.harvest.figure_published import FIGURE_PUBLISHED
from lightloom_papers.harvest.published import published, question_of
from lightloom_papers.harvest.published_apart import even_loads_s, hops_of_direct, startups_s, why_apart
from lightloom_papers.harvest.published_page import published_page
from lightloom_papers.harvest.read_published import main
from lightloom_papers.harvest.read_whole import read_whole
from lightloom_papers.harvest.whole import WHOLE, Whole

pytestmark = pytest.mark.slow
SCHEDULES = os.environ.get("LIGHTLOOM_HARVEST_SCHEDULES", "")


# Schedules that state a time shorter than any circuits take.
SHORT = {"harvest-direct1-64-1-16KB-800-500-500-100000000-0"}
BROKEN = {
    "harvest-direct1-64-1-256MB-800-500-500-10000000-0",
    "harvest-direct1-64-1-1GB-800-500-500-10000000-0",
}
EVEN = {
    "harvest-swing-64-2-256KB-800-500-500-10000000-0",
    "harvest-swing-64-2-64MB-800-500-500-10000000-0",
    "harvest-swing-64-2-1GB-800-500-500-100000000-0",
}
IMPOSSIBLE = SHORT | BROKEN | EVEN


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
        # Their solver's tolerance for each interval of steps without a change.
        assert name in IMPOSSIBLE or abs(ours_s - theirs_s) <= 1e-6 * (changes + 1), name
        if "-64-" in name and changes == our_changes == (62 if "direct1" in name else 10):
            assert ours_s * 1e9 == pytest.approx(own_circuits_s(name), rel=1e-9), name


def test_times_of_direct_steps_on_one_port_are_whole_hops() -> None:
    """63 steps, each on one ring: 63·α, the changes, and a whole number of δ + β·m/64."""
    direct = [one for one in published() if "-direct1-" in one.name]
    assert len(direct) > 10
    for one in direct:
        hops = hops_of_direct(one)
        assert (abs(hops - round(hops)) < 0.01) == (one.name not in IMPOSSIBLE), one.name
        assert (one.total_s < startups_s(one)) == (hops < 0) == (one.name in SHORT), one.name
    _, _, _, _, size, gbps, startup, hop, change, _ = direct[0].name.split("-")
    assert (size, gbps, startup, hop, change) == ("1MB", "800", "500", "500", "1000")
    by_hand = (direct[0].total_s * 1e9 - 63 * 500 - 60 * 1000) / (500 + 8 * (1 << 20) / 64 / 800)
    assert hops_of_direct(direct[0]) == pytest.approx(by_hand)


def test_swing_at_long_delays_states_what_even_loads_would_take(outcome: Outcome) -> None:
    """The two-way ring of 64 without a change: the busiest circuits have 1, 1, 2, 3, 6 and 11 messages in each half."""
    stated = {one.name: one for one in published()}
    ours = dict(zip(outcome.table["name"], outcome.table["ours_s"], strict=True))
    for name in sorted(EVEN):
        one = stated[name]
        assert one.reconfigurations == 0
        assert even_loads_s(one) == pytest.approx(one.total_s, rel=1e-6)
        letters = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
        size = name.split("-")[4]
        block_ns = int(size[:-2]) * letters[size[-2]] * 8 / 800
        loads = (1, 1, 2, 3, 6, 11)
        by_hand = 2 * sum(500 + load * (2 * 500 + block_ns / 2 ** (step + 1)) for step, load in enumerate(loads))
        assert ours[name] * 1e9 == pytest.approx(by_hand, rel=1e-9), name
    still = [one for one in published() if "-swing-64-" in one.name and not one.reconfigurations]
    assert {one.name for one in still if abs(even_loads_s(one) / one.total_s - 1) <= 1e-6} == EVEN
    assert len(still) > len(EVEN) + 3


def test_the_sample_is_of_all_algorithms_sizes_and_delays() -> None:
    problems = [question_of(one.name) for one in published()]
    assert len(problems) >= 70
    assert {one.algorithm for one in problems} == {"recursive-doubling", "swing", "direct"}
    assert {one.fabric.gpus for one in problems} == {8, 64}
    delays = ("0", "10", "100", "1000", "10000", "100000", "1000000", "10000000", "100000000")
    assert {str(one.fabric.reconfiguration_delay) for one in problems} == {f"{delay}ns" for delay in delays}
    sizes = ("1K", "4K", "16K", "64K", "256K", "1M", "4M", "16M", "64M", "256M", "1G")
    assert {one.size for one in problems} == {f"{size}iB" for size in sizes}


def test_why_a_schedule_is_apart_is_told() -> None:
    stated = {one.name: one for one in published()}
    told = why_apart([stated[name] for name in sorted(IMPOSSIBLE)])
    assert all(f"`{name}`" in told for name in IMPOSSIBLE)
    assert "states another time" not in told
    assert why_apart([stated["static-swing-8-2"]]) == "`static-swing-8-2` states another time."
    assert why_apart([]) == ""


def test_the_page_is_the_table(outcome: Outcome) -> None:
    page = (ROOT / "docs" / "published-schedules.md").read_text()
    assert page == published_page(outcome.table), "run: python -m lightloom_papers.harvest.read_published"


def swing(gpu: int, step: int, gpus: int) -> int:
    along = (1, -1, 3, -5, 11, -21)[step]
    return (gpu + (along if gpu % 2 == 0 else -along)) % gpus


def own(gpus: int, halves: int) -> list[list[list[int]]]:
    """Swing's peers of each step by two parallel circuits, as published."""
    order = [*range(halves), *reversed(range(halves))]
    return [[[gpu, swing(gpu, step, gpus), 2] for gpu in range(gpus)] for step in order]


# The two-way ring of 8 moved by six places at every step, and rings of distance 1 and 8, as published.
MOVED = [[[gpu, (gpu + places) % 8, 1] for gpu in range(8) for places in (5, 7)]] * 6
RINGS = [[[gpu, (gpu + places) % 64, 1] for gpu in range(64)] for places in (1, 1, 1, 8, 8, 8, 8, 8, 8, 1, 1, 1)]
# The circuits of each, and by hand its steps, changes and nanoseconds without those of the bytes.
READ = {
    "bvn-swing-8-2-0": (own(8, 3), 6, 4, 6 * 2000.0),
    "static-swing-8-2": (MOVED, 6, 0, 6 * 1000.0 + 12 * 1000.0),
    "harvest-swing-64-2-1KB-800-500-500-10-0": (own(64, 6), 12, 10, 12 * 1000.0 + 10 * 10.0),
    "harvest-halvingDoubling-64-1-64KB-800-500-500-10000-0": (
        RINGS,
        12,
        2,
        12 * 500.0 + 2 * (1 + 2 + 4 + 1 + 2 + 4) * 500.0 + 2 * 10000.0,
    ),
}


def test_the_schedules_kept_whole_are_those_published() -> None:
    assert {one.name for one in WHOLE} == set(READ)
    stated = {one.name: one for one in published()}
    for one in WHOLE:
        links, steps, changes, _ = READ[one.name]
        document = one.document()
        assert [sorted(step["topology"]) for step in document["steps"]] == [sorted(step) for step in links]
        assert len(document["steps"]) == steps
        assert document["num_of_reconfigs"] == changes == sum(a != b for a, b in pairwise(links))
        assert (document["cost"] / 1e9, changes) == stated[one.name][1:]


@pytest.mark.parametrize("one", WHOLE, ids=lambda one: one.name)
def test_small_schedules_are_verified_and_cost_what_they_state(
    one: Whole, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = one.write(tmp_path)
    found = read_whole(path, question_of(one.name))
    _, steps, changes, latency_ns = READ[one.name]
    assert (found.steps, found.reconfigurations) == (steps, changes)
    assert found.stated_s == one.cost_ns / 1e9
    assert found.cost_s == pytest.approx(found.stated_s, rel=1e-5)
    # The bytes add less than a tenth; packets pay for hops and not for 1/θ, and overlap both.
    assert latency_ns < found.cost_s * 1e9 < 1.1 * latency_ns
    assert 0.9 * found.cost_s < found.packets_s < 1.5 * found.cost_s
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{one.name},{steps},{changes},")
    path.write_text(json.dumps({**one.document(), "cost": one.cost_ns * 1.01}))
    assert main([str(tmp_path)]) == 1
    path.write_text(json.dumps({**one.document(), "num_of_reconfigs": changes + 1}))
    with pytest.raises(ValueError, match=r"states \d+ reconfigurations, but its topologies change"):
        read_whole(path, question_of(one.name))


def test_a_file_whose_name_tells_no_problem_is_left_out_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    WHOLE[0].write(tmp_path)
    (tmp_path / "bvn-swing-64-2-0.json").write_text("{}")
    assert main([str(tmp_path)]) == 0
    assert "left out, since their names do not state size, rate and delays: bvn-swing-64-2-0" in capsys.readouterr().err


def test_what_is_no_schedule_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none")]) == 2
    assert "usage: " in capsys.readouterr().err
    path = tmp_path / "harvest-swing-8-2-1KB-800-1000-1000-1000-0.json"
    path.write_text("{}")
    assert main([str(tmp_path)]) == 1
    assert "sequence" in capsys.readouterr().err
    with pytest.raises(ValueError, match="is not the name of a published schedule"):
        question_of("harvest-ring-8")
    with pytest.raises(InputError):
        read_whole(path, question_of(path.stem))


@pytest.mark.skipif(not SCHEDULES, reason="LIGHTLOOM_HARVEST_SCHEDULES names no folder of HARVEST's schedules")
def test_every_schedule_of_a_folder_is_read_whole() -> None:
    assert main([SCHEDULES]) == 0
