"""What single faults cost: against plans for each fault, and closed forms."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest

import lightloom
from lightloom import Fabric, InputError
from lightloom.cli import main
from tests.picture_checks import faults

if TYPE_CHECKING:
    from pathlib import Path

GPUS, PORTS = 5, 2
# Every single fault of each kind, written from the option's meaning.
EVERY = {
    "any-gpu": [f"gpu:{gpu}" for gpu in range(GPUS)],
    "any-port": [f"port:{gpu}.{port}" for gpu in range(GPUS) for port in range(PORTS)],
    "any-receiver": [f"receiver:{gpu}.{port}" for gpu in range(GPUS) for port in range(PORTS)],
    "any-link": [f"link:{a}-{b}" for a, b in itertools.combinations(range(GPUS), 2)],
    "any-switch": [f"switch:{port}" for port in range(PORTS)],
}


@pytest.mark.large
@pytest.mark.parametrize(
    ("collective", "kind"), [*(("all-gather", kind) for kind in EVERY), ("all-reduce", "any-port")]
)
def test_mean_and_worst_are_those_of_a_plan_for_every_fault(collective: str, kind: str) -> None:
    """Also of ports that are not planned for, since another port of the same GPU stands for them."""
    found = lightloom.fault_costs(collective, "256KiB", kind, fabric=Fabric(gpus=GPUS, ports=PORTS))
    assert found.count == len(EVERY[kind])
    for planner in ("auto", "harvest"):
        row = next((row for row in found.rows if planner in {"auto", row.planner}), None)
        assert row is not None
        own = {
            fault: lightloom.plan(
                collective, "256KiB", fabric=Fabric(gpus=GPUS, ports=PORTS, failed=fault), planner=planner
            ).total_s
            for fault in EVERY[kind]
        }
        assert (row.served, row.unserved) == (len(own), 0)
        assert row.worst_s == pytest.approx(max(own.values()), rel=1e-12)
        assert row.mean_s == pytest.approx(sum(own.values()) / len(own), rel=1e-12)
        assert row.worst_fault is not None
        assert own[row.worst_fault] == pytest.approx(max(own.values()), rel=1e-12)
        healthy = lightloom.plan(collective, "256KiB", fabric=Fabric(gpus=GPUS, ports=PORTS), planner=planner)
        assert row.healthy_s == pytest.approx(healthy.total_s, rel=1e-12)


@pytest.mark.large
def test_pairs_are_all_different_and_cost_what_a_plan_with_both_takes() -> None:
    """On so few GPUs as many pairs as there are; each once."""
    fabric = Fabric(gpus=3, ports=2)
    found = lightloom.fault_costs("all-gather", "256KiB", "any-port,any-two:10000", fabric=fabric)
    single = [f"port:{gpu}.{port}" for gpu in range(3) for port in range(2)]
    assert {one.failed for one in found.pairs} == {",".join(both) for both in itertools.combinations(single, 2)}
    assert len(found.pairs) == 15
    times_s = {}
    for both in (one.failed for one in found.pairs):
        try:
            times_s[both] = lightloom.plan("all-gather", "256KiB", fabric=Fabric(gpus=3, ports=2, failed=both)).total_s
        except InputError:
            assert both in {f"port:{gpu}.0,port:{gpu}.1" for gpu in range(3)}
    row = found.pair_rows[0]
    assert (row.served, row.unserved) == (12, 3)
    assert row.worst_s == pytest.approx(max(times_s.values()), rel=1e-12)
    assert row.mean_s == pytest.approx(sum(times_s.values()) / 12, rel=1e-12)
    assert faults(found.plot()) == []
    drawn = lightloom.fault_costs("all-gather", "256KiB", "any-port,any-two:4", fabric=fabric)
    assert len({one.failed for one in drawn.pairs} & {one.failed for one in found.pairs}) == 4


def test_faults_that_cut_a_gpu_off_are_counted() -> None:
    """On one port every dead transmitter leaves a GPU that cannot give anything to an AllGather."""
    found = lightloom.fault_costs("all-gather", "1MiB", "any-port,any-link", fabric=Fabric(gpus=4))
    for row in found.rows:
        assert row.unserved >= 4
    assert found.rows[0].served == 6
    assert all("transmitter" in fault.reason for fault in found.faults if fault.failed.startswith("port:"))


@pytest.mark.large
def test_faults_that_are_there_come_first() -> None:
    """Those of the fabric and those of the list; a single fault that is there already is none."""
    fabric = Fabric(gpus=4, ports=2, failed="link:0-1")
    found = lightloom.fault_costs("all-gather", "1MiB", "any-switch,any-link,port:2.1", fabric=fabric)
    assert found.given == ("link:0-1", "port:2.1")
    assert [fault.alike for fault in found.faults] == [1] * 7
    both = lightloom.plan("all-gather", "1MiB", fabric=Fabric(gpus=4, ports=2, failed="link:0-1,port:2.1"))
    assert found.rows[0].healthy_s == pytest.approx(both.total_s, rel=1e-12)


@pytest.mark.large
def test_the_command_prints_what_the_function_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON, CSV, table and picture."""
    command = ["compare", "--collective", "all-gather", "--size", "1MiB"]
    command += ["--gpus", "4", "--ports", "2", "--failed", "any-port"]
    assert main([*command, "--format", "json", "--plot", str(tmp_path / "a.svg")]) == 0
    found = lightloom.fault_costs("all-gather", "1MiB", fabric=Fabric(gpus=4, ports=2))
    assert json.loads(capsys.readouterr().out) == json.loads(found.to_json())
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert main(command) == 0
    assert "8 single faults (any-port)" in capsys.readouterr().out
    assert main([*command, "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(found.rows) * len(found.faults)
    assert faults(found.plot()) == []


@pytest.mark.parametrize("failed", ["any-fibre", "port:0.0", "any-port,port:9.0", "any-two:5", "any-port,any-two:0"])
def test_other_kinds_are_refused(failed: str) -> None:
    """One line that names the option."""
    with pytest.raises(InputError, match="failed"):
        lightloom.fault_costs("all-gather", "1MiB", failed, fabric=Fabric(gpus=4, ports=2))


@pytest.mark.parametrize("pairs", ["any-two", "any-two:1e3", "any-two:-1", "any-two:10001", "any-two:1,any-two:2"])
def test_pairs_need_a_number_in_range(pairs: str) -> None:
    """The form that is accepted is named."""
    with pytest.raises(InputError, match=r"failed: .* it takes any-two:N once, N from 1 to 10,000"):
        lightloom.fault_costs("all-gather", "1MiB", f"any-port,{pairs}", fabric=Fabric(gpus=4, ports=2))


def test_too_many_faults_are_refused_before_planning() -> None:
    """All links among 256 GPUs are 32 640."""
    with pytest.raises(InputError, match=r"any-link.*at most"):
        lightloom.fault_costs("all-gather", "1MiB", "any-link", fabric=Fabric(gpus=256, ports=2))
