"""The order of an iteration's events: no order of the same plans is faster, and better fabrics are never slower."""

from __future__ import annotations

from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.training.judge_orders import judge_order, judge_weaker

EVERYONE: dict[str, Any] = {"schema": "lightloom.workload/1", "ranks": 8, "mesh": {"a": 8}}


def _compute(name: str, duration_s: float, *after: str) -> dict[str, Any]:
    return {"id": name, "kind": "compute", "duration_s": duration_s, "after": list(after)}


def _collective(name: str, collective: str, size_bytes: int, *after: str, **more: Any) -> dict[str, Any]:
    made = {"id": name, "kind": "collective", "collective": collective, "axis": "a", "size_bytes": size_bytes}
    return {**made, "after": list(after), **more}


@pytest.mark.large
@pytest.mark.slow
def test_no_order_is_faster() -> None:
    assert sum(judge_order(seed) for seed in range(40)) > 0


@pytest.mark.large
@pytest.mark.slow
def test_better_fabrics_are_never_slower() -> None:
    assert [line for seed in range(8) for line in judge_weaker(seed)] == []


@pytest.mark.parametrize("bandwidth", ["800Gbps", "1600Gbps", "3200Gbps"])
def test_what_has_most_behind_it_goes_first(bandwidth: str) -> None:
    # 1 µs of computation leads to a collective of 25 to 98 µs, 100 µs of computation to nothing.
    nodes = [_compute("n0", 1e-4), _compute("n1", 1e-6), _collective("n2", "reduce-scatter", 1 << 25, "n1")]
    fabric = ll.Fabric(ports=3, bandwidth=bandwidth, reconfiguration_delay="10us")
    training = ll.train(ll.Workload.of({**EVERYONE, "nodes": nodes}), fabric=fabric)
    assert training.total_s == pytest.approx(101e-6, rel=1e-9)
    assert training.exact
    assert training.order_bound_s == pytest.approx(training.total_s)


def test_a_circle_of_streams_and_dependencies_is_wrong_input() -> None:
    nodes = [_collective("x", "all-reduce", 10**6, "y", stream="s"), _collective("y", "all-reduce", 10**6, stream="s")]
    said = r"workload\.nodes\[0\]\.after: nodes wait for each other in a circle: `x` comes after `y`; `y` comes after"
    with pytest.raises(InputError, match=said):
        ll.Workload.of({**EVERYONE, "nodes": nodes})


def test_what_has_no_port_to_rest_on_keeps_what_stands() -> None:
    # Two axes on one port: neither has a resting topology. Only the first of consecutive collectives changes circuits.
    nodes = [
        {**_collective(f"{axis}{place}", "all-reduce", 10**6), "axis": axis, "after": [before] if before else []}
        for axis, place, before in (
            ("a", 0, ""), ("a", 1, "a0"), ("a", 2, "a1"), ("a", 3, "a2"), ("b", 0, "a3"), ("b", 1, "b0"),
        )
    ]  # fmt: skip
    told = {"schema": "lightloom.workload/1", "ranks": 8, "mesh": {"a": 4, "b": 2}, "nodes": nodes}
    training = ll.train(ll.Workload.of(told), fabric=ll.Fabric(ports=1), policy="alone")
    assert [event.node for event in training.events if event.reconfigured] == ["a0", "b0"]


def test_communications_at_a_time_are_not_exact_above_the_bound() -> None:
    nodes = [
        _compute("n0", 1e-4),
        _collective("n1", "all-reduce", 20_000_000),
        {**_collective("n2", "all-gather", 1_000_000, "n0"), "axis": "b"},
        {**_collective("n3", "all-to-all", 20_000_000, "n1"), "axis": "b"},
    ]
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"a": 2, "b": 2}, "nodes": nodes}
    training = ll.train(ll.Workload.of(told), fabric=ll.Fabric(ports=2))
    assert not training.exact
    assert all(check.passed for check in ll.verify(training))
    with pytest.raises(
        InputError, match="`exact` is stated for a time above the bound, though node `n1` begins before node `n0` ends"
    ):
        ll.Training.from_json(training.to_json().replace('"exact": false', '"exact": true'))
