"""The symbolic check of AllReduces, against floats that are added as the plan says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

from lightloom import InputError, plan
from lightloom.inputs.fabric import Fabric
from lightloom.plans import Plan
from lightloom.torch.agreement import agrees, plan_that_agrees

ALGORITHMS = [None, "ring", "dissemination", "halving-doubling", "recursive-doubling", "one-step", "bruck"]


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


@settings(max_examples=60, deadline=None)
@given(
    ranks=st.integers(2, 12),
    exponent=st.integers(10, 26),
    fabric=st.sampled_from(["default", "harvest", "tunable-laser"]),
    algorithm=st.sampled_from(ALGORITHMS),
    seed=st.integers(0, 1 << 30),
)
def test_the_check_foretells_whether_floats_agree(
    ranks: int, exponent: int, fabric: str, algorithm: str | None, seed: int
) -> None:
    sized = Fabric.load(fabric, gpus=ranks)
    data = np.random.default_rng(seed)
    chosen = plan_that_agrees(1 << exponent, sized)
    assert ranks_have_the_same_bits(chosen, data)
    try:
        made = plan("all-reduce", 1 << exponent, fabric=sized, algorithm=algorithm)
    except InputError:
        return
    # What it lets pass is right; what it refuses may be right by chance, of two transfers in one order everywhere.
    assert not agrees(made) or ranks_have_the_same_bits(made, data)


def test_dissemination_is_refused_and_its_floats_differ() -> None:
    made = plan("all-reduce", "32KiB", fabric=Fabric.load("default", gpus=8), algorithm="dissemination")
    assert not agrees(made)
    assert not ranks_have_the_same_bits(made, np.random.default_rng(1))
