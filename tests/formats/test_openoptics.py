"""OpenOptics: its rule for joining ports, written anew, takes every circuit of every step of the plan."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from tests.formats.plans import random_plan


def joined(output: Path, nodes: int, links: int) -> list[set[tuple[int, int]]]:
    """By slice the pairs of nodes that are joined in one direction; a port that is taken is refused, as there."""
    slices: dict[int, set[tuple[int, int]]] = {}
    taken: set[tuple[int, int, int]] = set()
    for time_slice, source, destination, sends, receives in json.loads(output.read_text()):
        assert 0 <= source < nodes
        assert 0 <= destination < nodes
        assert 0 <= min(sends, receives) <= max(sends, receives) < links
        ends = {(time_slice, source, sends), (time_slice, destination, receives)}
        assert len(ends) == 2
        assert not ends & taken
        taken |= ends
        slices.setdefault(time_slice, set()).add((source, destination))
    return [slices[index] for index in range(len(slices))]


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 400))
def test_random_plans_have_a_slice_for_every_step(index: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    plan = random_plan(index, 10)
    if plan is None:
        return
    output = tmp_path_factory.mktemp("openoptics") / "circuits.json"
    links = [plan.topologies[step.topology_index].links.tolist() for step in plan.steps]
    try:
        ll.export(plan, "openoptics", output)
    except InputError as error:
        assert "openoptics keeps one" not in str(error) or any(one[2] > 1 for step in links for one in step)
        return
    assert all(one[2] == 1 for step in links for one in step)
    steps = [{(source, destination) for source, destination, _ in step} for step in links]
    assert joined(output, plan.gpus, 2 * plan.ports) == steps


def test_parallel_circuits_are_refused(tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=4, ports=2)
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="ring", topology="circulant:1,1", planner="static")
    with pytest.raises(InputError, match=r"plan: topology \S+ has 2 circuits from GPU 0 to GPU 1; openoptics"):
        ll.export(plan, "openoptics", tmp_path / "circuits.json")
    assert not list(tmp_path.iterdir())
