"""Iterations on meshes of MZIs: paths by hand, and by chance."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.training.random_workloads import fabric as fabric_by_chance
from tests.training.random_workloads import workload as workload_by_chance
from tests.training.test_optical_layer import _all_pass, _fabric, _pairs

# Meshes of MZIs in a line, of one GPU each: from one to the next there is a waveguide each way.


def _paths(training: ll.Training) -> list[dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]]]:
    """By configuration, the MZIs and waveguides of every circuit, by its ends on a port each."""
    made = ll.circuits(training)
    told = json.loads(made.to_json())
    return [
        {
            (path["ingress"] - 1, path["egress"] - 1): (tuple(path["mzis"]), tuple(path["waveguides"]))
            for path in configuration["light"]
        }
        for configuration in told["configurations"]
    ]


def test_circuits_that_are_never_lit_at_once_take_turns_on_a_waveguide() -> None:
    # 0 to 2 and 1 to 2 both need the waveguide from MZI 1 to MZI 2. GPU 2 has one port, so that pairs take turns: an
    # iteration is two changes and two AllReduces, with the mesh as without.
    read = _pairs([(0, 2), (1, 2)], [(), (0,)], ranks=3)
    free = ll.train(read, fabric=_fabric(None))
    training = ll.train(read, fabric=_fabric("mesh:1x3"))
    assert training.total_s == free.total_s
    _all_pass(training)
    seen = {pair: path for paths in _paths(training) for pair, path in paths.items()}
    assert seen == {
        (0, 2): ((0, 1, 2), (0, 0)),
        (2, 0): ((2, 1, 0), (0, 0)),
        (1, 2): ((1, 2), (0,)),
        (2, 1): ((2, 1), (0,)),
    }


def test_circuits_without_paths_are_refused_in_a_line() -> None:
    # 0 to 2 and 1 to 3 both need the waveguide from MZI 1 to MZI 2, and nothing else takes their ports.
    read = _pairs([(0, 2), (1, 3)], [(), (0,)])
    with pytest.raises(InputError, match=r"the mesh has no paths for all circuits of the iteration") as refused:
        ll.train(read, fabric=_fabric("mesh:1x4"))
    assert refused.value.field == "optics"
    assert "\n" not in str(refused.value)
    for more in ("waveguides=2", "wavelengths=2"):
        training = ll.train(read, fabric=_fabric(f"mesh:1x4,{more}"))
        assert training.total_s == ll.train(read, fabric=_fabric(None)).total_s
        _all_pass(training)


def test_a_circuit_that_stays_on_another_path_is_found() -> None:
    # 0 and 2, whose circuits stay when 1 and 2 have theirs on another port, on two waveguides.
    read = _pairs([(0, 1), (1, 2), (3, 4)], [(), (0,), ()], ranks=5)
    training = ll.train(read, fabric=_fabric("mesh:1x5,waveguides=2"))
    made = ll.circuits(training)
    told = json.loads(made.to_json())
    both = [
        path
        for configuration in told["configurations"]
        for path in configuration["light"]
        if (path["ingress"], path["egress"]) == (4, 5)
    ]
    assert len(both) > 1
    assert len({json.dumps(path) for path in both}) == 1
    moved = told["configurations"][1]
    for path in moved["light"]:
        if (path["ingress"], path["egress"]) == (4, 5):
            path["waveguides"] = [1 - path["waveguides"][0]]
    again = ll.Circuits.from_json(json.dumps(told))
    failed = {check.name for check in ll.verify(again, plan=training) if not check.passed}
    assert "kept paths" in failed


@pytest.mark.large
@pytest.mark.parametrize("seed", range(12))
def test_iterations_by_chance_on_a_mesh_have_paths_or_are_refused(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (tests)
    read, given = workload_by_chance(rng, most=5), fabric_by_chance(rng)
    side = rng.choice((3, 4, 6))
    optics = f"mesh:{side}x{side},wavelengths={rng.choice((1, 2, 4))}"
    try:
        training = ll.train(ll.Workload.of(read), fabric=replace(given, optics=optics))
    except InputError as refused:
        assert refused.field == "optics"
        assert "\n" not in str(refused)
        return
    _all_pass(training)
