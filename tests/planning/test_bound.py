"""The verb `bound` and `lightloom.bound`: their results, against closed forms and plans."""

import json
import math

import pytest

import lightloom as ll
from tests.conftest import RunCli
from tests.names import names

BETA = 8 / 800e9
ALPHA = DELTA = 500e-9


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_one_port_without_changes_is_the_ring(collective: str) -> None:
    """Too dear to change, too large for congestion: n - 1 steps of one hop, each of m/n bytes."""
    gpus, size = 32, 1 << 30
    bound = ll.bound(collective, size=size, fabric=ll.Fabric(gpus=gpus, reconfiguration_delay="1s"))
    ring = (gpus - 1) * (ALPHA + DELTA + BETA * size / gpus)
    assert bound.lower_bound_s == pytest.approx(ring, rel=1e-9)
    (statement,) = bound.statements
    assert (statement.steps, statement.topologies) == (gpus - 1, 1)


def test_free_changes_double_the_holders() -> None:
    """With one hop as dear as can be and changes for free, log2 n steps of one hop each."""
    fabric = ll.Fabric(gpus=64, startup=0, hop_delay="1ms", reconfiguration_delay=0)
    bound = ll.bound("broadcast", size=1, fabric=fabric)
    assert bound.lower_bound_s == pytest.approx(6e-3, rel=1e-6)
    assert (bound.largest.steps, bound.largest.topologies) == (6, 6)


def test_all_reduce_moves_its_bytes_twice() -> None:
    gpus, size, ports = 16, 1 << 30, 3
    fabric = ll.Fabric(gpus=gpus, ports=ports, startup=0, hop_delay=0, reconfiguration_delay=0)
    bound = ll.bound("all-reduce", size=size, fabric=fabric)
    assert bound.lower_bound_s == pytest.approx(2 * (1 - 1 / gpus) * BETA * size / ports, rel=1e-9)


def test_all_to_all_takes_a_topology_for_each_offset_where_changes_are_free() -> None:
    gpus, size = 9, 1 << 30
    bound = ll.bound("all-to-all", size=size, fabric=ll.Fabric(gpus=gpus, reconfiguration_delay=0))
    assert bound.lower_bound_s == pytest.approx((gpus - 1) * (ALPHA + DELTA + BETA * size / gpus), rel=1e-9)
    # And on one topology the blocks go 1, 2, ..., n - 1 hops; three changes at 1 s are no help.
    bound = ll.bound("all-to-all", size=size, fabric=ll.Fabric(gpus=gpus, reconfiguration_delay="10s"))
    hops = sum(range(1, gpus))
    assert bound.lower_bound_s == pytest.approx(ALPHA + (gpus - 1) * DELTA + BETA * size / gpus * hops, rel=1e-9)


def test_the_published_plan_is_the_best_for_its_algorithm() -> None:
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="1us")
    problem = "all-reduce", "1MiB"
    plan = ll.plan(*problem, fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    bound = ll.bound(*problem, fabric=fabric, algorithm="recursive-doubling")
    assert bound.largest.bound_class.startswith("recursive-doubling in its")
    assert bound.lower_bound_s == pytest.approx(plan.total_s, rel=1e-9)
    assert plan.gap == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("collective", names("collectives"))
@pytest.mark.parametrize("overlap", ["additive", "pipelined"])
def test_a_plan_carries_the_bound_and_is_above_it(collective: str, overlap: str) -> None:
    fabric = ll.Fabric(gpus=12, ports=2)
    plan = ll.plan(collective, size="1MiB", fabric=fabric, overlap=overlap)
    bound = ll.bound(collective, size="1MiB", fabric=fabric, overlap=overlap)
    assert bound.lower_bound_s <= plan.lower_bound_s <= plan.total_s * (1 + 1e-12)
    assert plan.gap == plan.total_s / plan.lower_bound_s


def test_the_bound_of_a_matrix_is_that_of_its_busiest_rank() -> None:
    matrix = [[0, 8e6, 0], [0, 0, 1e3], [1e3, 0, 0]]
    bound = ll.bound(matrix=matrix, fabric=ll.Fabric(startup=0, hop_delay=0))
    assert bound.lower_bound_s == pytest.approx(8e6 * BETA, rel=1e-9)


def test_json_has_every_term(cli: RunCli) -> None:
    problem = ["--collective", "all-reduce", "--size", "1MiB", "--gpus", 16, "--algorithm", "recursive-doubling"]
    ran = cli("bound", *problem, "--format", "json")
    bounds = json.loads(ran.out)
    names = [bound["name"] for bound in bounds["bounds"]]
    assert names == ["two-passes", "places", "shared-places", "winding", "fractional-topology"]
    assert bounds["lower_bound_s"] == max(bound["lower_bound_s"] for bound in bounds["bounds"])
    for bound in bounds["bounds"]:
        terms = [bound[f"{term}_s"] for term in ("startup", "propagation", "transmission", "reconfiguration")]
        assert math.fsum(terms) == pytest.approx(bound["lower_bound_s"], rel=1e-12)
        assert bound["why"]
        assert bound["bound_class"]
    assert math.prod(segment["growth"] for segment in bounds["bounds"][0]["segments"]) > 16 * 0.98


def test_the_table_marks_the_largest_and_says_why(cli: RunCli) -> None:
    lines = cli("bound", "--collective", "all-to-all", "--size", "1MiB", "--gpus", 8, "--algorithm", "direct").out
    marked = [line for line in lines.splitlines() if line.startswith(" *")]
    assert len(marked) == 1
    bounds = ll.bound("all-to-all", size="1MiB", fabric=ll.Fabric(gpus=8), algorithm="direct")
    assert marked[0].split()[1] == bounds.largest.name
    for statement in bounds.statements:
        assert f"{statement.name}: " in lines


def test_compare_says_how_far_each_row_is(cli: RunCli) -> None:
    ran = cli("compare", "--collective", "all-gather", "--size", "1MiB", "--gpus", 16, "--format", "json")
    comparison = json.loads(ran.out)
    assert comparison["lower_bound_s"] >= ll.bound("all-gather", size="1MiB", fabric=ll.Fabric(gpus=16)).lower_bound_s
    for row in comparison["rows"]:
        assert row["gap"] == row["total_s"] / comparison["lower_bound_s"]


def test_wrong_input_names_its_field(cli: RunCli) -> None:
    assert cli("bound", "--collective", "all-gather", "--gpus", 8).err.startswith("error: size: ")
    ran = cli("bound", "--collective", "all-gather", "--size", "1MiB", "--gpus", 8, "--algorithm", "rong")
    assert (ran.status, ran.err.startswith("error: algorithm: ")) == (2, True)
