"""Collectives with a root, at any rank: planned, judged, written and simulated with that root."""

import json

import pytest

import lightloom as ll
from lightloom import _core
from tests.conftest import RunCli

ROOTED = ("broadcast", "reduce", "gather", "scatter")
OTHERS = [entry["name"] for entry in _core.registry()["collectives"] if entry["name"] not in ROOTED]
GPUS = 8


def _algorithms(collective: str) -> list[str]:
    return [one["name"] for one in _core.registry()["algorithms"] if collective in one["collectives"].split(", ")]


CASES = [(collective, name) for collective in ROOTED for name in (*_algorithms(collective), "auto")]
BROADCASTS = _algorithms("broadcast")


@pytest.mark.parametrize(("collective", "algorithm"), CASES)
@pytest.mark.parametrize("root", range(0, GPUS, 3))
def test_a_collective_starts_from_its_root_or_ends_there(collective: str, algorithm: str, root: int) -> None:
    # A one-way ring looks the same from every rank, and has one path between any two.
    asked = {"fabric": ll.Fabric(gpus=GPUS), "algorithm": algorithm, "planner": "static", "topology": "ring:one-way"}
    plan = ll.plan(collective, "96KiB", root=root, **asked)  # type: ignore[arg-type]
    assert all(check.passed for check in ll.verify(plan))
    written = json.loads(plan.to_json())
    assert written["chunks"]["root"] == root
    if collective in {"broadcast", "scatter"}:
        assert {transfer[0] for transfer in written["steps"][0]["transfers"]} == {root}
    else:
        assert {transfer[1] for transfer in written["steps"][-1]["transfers"]} == {root}
    first = ll.plan(collective, "96KiB", **asked)  # type: ignore[arg-type]
    for number in ("total_s", "lower_bound_s"):
        assert getattr(plan, number) == pytest.approx(getattr(first, number), rel=1e-12)
    # Packets that are there at once wait by index, which moves with the root; flows share.
    simulated, simulated_first = (ll.simulate(one, level="flow").total_s for one in (plan, first))
    assert simulated == pytest.approx(simulated_first, rel=1e-12)


def test_a_plan_that_says_another_root_than_it_starts_from_is_refused(cli: RunCli) -> None:
    ran = cli("plan", "--collective", "broadcast", "--size", "1MB", "--gpus", GPUS, "--root", 4, "--format", "json")
    written = json.loads(ran.out)
    assert all(check.passed for check in ll.verify(ll.Plan.from_json(json.dumps(written))))
    written["chunks"]["root"] = 3
    assert not all(check.passed for check in ll.verify(ll.Plan.from_json(json.dumps(written))))


def test_the_start_is_paid_from_the_root_that_is_given() -> None:
    # A path of four: the middle reaches all in fewer hops than an end.
    path = _core.Topology.from_links("path", 4, [(a, b, 1) for a in range(4) for b in range(4) if abs(a - b) == 1])
    fabric = ll.Fabric(gpus=4, ports=2)
    end, middle = (
        ll.plan("broadcast", "1KiB", fabric=fabric, algorithm="binomial-tree", candidates=[path], root=root).total_s
        for root in (0, 1)
    )
    assert end != middle


@pytest.mark.parametrize("verb", ["plan", "compare", "bound"])
@pytest.mark.parametrize("root", ["0", "3"])
def test_other_collectives_refuse_a_root(cli: RunCli, verb: str, root: str) -> None:
    for collective in OTHERS:
        ran = cli(verb, "--collective", collective, "--size", "1MiB", "--gpus", GPUS, "--root", root)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(
            f"error: root: a root for {collective} is not accepted; it takes a root only for broadcast"
        )


@pytest.mark.parametrize("root", ["-1", str(GPUS), "one", "4294967296"])
def test_a_root_is_a_rank(cli: RunCli, root: str) -> None:
    for algorithm in (*BROADCASTS, "auto"):
        problem = ["--collective", "broadcast", "--size", "1MiB", "--gpus", GPUS, "--algorithm", algorithm]
        for verb in ("plan", "compare", "bound"):
            ran = cli(verb, *problem, "--root", root)
            assert (ran.status, ran.out) == (2, "")
            assert ran.err.startswith("error: root: ")


def test_schedules_and_matrices_have_no_root(cli: RunCli) -> None:
    matrix = ["--matrix", "uniform", "--size", "1MiB", "--gpus", 4]
    assert cli("plan", *matrix, "--root", 1).err.startswith("error: root: ")


@pytest.mark.parametrize("collective", ROOTED)
def test_a_bound_is_for_a_root_that_is_a_rank(collective: str) -> None:
    fabric = ll.Fabric(gpus=GPUS)
    assert ll.bound(collective, "1MiB", fabric=fabric, root=GPUS - 1).lower_bound_s > 0
    for asked in ({"root": GPUS}, {"root": 4, "ranks": [0, 1, 2, 3]}):
        with pytest.raises(ll.InputError, match=r"^root: \d is not accepted; it takes a rank below "):
            ll.bound(collective, "1MiB", fabric=fabric, **asked)


def test_a_sweep_varies_the_root() -> None:
    settings = {"collective": "broadcast", "gpus": GPUS, "algorithm": "binary-tree", "size": "1MiB"}
    swept = ll.sweep({"settings": settings, "axes": {"root": {"from": 0, "to": GPUS - 1}}})
    assert swept["root"].tolist() == list(range(GPUS))
    assert (swept["total_s"] > 0).all()


@pytest.mark.parametrize("ports", [2, 3, 7])
@pytest.mark.parametrize("size", [1 << 18, 1 << 20, 1 << 22])
def test_where_all_are_joined_every_circuit_is_busy_from_the_second_round(ports: int, size: int) -> None:
    # The root gives each of p ranks a part a round, which the others get in the next: p(R - 1) + 1 parts in R rounds.
    fabric = ll.Fabric(gpus=ports + 1, ports=ports, startup="500ns", hop_delay="500ns", bandwidth="800Gbps")
    seconds = [rounds * (1e-6 + size / 1e11 / (ports * (rounds - 1) + 1)) for rounds in range(1, 9)]
    plan = ll.plan("broadcast", size, fabric=fabric, root=1)
    assert plan.lower_bound_s <= plan.total_s <= min(seconds) * (1 + 1e-9)


# Copies of the buffer on the circuits out of the root, and hops to the farthest rank, where it sends to all at once.
@pytest.mark.parametrize(("gpus", "ports", "copies", "hops"), [(47, 4, 11.5, 23), (100, 1, 99, 99), (150, 2, 75, 75)])
def test_a_start_up_that_outweighs_all_hops_is_paid_once(gpus: int, ports: int, copies: float, hops: int) -> None:
    fabric = ll.Fabric(
        gpus=gpus,
        ports=ports,
        initial="ring",
        startup="80us",
        hop_delay="500ns",
        bandwidth="800Gbps",
        reconfiguration_delay="1s",
    )
    plan = ll.plan("broadcast", 1024, fabric=fabric)
    assert plan.total_s <= (80e-6 + hops * 5e-7 + copies * 1024 / 1e11) * (1 + 1e-9)
    assert len(plan.steps) == 1
