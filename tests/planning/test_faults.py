"""What is broken: plans keep off it, and so do circuits; options, files and messages."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

import lightloom
from lightloom import Fabric, InputError
from lightloom._core import registry

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom import Plan

COLLECTIVES = [entry["name"] for entry in registry()["collectives"]]
FAULTS = ["gpu:3", "port:5.1", "receiver:0.0", "link:0-7", "link:2>1", "switch:1", "gpu:1,port:5.0,link:2-3"]


def dead(failed: str, gpus: int, ports: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The transmitters and receivers that do not work, as (GPU, port), written from the option's meaning."""
    out: set[tuple[int, int]] = set()
    into: set[tuple[int, int]] = set()
    for fault in failed.split(","):
        kind, what = fault.split(":")
        if kind == "gpu":
            both = {(int(what), port) for port in range(ports)}
            out, into = out | both, into | both
        elif kind == "switch":
            both = {(gpu, int(what)) for gpu in range(gpus)}
            out, into = out | both, into | both
        elif kind in {"port", "receiver"}:
            gpu, port = map(int, what.split("."))
            (out if kind == "port" else into).add((gpu, port))
    return out, into


def planned(collective: str, failed: str | list[str], **more: Any) -> Plan:
    """A plan for 8 GPUs on 2 ports."""
    return lightloom.plan(collective, "4MiB", fabric=Fabric(gpus=8, ports=2, failed=failed), **more)


@pytest.mark.large
@pytest.mark.parametrize("failed", FAULTS)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_plans_and_circuits_keep_off_what_is_broken(collective: str, failed: str) -> None:
    """From the option to the ports of the switch; the file is read back as it was written."""
    plan = planned(collective, failed)
    text = plan.to_json()
    assert json.loads(text)["fabric"]["failed"]
    again = lightloom.Plan.from_json(text)
    assert again.to_json() == text
    assert all(check.passed for check in lightloom.verify(again))
    assert lightloom.simulate(plan, level="flow").total_s > 0
    maps = json.loads(lightloom.circuits(plan).to_json())
    out, into = dead(failed, 8, 2)
    for configuration in maps["configurations"]:
        for ingress, egress in configuration["switches"][0]["connections"]:
            assert divmod(ingress - 1, 2) not in out
            assert divmod(egress - 1, 2) not in into
    gpus = json.loads(text).get("ranks", list(range(8)))
    cut = [fault.removeprefix("link:") for fault in failed.split(",") if fault.startswith("link:")]
    for topology in plan.topologies:
        for src, dst, _ in topology.links:
            ends = gpus[src], gpus[dst]
            assert "{}>{}".format(*ends) not in cut
            assert "{}-{}".format(*sorted(ends)) not in cut


@pytest.mark.large
def test_faults_are_texts_or_lists(tmp_path: Path) -> None:
    """The same in Python, in a fabric file, and in either order."""
    one = planned("all-reduce", "port:5.1,link:0-7").to_json()
    assert planned("all-reduce", ["link:7-0", "port:5.1"]).to_json() == one
    file = tmp_path / "fabric.toml"
    file.write_text('gpus = 8\nports = 2\nfailed = ["port:5.1", "link:0-7"]\n', encoding="utf-8")
    assert lightloom.plan("all-reduce", "4MiB", fabric=file).to_json() == one
    healthy = lightloom.plan("all-reduce", "4MiB", fabric=Fabric(gpus=8, ports=2)).to_json()
    assert planned("all-reduce", []).to_json() == healthy
    assert "failed" not in json.loads(healthy)["fabric"]


def test_survivors_are_the_ranks() -> None:
    """A GPU that fails leaves the collective as `ranks` without it does."""
    left = [0, 1, 2, 4, 5, 6, 7]
    among = lightloom.plan("all-gather", "4MiB", fabric=Fabric(gpus=8, ports=2), ranks=left)
    assert planned("all-gather", "gpu:3").total_s == among.total_s
    assert planned("all-gather", "gpu:3", ranks=[0, 1, 2, 3]).total_s == pytest.approx(
        lightloom.plan("all-gather", "4MiB", fabric=Fabric(gpus=8, ports=2), ranks=[0, 1, 2]).total_s
    )


@pytest.mark.parametrize("failed", ["gpu:8", "port:0.2", "port:3", "link:1-1", "plane:2", "switch:-1", "receiver:9.0"])
def test_wrong_faults_are_refused(failed: str) -> None:
    """One line that names the option, the value and what is accepted."""
    with pytest.raises(InputError, match=rf"failed.*{failed}"):
        planned("all-reduce", failed)


def test_what_cannot_be_planned_is_said() -> None:
    """GPUs that are cut off, planners that prove, ports on switches of their own."""
    with pytest.raises(InputError, match="GPU 5 a transmitter"):
        lightloom.plan("all-gather", "1MiB", fabric=Fabric(gpus=8, failed="port:5.0"))
    assert lightloom.plan("broadcast", "1MiB", fabric=Fabric(gpus=8, failed="port:5.0")).total_s > 0
    with pytest.raises(InputError, match=r"exact.*weave"):
        lightloom.plan("all-gather", "1MiB", fabric=Fabric(gpus=4, failed="link:0-1"), planner="exact")
    with pytest.raises(InputError, match="failed"):
        lightloom.plan("all-gather", "1MiB", fabric=Fabric(gpus=4, ports=2, optics="parallel", failed="port:0.0"))
    with pytest.raises(InputError, match="failed"):
        planned("all-gather", "gpu:0,gpu:1,gpu:2,gpu:3,gpu:4,gpu:5,gpu:6")


@pytest.mark.parametrize(
    ("collective", "gpus", "failed", "cut_off"),
    [
        ("all-gather", 2, "link:0-1", (0, 1)),
        ("all-to-all", 4, "link:0-1,link:0-2,link:0-3", (0, 1)),
        ("broadcast", 3, "link:0>2,link:1>2", (0, 2)),
        ("reduce", 3, "link:2>0,link:2>1", (2, 0)),
    ],
)
def test_faults_that_leave_data_no_way_are_refused(
    collective: str, gpus: int, failed: str, cut_off: tuple[int, int]
) -> None:
    fabric = Fabric(gpus=gpus, ports=2, failed=failed)
    for asked in (lightloom.plan, lightloom.bound):
        with pytest.raises(InputError, match="failed: .* a path from GPU {} to GPU {}".format(*cut_off)):
            asked(collective, "1MiB", fabric=fabric)


@pytest.mark.parametrize(
    ("collective", "failed"), [("reduce", "link:0>2,link:1>2"), ("broadcast", "link:2>0,link:2>1")]
)
def test_faults_on_ways_that_a_collective_does_not_need_are_planned_around(collective: str, failed: str) -> None:
    plan = lightloom.plan(collective, "1MiB", fabric=Fabric(gpus=3, ports=2, failed=failed))
    assert all(check.passed for check in lightloom.verify(plan))


@pytest.mark.parametrize(
    ("gpus", "collective", "dead_links", "more"),
    [
        (5, "all-to-all", "1-3 0-4 2-3 1-4 3-4 1-2", {}),
        (6, "gather", "0-3 0-4 0-5 1-3 1-4 2-3 2-4 2-5", {"root": 5}),
    ],
)
def test_steps_whose_circuits_become_alike_change_nothing(
    gpus: int, collective: str, dead_links: str, more: dict[str, Any]
) -> None:
    """Two steps on circuits of their own, which around many dead links are the same: all that are left."""
    failed = [f"link:{link}" for link in dead_links.split()]
    plan = lightloom.plan(collective, "1MiB", fabric=Fabric(gpus=gpus, ports=3, failed=failed), planner="bvn", **more)
    document = json.loads(plan.to_json())
    links = [document["topologies"][step["topology"]]["links"] for step in document["steps"]]
    changes = [one != other for one, other in itertools.pairwise(links)]
    assert not all(changes)
    assert [step["reconfigured"] for step in document["steps"]] == [False, *changes]
