"""Two workloads on the same GPUs as one: closed forms of its time, and its groups."""

from __future__ import annotations

import itertools

import pytest

import lightloom as ll
from lightloom.jobs.merge import merged, nodes_of
from tests.jobs.workloads import computing, gathering, workload

FABRIC = ll.Fabric(ports=2)
MIB = 1 << 20


def time_s(made: ll.Workload) -> float:
    return ll.train(made, fabric=FABRIC).total_s


def test_a_gpu_computes_for_one_job_at_a_time() -> None:
    first, second = workload(computing(2e-3)), workload(computing(1e-3), computing(5e-4))
    assert time_s(merged(first, second, (1, 1))) == pytest.approx(3.5e-3)
    assert time_s(merged(first, second, (1, 3))) == pytest.approx(2e-3 + 3 * 1.5e-3)


def test_one_job_computes_while_the_other_communicates() -> None:
    first, second = workload(computing(2e-3)), workload(gathering(4 * MIB))
    alone_s = time_s(second)
    assert alone_s < 1e-3
    assert time_s(merged(first, second, (1, 1))) == pytest.approx(2e-3)
    # As many gathers as take longer than the computation follow each other.
    count = int(2e-3 / alone_s) + 2
    assert time_s(merged(first, second, (1, count))) == pytest.approx(count * alone_s)


def test_two_jobs_that_communicate_share_ports() -> None:
    """Neither circuits nor ports serve both at once: no faster than the bytes on all ports allow."""
    one = workload(gathering(64 * MIB))
    both_s = time_s(merged(one, one, (1, 1)))
    least_s = 2 * (3 / 4) * 64 * MIB * 8 / (2 * 800e9)
    assert both_s >= least_s
    assert both_s >= time_s(one)


@pytest.mark.parametrize("counts", [(1, 1), (2, 3)])
def test_axes_become_the_groups_that_they_are(counts: tuple[int, int]) -> None:
    mesh = {"a": 2, "b": 3}
    first = workload(
        gathering(4096, "a"),
        gathering(4096, "b", stream="s"),
        gathering(4096, "a", ranks="some"),
        mesh=mesh,
        groups={"some": [2, 3, 4, 5]},
    )
    second = workload(gathering(4096, "dp"), mesh={"dp": 6})
    told = merged(first, second, counts)
    assert len(told.nodes) == nodes_of(first, second, counts) == 3 * counts[0] + counts[1]
    groups = told.groups

    def ranks_of(node: dict[str, object]) -> set[tuple[int, ...]]:
        named = node["group"]
        names = [named] if isinstance(named, str) else list(named)  # type: ignore[call-overload]
        return {groups[name] for name in names}

    # rank = a + 2 b
    along_a = {tuple(a + 2 * b for a in range(2)) for b in range(3)}
    along_b = {tuple(a + 2 * b for b in range(3)) for a in range(2)}
    found = [ranks_of(node) for node in told.nodes]
    assert found == [along_a, along_b, {(2, 3), (4, 5)}] * counts[0] + [{tuple(range(6))}] * counts[1]


def test_iterations_follow_each_other() -> None:
    first = workload(computing(1e-3), {**computing(1e-3), "after": []}, gathering(4096))
    told = merged(first, workload(computing(1e-3)), (3, 1))
    after = {node["id"]: set(node["after"]) for node in told.nodes}
    iterations = [list(after)[start : start + 3] for start in (0, 3, 6)]
    for before, later in itertools.pairwise(iterations):
        # The first computation and the gather, which follows the second, end an iteration.
        assert after[later[0]] == after[later[1]] == {before[0], before[2]}
        assert after[later[2]] == {later[1]}
    assert after[list(after)[9]] == set()
