"""Congestion control on the command line and in Python."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING

import pytest

import lightloom as ll

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli


def on_a_ring(size: str = "4MiB") -> ll.Plan:
    """Messages over several hops of one-way circuits, which all of them share."""
    fabric = ll.Fabric(gpus=8)
    return ll.plan(
        "all-reduce", size, fabric=fabric, algorithm="recursive-doubling", topology="ring:one-way", planner="static"
    )


def test_json_tells_what_control_did(cli: RunCli, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(on_a_ring().to_json())
    control = "dcqcn:kmin=8KB,kmax=64KB,decrease_interval=1us,increase_interval=5us"
    ran = cli("simulate", path, "--congestion-control", control, "--format", "json")
    assert (ran.status, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert found["settings"]["congestion_control"] == control
    told = found["congestion"]
    # A notification for each packet that is marked, and at most a cut for each.
    assert 0 < told["decreases"] <= told["notifications"] == told["marked_packets"] <= found["packets"]
    free = ll.simulate(path)
    assert "congestion" not in json.loads(free.to_json())
    assert (free.marked_packets, free.notifications, free.decreases) == (0, 0, 0)
    assert (found["packets"], found["wire_bytes"]) == (free.packets, free.wire_bytes)
    assert found["longest_queue_bytes"] < json.loads(free.to_json())["longest_queue_bytes"]
    table = cli("simulate", path, "--congestion-control", control).out
    assert control in table
    assert f"{told['marked_packets']} marked packets" in table.replace(",", "")


def test_a_window_is_told_of_every_packet() -> None:
    simulation = ll.simulate(on_a_ring(), congestion_control="window:threshold=8KB")
    assert simulation.notifications == 0
    assert 0 < simulation.decreases <= simulation.marked_packets
    again = pickle.loads(pickle.dumps(simulation))  # noqa: S301
    assert again == simulation
    assert (again.marked_packets, again.decreases) == (simulation.marked_packets, simulation.decreases)


def test_seeds_repeat_and_differ() -> None:
    plan = on_a_ring()
    times = [
        ll.simulate(
            plan, congestion_control=f"dcqcn:kmin=8KB,kmax=1MB,pmax=0.1,decrease_interval=200ns,seed={seed}"
        ).total_s
        for seed in (1, 1, 2, 3)
    ]
    assert times[0] == times[1]
    assert len(set(times)) > 1


def test_small_thresholds_cost_time() -> None:
    plan = on_a_ring()
    with_little, with_much = (
        ll.simulate(plan, congestion_control=f"dcqcn:kmin={kmin},kmax={kmin}").total_s for kmin in ("1KB", "8MB")
    )
    assert with_little > with_much
    # Nothing is marked: only the order of senders' packets differs from that without control.
    assert with_much == pytest.approx(ll.simulate(plan).total_s, rel=0.2)
