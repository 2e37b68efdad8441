"""Iterations with All-to-Alls of matrices: judged, against numbers on paper, and refusals."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.simulation.retiming import retimed
from tests.training import random_workloads
from tests.training.judge_random_workloads import CHOOSABLE, drawn, planned

ROWS = [[5, 0, 300_000, 7], [100, 0, 0, 20_000], [1, 2, 3, 4], [50_000, 0, 9, 0]]


def _told(rows: list[list[int]], **keys: Any) -> dict[str, Any]:
    """Two All-to-Alls of a matrix with a computation between: out, and back."""
    exchange = {"kind": "collective", "collective": "all-to-all", "axis": "ep", "matrix": "routes"}
    nodes = [
        {"id": "dispatch", **exchange, "after": [], **keys},
        {"id": "experts", "kind": "compute", "duration_s": 1e-4, "after": ["dispatch"]},
        {"id": "combine", **exchange, "transposed": True, "after": ["experts"]},
    ]
    ranks = len(rows)
    return {
        "schema": "lightloom.workload/1",
        "ranks": ranks,
        "mesh": {"ep": ranks},
        "matrices": {"routes": rows},
        "nodes": nodes,
    }


def _bytes_of(plan: ll.Plan) -> Counter[tuple[int, int]]:
    """Bytes between different ranks that a plan's pieces are."""
    found: Counter[tuple[int, int]] = Counter()
    document = json.loads(plan.to_json())
    for source, destination, share in document["chunks"]["pieces"]:
        if source != destination:
            found[source, destination] += round(share * plan.size_bytes, 3)
    return Counter({pair: round(size) for pair, size in found.items()})


def test_two_ranks_by_hand() -> None:
    # 1 MB one way and half as much the other, at 100 GB/s: the busier way counts, out and back.
    training = planned(_told([[0, 10**6], [5 * 10**5, 7 * 10**5]]), ll.Fabric(ports=1, startup="1us", hop_delay="2us"))
    assert training.sizes_bytes == (1_700_000, None, 1_700_000)
    assert [event.end_s - event.start_s for event in training.events] == pytest.approx([13e-6, 1e-4, 13e-6])
    assert training.policies["packet-switch"] == pytest.approx(126e-6)


@pytest.mark.parametrize("ports", [1, 2])
def test_plans_carry_the_matrix_out_and_transposed_back(ports: int) -> None:
    training = planned(_told(ROWS), ll.Fabric(ports=ports))
    out = {(row, column): size for row, sizes in enumerate(ROWS) for column, size in enumerate(sizes) if row != column}
    expected = [Counter({pair: size for pair, size in out.items() if size})]
    expected.append(Counter({(column, row): size for (row, column), size in expected[0].items()}))
    plans = [training.plans[event.plan] for event in training.events if event.plan is not None]
    assert [_bytes_of(plan) for plan in plans] == expected


def test_a_plan_of_other_bytes_is_found_out() -> None:
    training = planned(_told(ROWS), ll.Fabric(ports=2))
    document = json.loads(training.to_json())
    rows = document["workload"]["matrices"]["routes"]
    # The busiest row and column stay as they are.
    rows[3][0], rows[3][1] = rows[3][0] - 5, rows[3][1] + 5
    with pytest.raises(InputError, match=r"its plan sends .* bytes from place 3 to place 0, and its matrix has 49995"):
        ll.Training.from_json(json.dumps(document))


@pytest.mark.large
def test_random_iterations_with_matrices_pass_the_judge_and_are_timed_again() -> None:
    for seed in range(12):
        fabric, told = drawn(seed)
        rng = random.Random(seed)  # noqa: S311 (a test's draws, not a secret)
        told = random_workloads.with_matrices(rng, told)
        training = planned(told, fabric, "carry")
        for policy in CHOOSABLE:
            seconds = training.policies[policy]
            assert seconds is None or training.total_s <= seconds * (1 + 1e-9), (seed, policy)
        again = retimed(training, [event.end_s - event.start_s for event in training.events])
        assert again.total_s == pytest.approx(training.total_s, rel=1e-9), seed


@pytest.mark.parametrize(
    ("keys", "field", "said"),
    [
        ({"matrix": "other"}, "workload.nodes[0].matrix", "`other` is no matrix; there are routes"),
        ({"collective": "all-reduce"}, "workload.nodes[0].matrix", "goes with an all-to-all"),
        ({"size_bytes": 7}, "workload.nodes[0].matrix", "has 400105 bytes, and `size_bytes` is 7"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(keys: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        ll.Workload.of(_told([*ROWS[:2], [350_000, 0, 9, 92], ROWS[3]], **keys))
    assert error.value.field == field
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[0, 1], [1]], "row 1 with 1 entries"),
        ([[1, 0], [0, 1]], "sends nothing"),
        ([[0, 1 << 53], [1, 1]], "2^53"),
        ([[0, -1], [1, 1]], "it takes a whole number"),
    ],
)
def test_rows_that_are_no_matrix_are_refused(rows: list[list[int]], said: str) -> None:
    with pytest.raises(InputError, match="routes") as error:
        ll.Workload.of(_told(rows))
    assert said in str(error.value)


def test_a_matrix_of_other_ranks_is_refused() -> None:
    told = _told(ROWS) | {"ranks": 8, "mesh": {"ep": 8}}
    with pytest.raises(InputError, match="`routes` is of 4 ranks, and the groups have 8"):
        ll.Workload.of(told)


def test_each_group_has_the_plan_of_its_own_matrix() -> None:
    # Ranks 0, 2 and 1, 3 along ep. One way 1 MB and 3 MB, at 100 GB/s: each group's time on paper.
    exchange = {"kind": "collective", "collective": "all-to-all", "axis": "ep"}
    told = {
        "schema": "lightloom.workload/1",
        "ranks": 4,
        "mesh": {"tp": 2, "ep": 2},
        "matrices": {"small": [[0, 10**6], [5 * 10**5, 0]], "large": [[0, 10**5], [3 * 10**6, 0]]},
        "nodes": [
            {"id": "dispatch", **exchange, "matrix": ["small", "large"], "after": []},
            {"id": "experts", "kind": "compute", "duration_s": 1e-4, "after": ["dispatch"]},
            {"id": "combine", **exchange, "matrix": ["small", "large"], "transposed": True, "after": ["experts"]},
        ],
    }
    training = planned(told, ll.Fabric(ports=1, startup="1us", hop_delay="2us"))
    spans = {event.node: event.end_s - event.start_s for event in training.events}
    assert spans == pytest.approx(
        {"dispatch.0": 13e-6, "dispatch.1": 33e-6, "experts": 1e-4, "combine.0": 13e-6, "combine.1": 33e-6}
    )
    assert training.total_s == pytest.approx(166e-6)
    sent = {event.node: _bytes_of(training.plans[event.plan]) for event in training.events if event.plan is not None}
    assert sent["dispatch.0"] == Counter({(0, 1): 10**6, (1, 0): 5 * 10**5})
    assert sent["combine.1"] == Counter({(1, 0): 10**5, (0, 1): 3 * 10**6})
    told["nodes"] = [{"id": "dispatch", **exchange, "matrix": ["small"], "after": []}]
    with pytest.raises(
        InputError, match=r"^workload\.nodes\[0\]\.matrix: its length is 1; it takes a matrix for each "
    ):
        ll.Workload.of(told)


def test_groups_that_wait_for_one_another_too_often_are_refused() -> None:
    # Each of 1100 groups waits for 1100 others.
    groups = 1100
    all_to_all = {"kind": "collective", "collective": "all-to-all", "axis": "ep", "matrix": ["m"] * groups}
    nodes: list[dict[str, Any]] = [{**all_to_all, "id": "a", "after": []}, {**all_to_all, "id": "b", "after": ["a"]}]
    told = {
        "schema": "lightloom.workload/1",
        "ranks": 2 * groups,
        "mesh": {"ep": 2, "dp": groups},
        "matrices": {"m": [[0, 1], [1, 0]]},
        "nodes": nodes,
    }
    with pytest.raises(
        InputError, match=r"^workload\.nodes\[1\]\.after: groups .* wait for one another more than 1048576 times"
    ):
        ll.Workload.of(told)
    # By way of a computation of all ranks they wait once each.
    between = {"id": "c", "kind": "compute", "duration_s": 0.0, "after": ["a"]}
    nodes[1:] = [between, {**nodes[1], "after": ["c"]}]
    assert ll.Workload.of(told).ranks == 2 * groups
