"""The all-to-all paper: costs by hand, lines against plans and simulations, pictures against tables."""

from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Picture

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.planning.all_to_all import shift_hops, strategy_costs
from lightloom_papers.all_to_all import ALL_TO_ALL, averages, figures_11_12
from lightloom_papers.all_to_all.costs import ascending, cycles_first, hops_of_order, theorem_1
from lightloom_papers.all_to_all.price_lines import (
    OURS,
    RANDOM,
    UNIFORM,
    ZIPF,
    Line,
    Workload,
    changes_s,
    chosen,
    envelope_s,
    gain_of,
    largest_gain,
    lines_of,
)
from lightloom_papers.claims import Verdict
from lightloom_papers.figure import Outcome, Setting

FIGURES = {figure.name: figure for figure in ALL_TO_ALL.figures}
T_S = 40e-6 + 500e-9


def plan_of(workload: Workload, planner: str, delay_s: float) -> ll.Plan:
    case = workload.case(planner, delay_s)
    return ll.plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))


def by_words(outcome: Outcome) -> dict[str, Any]:
    return {claim.words: claim for claim in outcome.claims}


def drawn(outcome: Outcome) -> Picture:
    picture = Picture(layout="constrained")
    outcome.draw(picture)
    return picture


def test_costs_by_hand() -> None:
    # Theorem 1 for n = 8, from the paper's formula: 28, 3·(1+2) + …: 7 flows over d' topologies, the nearest first.
    assert theorem_1(8).tolist() == [28, 16, 12, 10, 9, 8, 7]
    assert hops_of_order(8, [1, 3]).tolist() == [28, 20]
    assert hops_of_order(8, [1, 7]).tolist() == [28, 16]
    # The core's own strategies, and orders of all shifts, end with one hop for every distance.
    assert shift_hops(8)[:2] == [28, 16]
    for gpus in (3, 8, 15, 60):
        for order in (ascending(gpus), cycles_first(gpus)):
            assert sorted(order) == list(range(1, gpus))
            hops = hops_of_order(gpus, order)
            assert hops[-1] == gpus - 1
            assert np.all(hops >= theorem_1(gpus))
        cycles = [gcd(shift, gpus) == 1 for shift in cycles_first(gpus)]
        assert cycles == sorted(cycles, reverse=True)


@pytest.mark.large
def test_figure_3() -> None:
    outcome = FIGURES["all-to-all-3"].make(Setting())
    claims = by_words(outcome)
    failing = [claim.words for claim in outcome.claims if claim.verdict is Verdict.FAILS]
    assert failing == [
        "base and 3-shift",
        "size of the search space",
        "curves are not quite smooth, since transmission times vary with the order of chunks",
        "part of an iteration of MoE training that All-to-All takes",
    ]
    assert claims["base and 3-shift"].ours == "20T+2R"
    assert sum(40320**d * d**56 for d in range(1, 8)) == pytest.approx(3.666e79, rel=1e-3)
    assert outcome.table["cost_at_7_T"] == [35, 30, 34, 56]
    for line, cost in zip(drawn(outcome).axes[0].get_lines(), outcome.table["cost_at_7_T"], strict=False):
        at_7 = np.interp(7, np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
        assert at_7 == pytest.approx(cost, rel=1e-9)


def test_figure_10_by_hand() -> None:
    """Hops between all pairs on both cycles, walked one by one."""
    from lightloom_papers.all_to_all import figure_3

    def walked(cycle: tuple[int, ...]) -> dict[tuple[int, int], int]:
        follows = dict(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
        hops = {}
        for src in cycle:
            at = src
            for count in range(1, 8):
                at = follows[at]
                hops[src, at] = count
        return hops

    base, other = walked(figure_3.BASE), walked(figure_3.NOT_SHIFTED)
    # The base's rounds as figure 7a lists them.
    assert base[1, 3] == base[8, 5] == 1
    assert (base[1, 2], base[2, 7]) == (4, 7)
    left = [sum(base[pair] <= other[pair] and base[pair] == count for pair in base) for count in range(1, 8)]
    assert figure_3._rounds_left(ties_to_base=True) == (left.count(0), left)


@pytest.mark.parametrize("workload", [Workload(8, 1, RANDOM, "32MB"), Workload(9, 2, ZIPF, "8MB", 3)])
@pytest.mark.parametrize("delay_s", [2e-5, 4e-4])
def test_lines_are_what_plans_cost(workload: Workload, delay_s: float) -> None:
    """The lowest line relabelled at a delay is the plan at that delay, its first topology charged as well."""
    lines = lines_of(workload, delay_s)
    plan = plan_of(workload, OURS, delay_s)
    assert envelope_s(lines.ours, [delay_s]) == pytest.approx(plan.total_s + delay_s, rel=1e-12)
    assert chosen(lines.ours, delay_s).topologies == plan.reconfigurations + 1
    for name in workload.baselines:
        baseline = plan_of(workload, name, delay_s)
        line = lines.baselines[name]
        assert line.topologies * delay_s + line.rest_s == pytest.approx(baseline.total_s + delay_s, rel=1e-9), name


def test_uniform_lines_by_hand() -> None:
    """32 MB are eight chunks of 4 MB, each T = 500 ns + 40 µs a hop; FAST sends each block whole."""
    lines = lines_of(Workload(8, 1, UNIFORM, "32MB"))
    assert lines.ours[0].rest_s == pytest.approx(28 * 8 * T_S)
    assert lines.ours[1].rest_s == pytest.approx(16 * 8 * T_S)
    assert lines.baselines["topo-opt"].rest_s == pytest.approx(28 * 8 * T_S)
    assert lines.baselines["fast"] == pytest.approx((7, 7 * (500e-9 + 320e-6)))
    assert lines.baselines["direct-connect-kautz"] == pytest.approx((1, 7 * 500e-9 + 28 * 320e-6))
    assert "mixnet" not in lines.baselines
    # Full rounds leave no circuit idle.
    assert [line.rest_s for line in lines.eager] == pytest.approx([line.rest_s for line in lines.ours])


def test_circuits_that_never_wait_are_never_slower() -> None:
    lines = lines_of(Workload(8, 2, RANDOM, "32MB"))
    assert all(eager.rest_s <= line.rest_s * (1 + 1e-12) for eager, line in zip(lines.eager, lines.ours, strict=True))
    # No order lets the busiest circuit send more: at least the mean of all circuits.
    sent = Workload(8, 2, RANDOM, "32MB").bytes().sum() / 8 / 2 / 1e11
    assert all(eager.rest_s >= sent for eager in lines.eager)


def test_the_largest_gain_is_where_two_baselines_cross() -> None:
    ours = (Line(1, 10.0e-3), Line(2, 5.0e-3), Line(4, 3.0e-3))
    baselines = {"static": Line(1, 12.0e-3), "bvn": Line(5, 2.0e-3), "slow": Line(3, 30.0e-3)}
    # 12 + R = 2 + 5 R at 2.5 ms: 14.5 ms against 10.
    assert changes_s(list(baselines.values())) == pytest.approx([2.5e-3])
    gain = largest_gain(ours, baselines)
    assert (gain.delay_s, gain.ours_s) == pytest.approx((2.5e-3, 10.0e-3))
    assert gain.line == Line(2, 5.0e-3)
    assert gain.reduction == pytest.approx(1 - 10 / 14.5)
    delays_s = np.geomspace(1e-6, 1.0, 20_001)
    swept = 1 - envelope_s(ours, delays_s) / envelope_s(list(baselines.values()), delays_s)
    assert swept.max() == pytest.approx(gain.reduction, rel=1e-3)
    assert swept.max() <= gain.reduction


@pytest.mark.parametrize("matrix", [UNIFORM, RANDOM, ZIPF])
def test_no_swept_delay_gains_more(matrix: str) -> None:
    for ports in (1, 2):
        lines, gain = gain_of(Workload(16, ports, matrix, "32MB"))
        delays_s = np.geomspace(1e-6, 1.0, 2001)
        swept = 1 - envelope_s(lines.ours, delays_s) / envelope_s(list(lines.baselines.values()), delays_s)
        assert swept.max() <= gain.reduction + 1e-12


def test_other_assumptions_by_hand() -> None:
    workload = Workload(8, 2, UNIFORM, "32MB")
    # Seven matchings, both ports for each: 160 µs.
    assert averages.one_matching_at_a_time(workload) == pytest.approx((7, 7 * (500e-9 + 160e-6)))
    # Two at a time, the last on its own.
    assert averages.a_matching_per_distance(workload) == pytest.approx((4, 4 * (500e-9 + 320e-6)))
    unequal = Workload(8, 1, RANDOM, "32MB")
    matrix = unequal.bytes()
    largest = sum(max(matrix[src][(src + shift) % 8] for src in range(8)) for shift in range(1, 8))
    assert averages.a_matching_per_distance(unequal).rest_s == pytest.approx(7 * 500e-9 + largest / 1e11)
    in_chunks = averages.direct_connect_in_chunks(workload)
    flows = lines_of(workload).baselines
    # Fractions of flows become whole chunks, of which one more takes 40 µs on a link of each of eight flows or fewer.
    for name, line in in_chunks.items():
        assert -1e-9 <= line.rest_s - flows[name].rest_s <= 9 * T_S


@pytest.mark.large
def test_figure_12_at_both_engines() -> None:
    """Packets change nothing where every hop is a step of its own; DirectConnect's by little."""
    few = tuple(one for one in averages.FIGURE_12 if one.mean_size == "8MB")
    model, packet = (figures_11_12.gains(few, Setting(engine)) for engine in ("model", "packet"))
    for workload, gain in model.items():
        other = packet[workload]
        # Packets are whole bytes.
        assert other.ours_s == pytest.approx(gain.ours_s, rel=1e-4)
        for name in workload.baselines:
            near = 0.03 if name.startswith("direct-connect") else 1e-4
            assert other.baselines_s[name] == pytest.approx(gain.baselines_s[name], rel=near), name


@pytest.mark.large
def test_figure_12_verdicts_and_picture() -> None:
    found = figures_11_12.gains(averages.FIGURE_12, Setting())
    reductions = [gain.reduction for gain in found.values()]
    assert len(reductions) == 24
    assert min(reductions) > 0
    # The paper's 47.35 % are not met, nor by any sweep of delays.
    assert np.mean(reductions) == pytest.approx(0.439, abs=0.001)
    outcome = figures_11_12._outcome(found, "mean_size", ())
    bars = drawn(outcome).axes
    assert len(bars) == 6
    heights = [patch.get_height() for axes in bars for patch in axes.containers[0]]
    order = {
        (row["ports"], row["workload"], row["size"]): row["time"]
        for row in (
            dict(zip(("ports", "workload", "size", "time"), values, strict=True))
            for values in zip(
                *(outcome.table[name] for name in ("ports", "workload", "mean_flow_bytes", f"{OURS}_s")), strict=True
            )
        )
    }
    assert heights == pytest.approx(
        [order[ports, matrix, size] for ports in (1, 2) for matrix in (UNIFORM, RANDOM, ZIPF)
         for size in (8_000_000, 16_000_000, 32_000_000, 64_000_000)]
    )  # fmt: skip
    labels = [label.get_text() for label in bars[0].get_xticklabels()]
    assert labels == ["8 MB", "16 MB", "32 MB", "64 MB"]


@pytest.mark.large
def test_figure_13() -> None:
    outcome = FIGURES["all-to-all-13"].make(Setting())
    assert {claim.verdict for claim in outcome.claims} == {Verdict.HOLDS}
    worst = dict(zip(outcome.table["gpus"], outcome.table["worst_ratio"], strict=True))
    assert set(range(2, 65)) <= set(worst)
    assert max(worst[gpus] for gpus in range(2, 65)) <= 2.22
    assert max(worst.values()) <= 4.54
    # By the paper's formula, one number of topologies at a time.
    for gpus in (13, 60):
        ratios = []
        for topologies, hops in enumerate(shift_hops(gpus), 1):
            q, u = divmod(gpus - 1, topologies)
            ratios.append(hops / (topologies * q * (q + 1) / 2 + u * (q + 1)))
        assert worst[gpus] == pytest.approx(max(ratios))
    first, second, third = drawn(outcome).axes
    shown = first.get_lines()[0]
    assert dict(zip(np.asarray(shown.get_xdata()), np.asarray(shown.get_ydata()), strict=True)) == pytest.approx(worst)
    for axes, gpus in ((second, 32), (third, 512)):
        ours, bound = (np.asarray(line.get_ydata()) for line in axes.get_lines())
        assert ours.tolist() == shift_hops(gpus)
        assert (bound[0], bound[-1]) == (gpus * (gpus - 1) // 2, gpus - 1)


def test_the_number_of_topologies_falls_with_the_delay() -> None:
    """The numbers of figure 14, for its smallest panel."""
    for ports in (1, 2):
        lines = lines_of(Workload(16, ports, RANDOM, "128MB"))
        picked = [chosen(lines.ours, float(delay_s)).topologies for delay_s in np.geomspace(1e-6, 1, 49)]
        assert all(later <= earlier for earlier, later in pairwise(picked))
        assert (picked[0], picked[-1]) == (-(-15 // ports), 1)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="gpus") as refused:
        shift_hops(4097)
    assert "4096" in str(refused.value)
    with pytest.raises(InputError, match="relabelled_at"):
        strategy_costs("1MiB", fabric=ll.Fabric(gpus=8), planner=OURS, relabelled_at=["soon"])
