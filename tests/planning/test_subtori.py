"""Planner `bridge` on a torus (BRIDGE §5): closed form, baselines, every verb, refusals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

import lightloom
from lightloom import Fabric

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom import Plan
    from tests.conftest import RunCli

COLLECTIVES = ("all-to-all", "reduce-scatter", "all-gather", "all-reduce")
TORUS: dict[str, Any] = {"algorithm": "bruck-torus", "planner": "bridge"}


def fabric_of(dims: str, ports: int, delay: str | float = "10us", initial: str = "free") -> Fabric:
    """A fabric with the default rates."""
    return Fabric(dims=dims, ports=ports, reconfiguration_delay=delay, initial=initial)


@pytest.mark.large
@pytest.mark.parametrize("dims", ["8x8", "4x4x4", "4x16", "3x5x2"])
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_all_judges_accept_a_plan(cli: RunCli, in_tmp: Path, collective: str, dims: str) -> None:
    """Verified and simulated, its circuits put on switches and written for other tools."""
    plan = ("--collective", collective, "--dims", dims, "--ports", 3, "--size", "4MiB", "--planner", "bridge")
    assert cli("plan", *plan, "--algorithm", "bruck-torus", "--output", "plan.json").status == 0
    assert cli("verify", "plan.json").status == 0
    assert cli("simulate", "plan.json", "--level", "flow").status == 0
    assert cli("circuits", "plan.json", "--output", "circuits.json").status == 0
    assert cli("bound", *plan[:8]).status == 0
    for form in ("msccl-xml", "harvest", "graphml"):
        assert cli("export", "plan.json", "--to", form, "--output", f"out-{form}").status == 0
    assert {path.name for path in in_tmp.glob("out-*")} >= {"out-msccl-xml", "out-harvest", "out-graphml"}


def test_a_plan_runs_on_data(cli: RunCli, plan_of_4x2: Path) -> None:
    """NumPy's sums, by processes that wait for each other's messages."""
    ran = cli("run", plan_of_4x2, "--runs", 1, "--format", "json")
    assert ran.status == 0, ran.err
    assert '"wrong": 0' in ran.out


@pytest.fixture
def plan_of_4x2(in_tmp: Path) -> Path:
    """An AllReduce on a torus of eight GPUs."""
    lightloom.plan("all-reduce", "64KiB", fabric=fabric_of("4x2", 2), **TORUS).save(in_tmp / "plan.json")
    return in_tmp / "plan.json"


@pytest.mark.parametrize(("size", "dimensions"), [(4, 2), (16, 2), (4, 3)])
def test_changes_at_even_distances_take_the_closed_form(size: int, dimensions: int) -> None:
    """The best number of changes, by the equation of the cost model."""
    ports, startup_s, hop_s, bytes_ = 2 * dimensions, 5e-7, 5e-7, 1 << 24
    fabric = Fabric(
        dims="x".join([str(size)] * dimensions),
        ports=ports,
        startup=startup_s,
        hop_delay=hop_s,
        reconfiguration_delay=1e-6,
        initial="free",
    )
    plan = lightloom.plan("all-to-all", bytes_, fabric=fabric, **TORUS)
    digits = int(math.log2(size))
    per_hop_s = hop_s + bytes_ * 8 / 8e11 / (2 * ports)
    # Changing is cheap enough here that every round has circuits of its own.
    expected_s = dimensions * digits * (startup_s + per_hop_s) + (digits - 1) * 1e-6
    assert plan.total_s == pytest.approx(expected_s, rel=1e-9)
    assert plan.reconfigurations == digits - 1


@pytest.mark.large
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("delay", ["1us", "100us", "10ms"])
def test_no_slower_than_a_torus_that_never_changes(collective: str, delay: str) -> None:
    """By the same algorithm, from the torus and from a free start."""
    for dims, ports in (("8x8", 2), ("8x8", 4), ("4x4x4", 6)):
        for initial in ("free", "torus:one-way"):
            fabric = fabric_of(dims, ports, delay, initial)
            named: dict[str, Any] = {"algorithm": "bruck-torus", "topology": "torus:one-way"}
            never = lightloom.plan(collective, "16MiB", fabric=fabric, planner="static", **named)
            assert lightloom.plan(collective, "16MiB", fabric=fabric, **TORUS).total_s <= never.total_s * (1 + 1e-12)


def test_a_line_keeps_its_plans() -> None:
    """Named dimensions of one factor are the line, to the bit."""

    def of(plan: Plan) -> tuple[object, ...]:
        return plan.total_s, plan.algorithm, [step.topology.name for step in plan.steps]

    for collective in COLLECTIVES:
        line = lightloom.plan(collective, "1MiB", fabric=Fabric(gpus=64, ports=2), planner="bridge")
        named = lightloom.plan(collective, "1MiB", fabric=Fabric(gpus=64, dims="64", ports=2), planner="bridge")
        assert of(named) == of(line)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--dims", "8x8"), "ranks have 2 peers in a step and 1 port; it takes a port for each peer"),
        (("--dims", "8x8", "--gpus", 60, "--ports", 2), "dims: it is for 64 GPUs and `gpus` for 60"),
        (("--gpus", 64, "--ports", 2), "it takes --dims with 2 or 3 dimensions, not 64"),
        (("--dims", "2x2x2x2", "--ports", 4), "it takes --dims with 2 or 3 dimensions, not 2x2x2x2"),
        (("--dims", "8x8", "--ports", 2, "--optical-ports", 64), "along a line of GPUs, not a torus"),
        (("--dims", "8x8", "--ports", 2, "--radix", 3), "4 peers in a step and 2 ports"),
    ],
)
def test_a_refusal_is_one_line(cli: RunCli, options: tuple[object, ...], reason: str) -> None:
    """Which field, and what would be taken."""
    named = ("--collective", "all-to-all", "--size", "1MiB", "--planner", "bridge", "--algorithm", "bruck-torus")
    ran = cli("plan", *named, *options)
    assert ran.status == 2
    assert reason in ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
