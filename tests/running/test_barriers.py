"""Barriers: their measurement, which leaves nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.running.barriers import BarrierCosts, barrier_costs, barrier_names
from tests.conftest import RunCli
from tests.picture_checks import faults
from tests.refusals import assert_refused

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="barriers are measured only on Linux")


@pytest.fixture(scope="module")
def costs() -> BarrierCosts:
    return barrier_costs(most_ranks=6, rounds=50)


def test_every_barrier_is_measured_at_every_number_of_ranks(costs: BarrierCosts) -> None:
    assert [(cost.barrier, cost.ranks) for cost in costs.costs] == [
        (name, ranks) for name in barrier_names() for ranks in (2, 4, 6)
    ]
    for cost in costs.costs:
        assert 0 < cost.median_s <= cost.most_of_99_s
        assert cost.mean_s > 0


def test_the_picture_has_a_line_a_barrier(costs: BarrierCosts) -> None:
    figure = costs.plot()
    (axes,) = figure.axes
    shown = {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()}
    for name in barrier_names():
        assert shown[name] == [cost.median_s for cost in costs.costs if cost.barrier == name]
    assert not faults(figure)


def test_the_verb_measures_barriers(cli: RunCli, in_tmp: Path) -> None:
    ran = cli("run", "--barriers", "--most-ranks", 2, "--rounds", 20, "--format", "json", "--plot", "b.svg")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    assert [row["barrier"] for row in told["rows"]] == [one["name"] for one in told["barriers"]]
    assert {(row["ranks"], row["rounds"]) for row in told["rows"]} == {(2, 20)}
    assert (in_tmp / "b.svg").read_bytes().startswith(b"<?xml")
    table = cli("run", "--barriers", "--most-ranks", 2, "--rounds", 20)
    assert all(any(line.split()[:2] == [name, "2"] for line in table.out.splitlines()) for name in barrier_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--barriers", "plan.json"), "plan: no PLAN is taken with --barriers"),
        (("--barriers", "--dilation", "10"), "dilation: it cannot be combined with --barriers"),
        (("--barriers", "--no-real-time"), "real_time: it cannot be combined with --barriers"),
        (("plan.json", "--rounds", "10"), "rounds: it is used only together with --barriers"),
        (("--calibrate", "times.csv"), "plan: missing"),
        (("plan.json", "--calibrate", "times.csv", "--plot", "p.png"), "plot: it cannot be combined with --calibrate"),
        (("plan.json", "--calibrate", "times.txt"), "calibrate: `times.txt` is not accepted"),
        (("--barriers", "--most-ranks", "1"), "most_ranks: "),
        ((), "plan: missing; give PLAN"),
    ],
)
def test_options_that_do_nothing_are_refused(
    cli: RunCli, in_tmp: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert_refused(cli, in_tmp, "run", *arguments, field=message)


def test_unknown_barriers_are_named() -> None:
    with pytest.raises(InputError, match="flags"):
        barrier_costs(["flag"])


def test_a_process_that_did_not_start_it_is_not_its_owner() -> None:
    # The test's own process has many threads; it is refused before it forks.
    with pytest.raises(OSError, match="ended"):
        _core.barrier_rounds("flags", 2, 10, 1 << 22)


def test_nothing_is_left_when_whoever_measures_is_killed() -> None:
    program = "from lightloom.running.barriers import barrier_costs as b; b(['central'], most_ranks=2, rounds=1000000)"
    measuring = subprocess.Popen([sys.executable, "-c", program])
    try:
        below = _wait_for(lambda: _descendants(measuring.pid), at_least=3)
    finally:
        measuring.send_signal(signal.SIGKILL)
        measuring.wait()
    _wait_for(lambda: [pid for pid in below if not _is_running(pid)], at_least=len(below))


def _wait_for(found: Callable[[], list[int]], at_least: int) -> list[int]:
    for _ in range(200):
        now = found()
        if len(now) >= at_least:
            return now
        time.sleep(0.05)
    raise AssertionError(f"{now} are fewer than {at_least}")


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [one for child in map(int, children) for one in (child, *_descendants(child))]


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
