"""Lower bounds from uneven starts; `python -m tests.bounds_from_starts` looks at thousands of them."""

import json
from pathlib import Path

import pytest

import lightloom as ll
from tests.bounds_from_starts.all_schedules import Step, all_gather, all_reduce, all_to_all, broadcast, reduce_scatter
from tests.bounds_from_starts.graphs import Graph, topology
from tests.bounds_from_starts.linear import KINDS, ROUNDING, judge
from tests.bounds_from_starts.plans import plan_one
from tests.conftest import RunCli

# 0 has one circuit out and two in; 1 three out and two in, two of them to 2.
UNEVEN = Graph({(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 0): 1, (2, 1): 1})


def uneven_fabric() -> ll.Fabric:
    return ll.Fabric(gpus=3, ports=3, reconfiguration_delay="1s", initial=topology(UNEVEN, 3))


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_no_schedule_of_few_ranks_takes_less(kind: int) -> None:
    """Schedules of any fractions, on random multigraphs that stay or change once; some attain the bound."""
    judged = [judge(2, kind + len(KINDS) * number) for number in range(5)]
    for one in judged:
        assert max(one.ratios) <= 1 + ROUNDING, one.described
    assert max(max(one.ratios) for one in judged) > 0.9


@pytest.mark.large
def test_no_plan_is_below_its_bound() -> None:
    for number in range(1, 60):
        planned = plan_one(2, number)
        assert planned.fault is None, planned
        assert planned.ratio is not None
        assert planned.ratio >= 1 - ROUNDING, planned


def test_circuits_into_a_rank_limit_an_all_gather_and_those_out_of_it_a_reduce_scatter() -> None:
    """A block of 1 MB takes 10 us. Two of them enter every rank over two circuits; 0 sends two of its sums over one."""
    expected_us = {"all-gather": 10 + 1.5, "reduce-scatter": 20 + 1.5}
    for collective, us in expected_us.items():
        bound = ll.bound(collective, 3_000_000, fabric=uneven_fabric()).lower_bound_s
        assert bound == pytest.approx(us * 1e-6, rel=1e-9), collective
        plan = ll.plan(collective, 3_000_000, fabric=uneven_fabric())
        assert plan.total_s >= bound


def test_the_programs_know_what_is_known_by_hand() -> None:
    """On a ring of three both ways every block is sent to both others, a third of m over each circuit."""
    ring = Graph({(0, 1): 1, (1, 2): 1, (2, 0): 1, (1, 0): 1, (2, 1): 1, (0, 2): 1})
    one_way = Graph({(0, 1): 1, (1, 2): 1, (2, 0): 1})
    shares = {(src, dst): 1 / 3 for src in range(3) for dst in range(3) if src != dst}
    for graph, hops, expected in [(ring, 1, 1 / 3), (one_way, 2, 1.0)]:
        steps = [Step(graph, hops)]
        for found in (all_gather(3, steps), reduce_scatter(3, steps), all_to_all(3, steps, shares)):
            assert found == pytest.approx(expected)
    assert all_gather(3, [Step(one_way, 1), Step(one_way, 1)]) == pytest.approx(2 / 3)
    assert all_gather(3, [Step(one_way, 1)]) is None
    # One step brings whole buffers from all to all; two steps sum up first.
    assert all_reduce(3, [Step(ring, 1)]) == pytest.approx(1.0)
    assert all_reduce(3, [Step(ring, 1)] * 2) == pytest.approx(2 / 3)
    assert all_reduce(3, [Step(one_way, 1)]) is None
    # A third to each of the others, which they exchange while the last third comes to both.
    assert broadcast(3, [Step(ring, 1)] * 2, 0) == pytest.approx(2 / 3)
    assert broadcast(2, [Step(Graph({(0, 1): 3}), 1)], 0) == pytest.approx(1 / 3)
    assert broadcast(2, [Step(Graph({(0, 1): 3}), 1)], 1) is None


def test_a_bound_above_the_judges_own_schedules_is_refused(cli: RunCli, tmp_path: Path) -> None:
    """21.50 us was stated of this start once, as of a plan that takes as long."""
    plan = ll.plan("all-gather", 3_000_000, fabric=uneven_fabric(), planner="harvest")
    document = json.loads(plan.to_json())
    assert document["total_s"] == pytest.approx(21.5e-6)
    document["lower_bound_s"] = document["total_s"]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(document))
    ran = cli("verify", file)
    assert ran.status == 1
    # Hop by hop: a step of 1 us and 10 us, and one of 1 us and 5 us.
    assert "is above the time of a schedule on one topology, 0.000017" in ran.out + ran.err
