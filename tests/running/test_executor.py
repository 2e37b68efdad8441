"""Plans run on processes: the right results, and one line for a failure. Times are no matter here."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.running.controller import RunFailedError
from lightloom.running.data import DATA_TYPES, DrawnInputs
from lightloom.running.interpreter import interpret
from lightloom.running.program import program_of
from tests.running.processes import children, dilation, is_alive, plan_of, run_once
from tests.running.programs import small_plan

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")


@pytest.mark.parametrize("index", range(24))
def test_random_plans_give_what_they_mean(index: int) -> None:
    plan = small_plan(index, most_gpus=8)
    if plan is None:
        return
    try:
        measurement = run_once(plan, seed=index)
    except InputError as error:
        assert "background" in str(error)
        return
    kind = DATA_TYPES["float32"]
    program = program_of(plan, kind.size_bytes)
    wanted = interpret(program, DrawnInputs(program, kind, seed=index), kind)
    assert measurement.wrong == 0
    assert all(np.array_equal(one, other) for one, other in zip(measurement.arrays, wanted, strict=True))


@pytest.mark.parametrize("dtype", list(DATA_TYPES))
@pytest.mark.parametrize("reduction", ["sum", "max"])
def test_types_and_reductions(dtype: str, reduction: str) -> None:
    assert run_once(plan_of(), dtype=dtype, reduction=reduction).wrong == 0


def test_data_of_the_user_is_reduced() -> None:
    arrays = [np.full(4096, float(rank + 1), dtype=np.float32) for rank in range(4)]
    measurement = run_once(plan_of(), data=arrays)
    assert measurement.wrong == 0
    assert all((array == 10.0).all() for array in measurement.arrays)


MIXED_RATES: list[dict[str, str | list[str]]] = [
    {"bandwidth": ["800Gbps", "300Gbps"]},
    {"bandwidth": "400Gbps", "pair_rates": "inside:2:800Gbps:100ns,0:3:100Gbps:2us"},
    {"bandwidth": ["800Gbps", "300Gbps"], "failed": "gpu:2"},
    {"bandwidth": "400Gbps", "pair_rates": "inside:2:800Gbps:100ns", "failed": ["gpu:2", "link:0-3"]},
    {"bandwidth": ["800Gbps", "300Gbps"], "failed": ["gpu:2", "port:0.0"]},
]


@pytest.mark.parametrize("mixed", MIXED_RATES)
@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all"])
def test_every_circuit_has_its_own_rate(collective: str, mixed: dict[str, Any]) -> None:
    """Data are right, and no port passes on more bytes in a step than the rate of its circuit allows."""
    plan = ll.plan(collective, "256KiB", fabric=ll.Fabric(gpus=4, ports=2, **mixed))
    measurement = ll.run(plan, runs=2, warm_ups=0)
    assert measurement.wrong == 0
    for step, planned in zip(measurement.steps, plan.steps, strict=True):
        # Nothing is faster than the circuits, but for packets that take parallel ones in turn.
        assert step.measured_s >= 0.9 * (planned.total_s - planned.propagation_s)


@pytest.mark.parametrize(
    "told",
    [
        {"failed": "gpu:2,port:0.0,receiver:3.1"},
        {"failed": "gpu:0,link:1>3,receiver:2.0"},
        {"positions": "0:0,30:0,0:5,9:9", "failed": "gpu:2"},
    ],
)
def test_what_is_broken_or_far_is_so_among_the_gpus_that_are_left(told: dict[str, Any]) -> None:
    """The plan by rank states a bound on the ports that work, and light takes its time: its judge has both, too."""
    plan = ll.plan("all-gather", "64KiB", fabric=ll.Fabric(gpus=4, ports=2, **told))
    assert plan.ranks is not None
    assert ll.run(plan, runs=1, warm_ups=0).wrong == 0


def test_measured_times_have_every_delay() -> None:
    plan = plan_of(gpus=8, planner="bvn", algorithm="recursive-doubling")
    assert plan.reconfigurations
    measurement = ll.run(plan, runs=2, warm_ups=0, dilation=1000)
    # Nothing is faster than light: each step has its dark time, startup and transmission, give or take a nanosecond.
    for step, planned in zip(measurement.steps, plan.steps, strict=True):
        assert step.measured_s >= planned.total_s - planned.hops * plan.hop_delay_s - 1e-9
        assert step.dark_s >= planned.reconfiguration_s - 1e-9
    assert len(measurement.times.total_s) == 2
    assert measurement.times.circuit_bytes.sum() == 2 * sum(
        round(path.size_bytes) * (len(path.gpus) - 1) for step in range(len(plan.steps)) for path in plan.routes(step)
    )


def test_an_executor_keeps_its_processes_and_plans() -> None:
    plan, other = plan_of(), plan_of("all-to-all")
    with ll.Executor(runs=1, warm_ups=0, dilation=dilation(plan)) as executor:
        assert executor.run(plan).wrong == 0
        controller = executor.controller
        assert controller is not None
        assert [executor.run(one).wrong for one in (other, plan)] == [0, 0]
        assert executor.controller == controller
        assert children(controller) == []
    assert not is_alive(controller)


def test_an_executor_looks_plans_up() -> None:
    with ll.Executor(ll.Fabric(gpus=4), runs=1, warm_ups=0, dilation=100) as executor:
        plan = executor.plan("all-gather", "4KiB")
        assert executor.plan("all-gather", "4KiB") is plan
        assert executor.plan("all-gather", "8KiB") is not plan
        assert (plan.collective, plan.size_bytes, plan.gpus) == ("all-gather", 4096, 4)
        assert executor.run(plan).wrong == 0
    with pytest.raises(InputError, match=r"^fabric: missing"):
        ll.Executor().plan("all-gather", "4KiB")


def test_plans_for_other_optics_run_on_the_same_ports() -> None:
    plan = ll.plan("all-reduce", "16KiB", fabric=ll.Fabric(gpus=8, ports=2, optics="parallel"))
    assert plan.optics == "parallel"
    assert run_once(plan).wrong == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"transport": "pigeons"}, "transport: unknown name `pigeons`; one of shared-memory"),
        ({"dilation": 0}, "dilation: `0` is not accepted; it takes a number from 1 to 1e+09"),
        ({"dtype": "int8"}, "dtype: unknown name `int8`"),
        ({"reduction": "product"}, "reduction: unknown name `product`"),
        ({"runs": 0}, "runs: "),
        (
            {"packet_size": 8},
            "packet_size: `8` is not accepted; it takes a size such as 4096B or 4KiB, 64 to 1048576 bytes",
        ),
        (
            {"packet_size": "1TiB"},
            "packet_size: `1TiB` is not accepted; it takes a size such as 4096B or 4KiB, 64 to 1048576 bytes",
        ),
        ({"real_time": None}, "real_time: `None` is not accepted; it takes True or False"),
        ({"seed": -1}, "seed: `-1` is not accepted; it takes a whole number from 0"),
        ({"seed": 1.5}, "seed: `1.5` is not accepted"),
        ({"data": 5}, "data: `5` is not accepted; it takes a list of 4 arrays"),
        ({"data": iter([])}, "data: `<list_iterator"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        ll.run(plan_of(), **settings)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


def test_a_run_that_would_take_years_is_refused() -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=4, bandwidth="1Mbit/s"))
    with pytest.raises(
        InputError, match=r"^dilation: a run would take .* s, slowed down 1e\+09 times; it may take at most"
    ):
        ll.run(plan, dilation=1e9)


def test_memory_is_asked_for_before_test_data_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("lightloom.running.workspaces.free_memory", lambda: 1 << 16)
    monkeypatch.setattr("lightloom.running.executor.DrawnInputs", drawn)
    with pytest.raises(RunFailedError, match=r"^memory: the run needs .* MiB are free"):
        run_once(plan_of())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("reduction", ["sum", "max"])
def test_data_that_are_no_numbers_are_compared_without_a_word(reduction: str) -> None:
    arrays = [np.full(4096, 3e38, dtype=np.float32) for _ in range(4)]
    arrays[1][5], arrays[2][7], arrays[3][7] = np.nan, np.inf, -np.inf
    assert run_once(plan_of(), data=arrays, reduction=reduction).wrong == 0


def test_threads_share_an_executor() -> None:
    plan = plan_of()
    with ll.Executor(runs=1, warm_ups=0, dilation=dilation(plan)) as executor, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda seed: executor.run(plan, seed=seed).wrong, range(8))) == [0] * 8


def test_a_run_within_a_run_is_refused() -> None:
    plan = plan_of()
    with ll.Executor(runs=1, warm_ups=0, dilation=dilation(plan)) as executor:

        def again(_done: int) -> None:
            executor.run(plan)

        with pytest.raises(InputError, match=r"^progress: the callback runs a plan by the same executor"):
            executor.run(plan, progress=again)
        assert executor.run(plan).wrong == 0


def test_data_of_another_size_is_refused() -> None:
    with pytest.raises(InputError, match=r"^data\[0\]: "):
        ll.run(plan_of(), data=[np.zeros(5, dtype=np.float32)] * 4)
