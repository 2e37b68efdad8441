"""One-hop sends that runs measure: and the calibration from them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.running.sends import Send, SendTimes, send_times
from tests.conftest import RunCli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")
FABRIC = ll.Fabric(gpus=4, bandwidth="100Gbps", startup="2us", hop_delay="1us")


def test_what_is_written_is_what_calibrate_reads(in_tmp: Path) -> None:
    sizes = [1024 << power for power in range(10)]
    sends = tuple(Send(size, 3e-6 + size * 8e-11, 3e-6, 1000.0, 0.0, "conclusive") for size in sizes)
    SendTimes(sends, FABRIC, "shared-memory").save_measurements("times.csv")
    found = ll.calibrate(in_tmp / "times.csv", hop_delay="1us")
    assert found.startup_s.value == pytest.approx(2e-6)
    assert found.bandwidth_bps.value == pytest.approx(100e9)


def test_sends_enclose_startup_and_bandwidth() -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=FABRIC)
    times = send_times(plan, runs=1, dilation=1000)
    equal = 3e-6 * 100e9 / 8
    assert times.sends[0].size_bytes < equal / 8
    assert times.sends[-1].size_bytes > equal * 16
    for send in times.sends:
        # One startup, one hop, and the bytes at the circuit's rate, whatever the machine does.
        assert send.predicted_s == pytest.approx(3e-6 + send.size_bytes * 8e-11)
        assert send.time_s >= 0.99 * send.predicted_s


def test_a_fabric_comes_of_runs(cli: RunCli, in_tmp: Path) -> None:
    ll.plan("all-reduce", "1MiB", fabric=FABRIC).save("plan.json")
    ran = cli("run", "plan.json", "--calibrate", "times.csv", "--runs", 1, "--dilation", 1000)
    assert ran.status == 0, ran.err
    assert "one-hop sends by shared-memory" in ran.out.splitlines()[0]
    assert cli("calibrate", "times.csv", "--hop-delay", "1us", "--output", "fabric.toml").status == 0
    planned = cli("plan", "--collective", "all-gather", "--size", "1MiB", "--gpus", 4, "--fabric", "fabric.toml")
    assert planned.status == 0, planned.err
    assert (in_tmp / "times.csv").read_text(encoding="utf-8").startswith("# one-hop sends by shared-memory")
