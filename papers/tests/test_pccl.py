"""PCCL's figures against eq. 1, counted here transfer by transfer on links that are laid out here."""

from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from matplotlib.figure import Figure as Picture

from lightloom.cli import main
from lightloom_papers.claims import Verdict
from lightloom_papers.figure import Outcome, Setting
from lightloom_papers.pccl import PCCL, swing
from lightloom_papers.pccl.parts import PARTS
from lightloom_papers.pccl.schemes import starts

pytestmark = pytest.mark.slow

HOP_S = 3e-6
BYTE_S = 1 / 450e9
MOVED = 127 / 128


@cache
def outcome(name: str) -> Outcome:
    return next(figure for figure in PCCL.figures if figure.name == f"pccl-{name}").make(Setting())


def rows(name: str, *columns: str) -> dict[tuple[object, ...], float]:
    """Times by the values of these columns."""
    table = outcome(name).table
    keys = zip(*(table[column] for column in columns), strict=True)
    return dict(zip(keys, (float(time_s) for time_s in table["time_s"]), strict=True))


def holds(name: str) -> dict[str, bool]:
    return {claim.words: claim.verdict is Verdict.HOLDS for claim in outcome(name).claims}


@pytest.mark.large
def test_reconfigurations_of_figures_8_and_9() -> None:
    """256 MB at 5 µs: seven steps of one hop and one reconfiguration each, from every start."""
    times = rows("8", "topology", "scheme", "part")
    for start in starts(128):
        parts = [times[start.label, "PCCL", part] for part in PARTS]
        assert parts == pytest.approx([7 * HOP_S, 0, MOVED * 256e6 * BYTE_S, 0, 7 * 5e-6], rel=1e-9, abs=1e-15)
    # 1 GB at 1 ms on the two-way ring: three steps on their own circuits, then the ring with distances 8, 4, 2, 1.
    times = rows("9", "topology", "scheme", "part")
    assert times["ring", "PCCL", "reconfiguration"] == pytest.approx(4e-3)
    total_s = sum(times["ring", "PCCL", part] for part in PARTS)
    gigabytes = 0.5 + 0.25 + 0.125 + 8 / 16 + 4 / 32 + 2 / 64 + 1 / 128
    assert total_s == pytest.approx(4e-3 + (3 + 8 + 4 + 2 + 1) * HOP_S + gigabytes * 1e9 * BYTE_S, rel=1e-12)
    for start in starts(128)[1:]:
        assert times[start.label, "PCCL", "reconfiguration"] == pytest.approx(2e-3)
    assert all(holds("9").values())
    assert holds("8")["PCCL reconfigures log2(128) = 7 times"]


def test_baselines_where_they_are_at_home() -> None:
    """Ring on the ring, and buckets on their tori: one hop a step, no congestion."""
    times = rows("7", "topology", "scheme", "size_bytes")
    for size in (1000, 10**6, 10**9):
        assert times["ring", "Ring", size] == pytest.approx(127 * HOP_S + MOVED * size * BYTE_S)
        assert times["2D torus", "2D bucket", size] == pytest.approx((7 + 15) * HOP_S + MOVED * size * BYTE_S)
        assert times["3D torus", "3D bucket", size] == pytest.approx((7 + 3 + 3) * HOP_S + MOVED * size * BYTE_S)


def test_halving_doubling_on_the_ring() -> None:
    """Distance d, d = 64 … 1: d hops and d transfers over the busiest link of a direction; half of both at 64."""
    size = 256e6
    expected_s = sum(d * HOP_S + size * d / 128 * d * BYTE_S for d in (64, 32, 16, 8, 4, 2, 1))
    assert rows("7", "topology", "scheme", "size_bytes")["ring", "RHD", 256 * 10**6] == pytest.approx(expected_s)


@pytest.mark.parametrize("gpus", [32, 64, 128])
def test_swing_is_counted_link_by_link(gpus: int) -> None:
    """Partners of every step over the links between them, along the shorter way of their dimension."""
    for start in starts(gpus):
        dims, wraps = start.dimensions, not start.topology.startswith("grid")
        left = [int(np.log2(size)) for size in dims]
        done = [0] * len(dims)
        counted = []
        turn = 0
        while done != left:
            dimension = turn % len(dims)
            turn += 1
            if done[dimension] == left[dimension]:
                continue
            step = sum((-2) ** power for power in range(done[dimension] + 1))
            done[dimension] += 1
            used: dict[tuple[tuple[int, ...], int, int], int] = {}
            longest = 0
            size = dims[dimension]
            for place in product(*(range(length) for length in dims)):
                at = place[dimension]
                to = (at + (step if at % 2 == 0 else -step)) % size
                ahead, behind = (to - at) % size, (at - to) % size
                if not wraps:
                    length, way = abs(to - at), 1 if to > at else -1
                else:
                    length, way = (ahead, 1) if ahead <= behind else (behind, -1)
                longest = max(longest, length)
                for hop in range(length):
                    link = (place[:dimension] + place[dimension + 1 :], (at + way * hop) % size, way)
                    used[link] = used.get(link, 0) + 1
            # Around a dimension of two there are two links, which share the data.
            links = 2 if wraps and size == 2 else 1
            counted.append((longest, max(used.values()) / links))
        found = swing.steps(start)
        assert sum(one.share for one in found) == pytest.approx(1 - 1 / gpus)
        # Rings of four or two have two shortest ways, of which one is taken.
        assert [one.hops for one in found] == [hops for hops, _ in counted], start.label
        assert [one.load for one in found] == pytest.approx([load for _, load in counted]), start.label


def test_swings_congestion_on_the_tori() -> None:
    """On 8x16, distance 3 loads a link twice, in steps of 1/32 and 1/64, distance 5 three times, in one of 1/128."""
    torus_2, torus_3 = starts(128)[1:3]
    shares = 15 / 16 + 2 / 32 + 2 / 64 + 3 / 128
    assert swing.congestion(torus_2) == pytest.approx(shares / MOVED)
    assert swing.congestion(torus_3) == pytest.approx((63 / 64 + 2 / 128) / MOVED)
    assert prod(torus_2.dimensions) == prod(torus_3.dimensions) == 128


def test_dex_on_the_torus_of_figure_1() -> None:
    """Four ranks in a dimension: distances 1 and 2, three times, so 9 hops and 9 loads of m/2 in 6 steps."""
    times = rows("1", "collective", "scheme", "size_bytes")
    size = 10**9
    assert times["all-to-all", "DEX", size] == pytest.approx(9 * HOP_S + 9 * size / 2 * BYTE_S)
    # The steps of distance 1 may stay on the torus; what PCCL saves is at most a third.
    assert times["all-to-all", "DEX", size] / times["all-to-all", "PCCL", size] < 1.5
    divided_s = 6 * (HOP_S + 5e-6 + size / 2 * BYTE_S / 6)
    assert times["all-to-all", "PCCL, ports divided", size] == pytest.approx(divided_s)
    bucket_s = 2 * (9 * HOP_S + 63 / 64 * size * BYTE_S)
    assert times["all-reduce", "3D bucket", size] == pytest.approx(bucket_s)
    claim = next(claim for claim in outcome("1").claims if "7.5" in claim.words)
    assert claim.verdict is Verdict.FAILS
    assert "200 MB (7.50×)" in claim.why


def test_all_to_all_of_figure_10() -> None:
    """32 MB: seven steps of 16 MB; on the two-way ring a distance of d has d hops and d transfers on a link."""
    times = rows("10", "topology", "scheme", "part")
    total_s = sum(times["ring", "DEX", part] for part in PARTS)
    assert total_s == pytest.approx(127 * HOP_S + 127 * 16e6 * BYTE_S)
    ours_s = sum(times["ring", "PCCL", part] for part in PARTS)
    # The first step's pairs are neighbours already.
    assert ours_s == pytest.approx(7 * HOP_S + 7 * 16e6 * BYTE_S + 6 * 5e-6)
    assert all(holds("10").values())


def test_an_all_reduce_takes_twice_its_reduce_scatter() -> None:
    """True of Ring and the buckets, and of PCCL if it reconfigures at every step of either half."""
    times = rows("17", "topology", "scheme", "size_bytes")
    size = 10**9
    assert times["ring", "Ring", size] == pytest.approx(2 * (63 * HOP_S + 63 / 64 * size * BYTE_S))
    # The last step's circuits are the next half's first.
    ours_s = 2 * (6 * HOP_S + 63 / 64 * size * BYTE_S) + 11 * 5e-6
    assert times["2D torus", "PCCL", size] <= ours_s * (1 + 1e-12)


@pytest.mark.large
def test_the_bars_show_the_table() -> None:
    picture = Picture()
    outcome("8").draw(picture)
    times = rows("8", "topology", "scheme", "part")
    schemes = list(dict.fromkeys(outcome("8").table["scheme"]))
    for axes, start in zip(picture.axes, starts(128), strict=True):
        assert axes.get_title() == start.label
        assert [label.get_text() for label in axes.get_xticklabels()] == schemes
        tops = [max(bar.get_y() + bar.get_height() for bar in bars) for bars in zip(*axes.containers, strict=True)]
        assert tops == pytest.approx([sum(times[start.label, name, part] for part in PARTS) for name in schemes])


def test_the_lines_show_the_table() -> None:
    picture = Picture()
    outcome("7").draw(picture)
    times = rows("7", "topology", "scheme", "size_bytes")
    for axes, start in zip(picture.axes, starts(128), strict=True):
        assert axes.get_title() == start.label
        assert len(axes.lines) == 7
        for line in axes.lines:
            shown = dict(zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True))
            assert shown == pytest.approx({size: times[start.label, line.get_label(), size] for size in shown})
        labels = dict(zip(axes.get_xticks(), [label.get_text() for label in axes.get_xticklabels()], strict=True))
        assert labels.items() >= {1000: "1 KB", 10**6: "1 MB", 32 * 10**6: "32 MB", 10**9: "1 GB"}.items()


def test_claims_without_a_model_are_not_judged() -> None:
    assert {claim.verdict for claim in PCCL.other_claims} == {Verdict.OPEN}
    assert {"> 24 h"} <= {claim.paper for claim in PCCL.other_claims}


def test_packets_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "pccl-9", "--engine", "packet"]) == 2
    assert capsys.readouterr().err == "error: engine: `packet` cannot make pccl-9; it takes model\n"
