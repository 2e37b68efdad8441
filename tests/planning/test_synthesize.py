"""Collectives in chunks over fabrics that stay: verified, simulated, exported, and as fast as fixed circuits allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import pytest

import lightloom as ll

if TYPE_CHECKING:
    from pathlib import Path

COLLECTIVES = ("all-gather", "reduce-scatter", "all-reduce")
BYTE_S = 8 / 800e9


def fixed(topology: str | nx.Graph, *, gpus: int | None = None, dims: str | None = None, ports: int = 1) -> ll.Fabric:
    """A fabric whose steps of one hop cost a microsecond and that cannot reconfigure in useful time."""
    return ll.Fabric(
        initial=topology,
        gpus=gpus,
        dims=dims,
        ports=ports,
        startup="500ns",
        hop_delay="500ns",
        reconfiguration_delay="1s",
        bandwidth="800Gbps",
    )


# The fewest steps of one hop, and ranks by the fewest circuits into one: no schedule of one hop a step takes less.
@pytest.mark.large
@pytest.mark.parametrize(
    ("topology", "dims", "ports", "steps", "blocks"),
    [
        ("torus", "8x8", 4, 8, 63 / 4),
        ("grid", "8x8", 4, 14, 63 / 2),
        ("torus", "8x8x4", 6, 10, 255 / 6),
        ("torus", "4x4x4", 6, 6, 63 / 6),
    ],
)
def test_an_all_gather_takes_what_the_circuits_take(
    topology: str, dims: str, ports: int, steps: int, blocks: float
) -> None:
    fabric = fixed(topology, dims=dims, ports=ports)
    plan = ll.plan("all-gather", "1GiB", fabric=fabric, planner="synthesize")
    least_s = steps * 1e-6 + blocks * plan.size_bytes / plan.gpus * BYTE_S
    assert plan.total_s == pytest.approx(least_s, rel=1e-3)
    assert plan.reconfigurations == 0
    assert all(check.passed for check in ll.verify(plan))
    best = ll.plan("all-gather", "1GiB", fabric=fabric)
    assert best.total_s <= plan.total_s * (1 + 1e-12)


def graphs() -> dict[str, ll.Fabric]:
    """Starts of every kind."""
    narrow = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 0)])
    uneven = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (2, 1)])
    return {
        "ring": fixed("ring", gpus=9, ports=2),
        "one way": fixed("ring", gpus=6, ports=1),
        "torus": fixed("torus", dims="3x4", ports=4),
        "grid": fixed("grid", dims="3x4", ports=4),
        "hypercube": fixed("hypercube", gpus=16, ports=4),
        "random": fixed("random-regular", gpus=14, ports=3),
        "kautz": fixed("kautz", gpus=12, ports=2),
        "narrow": fixed(narrow, gpus=6, ports=2),
        "uneven": fixed(uneven, gpus=4, ports=3),
    }


@pytest.mark.large
@pytest.mark.parametrize("start", graphs())
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_start_is_served_verified_and_simulated(start: str, collective: str) -> None:
    fabric = graphs()[start]
    for size in ("2KiB", "16MiB"):
        plan = ll.plan(collective, size, fabric=fabric, planner="synthesize")
        assert plan.algorithm == "synthesized"
        assert plan.total_s >= plan.lower_bound_s
        assert all(check.passed for check in ll.verify(plan))
        assert ll.simulate(plan, level="flow").total_s == pytest.approx(plan.total_s, rel=0.02)
        assert ll.plan(collective, size, fabric=fabric).total_s <= plan.total_s * (1 + 1e-12)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_plan_is_exported_and_read_again(collective: str, tmp_path: Path) -> None:
    plan = ll.plan(collective, "1MiB", fabric=fixed("grid", dims="3x3", ports=4), planner="synthesize")
    again = ll.Plan.from_json(plan.to_json())
    assert again.total_s == plan.total_s
    assert all(check.passed for check in ll.verify(again))
    for target in ("msccl-xml", "harvest", "chakra"):
        ll.export(plan, to=target, output=tmp_path / target)
        assert (tmp_path / target).exists()


def test_what_it_does_not_synthesize_is_refused_in_a_line() -> None:
    for collective in ("broadcast", "all-to-all"):
        with pytest.raises(ValueError, match=r"synthesi[sz]es all-gather, reduce-scatter and all-reduce"):
            ll.plan(collective, "1MiB", fabric=fixed("torus", dims="3x3", ports=4), planner="synthesize")


def test_a_topology_that_is_named_is_the_one() -> None:
    fabric = ll.Fabric(dims="4x4", ports=4)
    plan = ll.plan("all-gather", "64MiB", fabric=fabric, planner="synthesize", topology="grid")
    assert [topology.name for topology in plan.topologies] == ["grid"]
    freely = ll.plan("all-gather", "64MiB", fabric=fabric, planner="synthesize")
    assert freely.total_s < plan.total_s


# Where ranks are too many for floods and the graphs of small diameter have few translations.
@pytest.mark.large
@pytest.mark.parametrize(
    ("collective", "gpus", "ports", "size"),
    [("all-gather", 768, 2, "64KiB"), ("reduce-scatter", 600, 3, "1MiB"), ("all-gather", 1000, 4, "1MiB")],
)
def test_what_is_left_open_takes_no_longer_on_many_gpus(collective: str, gpus: int, ports: int, size: str) -> None:
    fabric = ll.Fabric(gpus=gpus, ports=ports)
    named = ll.plan(collective, size, fabric=fabric, planner="synthesize")
    assert ll.plan(collective, size, fabric=fabric).total_s <= named.total_s * (1 + 1e-12)
