"""Plans that are repaired: by Python and the command line, with what they keep, and refusals in one line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

FABRIC: dict[str, Any] = {"gpus": 8, "ports": 2}


@pytest.fixture(scope="module")
def before() -> ll.Plan:
    return ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(**FABRIC))


def circuits(plan: ll.Plan) -> list[set[tuple[int, int]]]:
    """The pairs of GPUs with circuits of every topology that some step has; each pair has one at most here."""
    used = {step.topology_index for step in plan.steps}
    gpu = plan.ranks or range(plan.gpus)
    found = []
    for index in sorted(used):
        links = plan.topologies[index].links
        assert all(count == 1 for _, _, count in links)
        found.append({(gpu[src], gpu[dst]) for src, dst, _ in links})
    return found


@pytest.mark.parametrize("failed", ["port:5.1", "receiver:0.0", "link:0-1", "switch:1", "gpu:3", "port:5.1,link:2>3"])
def test_a_repair_says_what_it_keeps_and_costs(before: ll.Plan, failed: str) -> None:
    found = ll.repair(before, failed)
    assert all(check.passed for check in ll.verify(found.plan))
    assert found.plan.failed == tuple(failed.split(","))
    own, others = circuits(found.plan), circuits(before)
    kept = sum(max(len(one & other) for other in others) for one in own)
    assert (found.circuits_kept, found.circuits_new) == (kept, sum(map(len, own)) - kept)
    assert found.over_before == found.plan.total_s / before.total_s
    assert found.anew is not None
    assert found.over_anew == found.plan.total_s / found.anew.total_s
    assert found.planned_anew == ("gpu" in failed)
    assert ll.repair(before, failed, compare_anew=False).anew is None


def test_faults_of_the_plan_before_stay(before: ll.Plan) -> None:
    first = ll.repair(before, "port:5.1").plan
    again = ll.repair(first, ["link:0-1"])
    assert again.plan.failed == ("port:5.1", "link:0-1")
    assert again.before is first


def test_the_verb_repairs_a_file(before: ll.Plan, tmp_path: Path, cli: RunCli) -> None:
    file, mended = tmp_path / "plan.json", tmp_path / "mended.json"
    before.save(file)
    asked = ("plan", "--repair", str(file), "--failed", "port:5.1", "--output", str(mended))
    ran = cli(*asked)
    assert ran.status == 0, ran.err
    found = ll.repair(file, "port:5.1")
    total = found.circuits_kept + found.circuits_new
    assert f"circuits     {found.circuits_kept} of {total} circuits kept, {found.circuits_new} new\n" in ran.out
    assert "plan anew" in ran.out
    assert ll.Plan.load(mended).to_json() == found.plan.to_json()
    told = json.loads(cli(*asked, "--format", "json", "--no-baselines").out)
    assert told["repair"] == {**found.told(), "anew_s": None, "over_anew": None}
    assert "plan anew" not in cli(*asked, "--no-baselines").out
    assert cli("verify", str(mended)).status == 0


def test_what_does_not_go_with_a_repair_is_refused(before: ll.Plan, tmp_path: Path, cli: RunCli) -> None:
    file = tmp_path / "plan.json"
    before.save(file)
    two_tiers = tmp_path / "islands.json"
    ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(**FABRIC, electrical="4:3600Gbps:100ns")).save(two_tiers)
    listed = tmp_path / "list.json"
    listed.write_text("\n[1,2]")
    asked = ("plan", "--repair", str(file), "--output", str(tmp_path / "out.json"))
    for field, more in [
        ("failed", ()),
        ("failed", ("--failed", "any-port")),
        ("failed", ("--failed", "port:8.0")),
        ("failed", ("--failed", "gpu:1,gpu:2,gpu:3,gpu:4,gpu:5,gpu:6,gpu:7")),
        ("failed", ("--failed", "port:1.0,port:1.1")),
        ("gpus", ("--failed", "port:1.0", "--gpus", "8")),
        ("budget", ("--failed", "port:1.0", "--budget", "1s")),
        ("sizes", ("--failed", "port:1.0", "--sizes", "1KiB:4KiB")),
        ("repair", ("--failed", "port:1.0", "--repair", str(tmp_path / "none.json"))),
        ("repair", ("--failed", "port:1.0", "--repair", str(two_tiers))),
        ("plan: it is a list; it takes an object", ("--failed", "port:1.0", "--repair", str(listed))),
    ]:
        ran = cli(*asked, *more)
        assert ran.status == 2, more
        assert ran.err.startswith(f"error: {field}"), ran.err
        assert ran.err.count("\n") == 1, ran.err
    assert not (tmp_path / "out.json").exists()


def test_rings_are_repaired_around_a_link() -> None:
    """On one port there is a ring without the link, which takes the same time."""
    for collective in ("all-reduce", "all-gather", "reduce-scatter"):
        before = ll.plan(collective, "256MiB", fabric=ll.Fabric(gpus=8), planner="static", topology=["ring"])
        found = ll.repair(before, "link:0-1")
        assert found.plan.total_s == pytest.approx(before.total_s, rel=1e-12), collective
        assert not any({(0, 1), (1, 0)} & links for links in circuits(found.plan))
