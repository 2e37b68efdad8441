"""What is planned passes the verifier, and planning everything together is never worse than any other policy.

`ll.train` hands nothing out that `verify` refuses, so that to plan is to be judged.
"""

from __future__ import annotations

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.draws import cases
from tests.training.judge_random_workloads import CHOOSABLE, MAY_NOT_SERVE, drawn, judge_all, planned

# In `make test-long`, the whole.
PART = cases(20)


@pytest.mark.large
def test_random_workloads_are_planned_and_pass_the_judge() -> None:
    for seed in range(8):
        judge_all(range(seed, seed + 1), (CHOOSABLE[seed % len(CHOOSABLE)],))


@pytest.mark.large
@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_more_random_workloads_are_planned_and_pass_the_judge(part: int) -> None:
    judge_all(range(part * PART, (part + 1) * PART))


def test_iterations_that_take_turns_come_to_rest() -> None:
    # Scheduled only by priority, this one alternates between two orders for ever, under every policy.
    fabric, told = drawn(1248)
    assert planned(told, fabric).total_s > 0.0


@pytest.mark.parametrize("policy", ["static", "one-shot"])
def test_messages_pass_ranks_that_nothing_else_uses(policy: str) -> None:
    # The ring of four was there before the first iteration: from 0 to 2 it is two hops, over a rank without any event.
    collective = {"kind": "collective", "collective": "all-reduce", "size_bytes": 10**6, "axis": "b"}
    nodes = [
        {"id": "s", "kind": "send", "source": 0, "destination": 2, "size_bytes": 10**6, "after": []},
        {"id": "c", **collective, "ranks": [0, 4], "after": ["s"]},
        {"id": "t", "kind": "send", "source": 2, "destination": 3, "size_bytes": 10**6, "after": ["c"]},
    ]
    told = {"schema": "lightloom.workload/1", "ranks": 8, "mesh": {"a": 4, "b": 2}, "groups": {}, "nodes": nodes}
    iteration = planned(told, ll.Fabric(ports=2), policy)
    assert not any(event.reconfigured for event in iteration.events)


def test_groups_that_share_ranks_keep_no_topology() -> None:
    # Ranks 1 and 2 are in both groups: their ports cannot rest in, or keep, the circuits of both.
    collective = {"kind": "collective", "collective": "all-reduce", "size_bytes": 10**6}
    nodes = [
        {"id": "a", **collective, "group": "left", "after": []},
        {"id": "b", **collective, "group": "right", "after": ["a"]},
    ]
    groups = {"left": [0, 1, 2], "right": [1, 2, 3]}
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {}, "groups": groups, "nodes": nodes}
    for policy in ("carry", "alone", "pccl"):
        assert planned(told, ll.Fabric(ports=2), policy).reconfigurations == 2
    for policy in MAY_NOT_SERVE:
        with pytest.raises(InputError, match="does not serve the workload"):
            planned(told, ll.Fabric(ports=2), policy)
