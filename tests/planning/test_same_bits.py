"""AllReduces that end with the same bits at every rank, against floats that are added as the plan says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom import InputError, _core, plan
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.requests import build_request
from lightloom.plans import Plan

ALGORITHMS = [None, "ring", "dissemination", "halving-doubling", "recursive-doubling", "one-step", "bruck"]
FABRICS = ["default", "harvest", "tunable-laser"]


def ranks_have_the_same_bits(made: Plan, data: np.random.Generator) -> bool:
    """Whether float32 of many magnitudes end alike, a transfer at a time; 64 elements a chunk."""
    ranks, chunks = made.members, len(made.chunks())
    held = np.exp(data.normal(0, 8, (ranks, chunks, 64))).astype(np.float32)
    for step in range(len(made.steps)):
        before = held.copy()
        for one in made.transfers(step):
            part = one.chunks.astype(int)
            came = before[one.source, part]
            held[one.destination, part] = came + held[one.destination, part] if one.operation == "reduce" else came
    return bool((held == held[0]).all())


@pytest.mark.large
@settings(max_examples=60, deadline=None)
@given(
    ranks=st.integers(2, 12),
    exponent=st.integers(10, 26),
    fabric=st.sampled_from(FABRICS),
    algorithm=st.sampled_from(ALGORITHMS),
    seed=st.integers(0, 1 << 30),
)
def test_the_check_foretells_whether_floats_agree(
    ranks: int, exponent: int, fabric: str, algorithm: str | None, seed: int
) -> None:
    sized = Fabric.load(fabric, gpus=ranks)
    data = np.random.default_rng(seed)
    chosen = Plan(_core.plan_with_same_bits(build_request("all-reduce", 1 << exponent, sized)))
    assert ranks_have_the_same_bits(chosen, data)
    assert chosen.total_s >= plan("all-reduce", 1 << exponent, fabric=sized).total_s
    try:
        made = plan("all-reduce", 1 << exponent, fabric=sized, algorithm=algorithm)
    except InputError:
        return
    # What it lets pass is right; what it refuses may be right by chance, of two transfers in one order everywhere.
    if made.core.has_same_bits():
        assert ranks_have_the_same_bits(made, data)
        assert chosen.total_s <= made.total_s


def test_dissemination_is_refused_and_its_floats_differ() -> None:
    made = plan("all-reduce", "32KiB", fabric=Fabric.load("default", gpus=8), algorithm="dissemination")
    assert not made.core.has_same_bits()
    assert not ranks_have_the_same_bits(made, np.random.default_rng(1))


@pytest.mark.parametrize("policy", ["carry", "pccl", "one-shot"])
def test_an_iteration_that_asks_for_it_has_only_such_plans(policy: str) -> None:
    # Hops of 5 µs and changes of 1 µs: the fastest AllReduces of few KiB add in an order of each rank's own.
    fabric = Fabric(gpus=4, bandwidth="800Gbps", startup="0.5us", hop_delay="5us", reconfiguration_delay="1us")
    sums = [
        {"id": f"s{size}", "kind": "collective", "collective": "all-reduce", "axis": "dp", "size_bytes": size}
        for size in (1 << 15, 1 << 17, 1 << 19)
    ]
    nodes = [
        {**one, "after": [before["id"]] if before else []} for before, one in zip([None, *sums], sums, strict=False)
    ]
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"dp": 4}, "groups": {}, "nodes": nodes}
    free, bound = (
        ll.train(ll.Workload.of({**told, "same_bits": one}), fabric=fabric, policy=policy) for one in (False, True)
    )
    data = np.random.default_rng(2)
    assert not all(ranks_have_the_same_bits(one, data) for one in free.plans)
    assert bound.plans
    assert all(ranks_have_the_same_bits(one, data) for one in bound.plans)
    assert bound.total_s > free.total_s
