"""Plans that the tests of simulations share."""

import numpy as np

import lightloom as ll

FABRIC = ll.Fabric(gpus=8, bandwidth="100Gbps", startup="300ns", hop_delay="200ns", reconfiguration_delay="1us")


def ring(size: str = "1MiB") -> ll.Plan:
    """Recursive doubling on a one-way ring: in each step every GPU sends over h hops, h a power of two."""
    return ll.plan(
        "all-reduce",
        size=size,
        fabric=FABRIC,
        algorithm="recursive-doubling",
        planner="static",
        topology="shifted-ring:1,one-way",
    )


def reconfigured() -> ll.Plan:
    """Steps on several topologies, some of several hops."""
    fabric = ll.Fabric(gpus=16, ports=2, reconfiguration_delay="100ns")
    return ll.plan("all-reduce", size="64KiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")


def uneven() -> ll.Plan:
    """Transfers of different sizes, so that GPUs are done with a step at different times."""
    rng = np.random.default_rng(7)
    matrix = rng.integers(1, 60_000, (8, 8)).astype(float)
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="100ns")
    return ll.plan(fabric=fabric, matrix=matrix, planner="static", topology="torus:2x4")
