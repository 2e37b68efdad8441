"""The table of NCCL's tuner: times by closed forms of NCCL's algorithms, on the topologies that join all GPUs."""

from pathlib import Path

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.conftest import RunCli
from tests.refusals import assert_refused

MIB = 1 << 20


def table(path: Path) -> dict[tuple[str, str, int, str], tuple[str, int, float, float]]:
    """By topology, collective, ranks and algorithm: protocol, channels, fixed time, time for each MiB."""
    first, *lines = path.read_text().splitlines()
    assert first == "lightloom-nccl-tuner 1"
    found = {}
    for line in lines:
        if not line.startswith("#"):
            topology, collective, ranks, algorithm, protocol, channels, fixed, slope = line.split(" ")
            key = (topology, collective, int(ranks), algorithm)
            assert key not in found
            found[key] = (protocol, int(channels), float(fixed), float(slope))
    return found


@pytest.mark.parametrize(("gpus", "startup_us", "hop_us"), [(4, 1.5, 0.25), (8, 9.0, 0.0), (16, 0.5, 1.0)])
def test_a_ring_on_a_ring_is_its_closed_form(gpus: int, startup_us: float, hop_us: float, tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=gpus, bandwidth="400Gbps", startup=startup_us * 1e-6, hop_delay=hop_us * 1e-6)
    byte_us = 8 / 400e9 * 1e6
    for collective, steps in (("all-reduce", 2 * (gpus - 1)), ("all-gather", gpus - 1), ("reduce-scatter", gpus - 1)):
        plan = ll.plan(collective, "3MiB", fabric=fabric, algorithm="ring", topology="ring", planner="static")
        ll.export(plan, "nccl-tuner", tmp_path / f"{collective}.table")
        protocol, channels, fixed_us, us_per_mib = table(tmp_path / f"{collective}.table")[
            "ring", collective, gpus, "ring"
        ]
        assert (protocol, channels) == ("auto", 0)
        assert fixed_us == pytest.approx(steps * (startup_us + hop_us))
        assert us_per_mib == pytest.approx(steps / gpus * MIB * byte_us)


def test_a_tree_goes_up_and_down_its_levels(tmp_path: Path) -> None:
    """Where every pair of GPUs has a circuit: floor(log2 n) steps each way, of the whole buffer over one circuit."""
    fabric = ll.Fabric(gpus=8, ports=7, bandwidth="100Gbps", startup="2us", hop_delay=0.0)
    plan = ll.plan(
        "all-reduce",
        "1MiB",
        fabric=fabric,
        algorithm="ring",
        topology="complete",
        planner="static",
        routing="single-path",
    )
    ll.export(plan, "nccl-tuner", tmp_path / "table")
    told = table(tmp_path / "table")
    (name,) = {key[0] for key in told}
    _, channels, fixed_us, us_per_mib = told[name, "all-reduce", 8, "tree"]
    assert channels == 7
    assert fixed_us == pytest.approx(2 * 3 * 2.0)
    assert us_per_mib == pytest.approx(2 * 3 * MIB * 8 / 100e9 * 1e6)


def test_circuits_that_do_not_join_all_gpus_are_left_out_and_several_plans_are_one_table(
    cli: RunCli, in_tmp: Path
) -> None:
    fabric = ll.Fabric(gpus=8, reconfiguration_delay="1us")
    one = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    other = ll.plan("all-gather", "1MiB", fabric=fabric, algorithm="ring", topology="ring", planner="static")
    assert len(one.topologies) > 2
    one.save("one.json")
    other.save("other.json")
    ran = cli("export", "one.json", "other.json", "--to", "nccl-tuner", "--output", "table")
    assert (ran.status, ran.err) == (0, "")
    assert {(key[0], key[1]) for key in table(Path("table"))} == {("ring", "all-reduce"), ("ring", "all-gather")}
    assert {path.name for path in in_tmp.iterdir()} == {
        *("one.json", "other.json", "table", "table.circuits.json", "table.circuits-2.json")
    }


def test_what_nccl_cannot_choose_is_refused(cli: RunCli, in_tmp: Path) -> None:
    fabric = ll.Fabric(gpus=4)
    ll.plan("all-to-all", "1MiB", fabric=fabric).save("plan.json")
    said = assert_refused(cli, in_tmp, "export", "plan.json", "--to", "nccl-tuner", "--output", "table", field="plan")
    assert "NCCL has no choice of algorithms for all-to-all" in said
    # A matching for each step, none of which joins all GPUs.
    matchings = ll.plan("all-gather", "1MiB", fabric=fabric, algorithm="halving-doubling", planner="bvn")
    with pytest.raises(InputError, match="no algorithm of NCCL has paths"):
        ll.export(matchings, "nccl-tuner", in_tmp / "other")
