"""A chooser at work on calls whose reconfiguration delay drifts, next to other ways to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.inputs.quantities import bytes_of
from lightloom.online.adaptation import Adaptation, Way
from lightloom.online.call import Call
from lightloom.online.chooser import MOST_SIZES, WINDOW, PlanChooser
from lightloom.online.drifts import FIELD, MOST_CALLS, Trace, read_delays
from lightloom.online.lines import times_s
from lightloom.online.others import others
from lightloom.online.ranges import check_delay, check_size
from lightloom.online.shares import share_of
from lightloom.online.table import PlanTable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.online.lines import Line

__all__ = ["ENGINES", "PROBE", "adapt"]

ENGINES = ("model", "processes")
# Share of the time that is given to measuring delays outside of calls.
PROBE = 0.05
# Circuits are changed and changed back.
CHANGES_OF_PROBE = 2
# Calls times plans.
MOST_TIMES = 20_000_000


class _Followed(NamedTuple):
    """The run of a chooser: its way, the estimates in seconds, the number of probes, and of wrong elements."""

    way: Way
    estimates_s: NDArray[np.float64]
    probes: int
    wrong: int


def adapt(
    table: PlanTable | str | os.PathLike[str],
    delays: str | os.PathLike[str] | Sequence[float] | NDArray[np.float64],
    size: str | float | Sequence[str | float] | None = None,
    *,
    calls: int | None = None,
    seed: int | None = None,
    change_cost: str | float | None = None,
    window: int = WINDOW,
    probe: str | float = PROBE,
    engine: str = "model",
    report: Callable[[str], None] = lambda _text: None,
) -> Adaptation:
    """Calls by a table's plans, chosen by measured delays, and the regret of it.

    table: a `PlanTable` or its file. delays: of every call, in the table's range: a rule such as `"step:20us:2ms"`, a
        CSV file, or seconds. The random delays of `noise` and `walk` stay in the range.
    size: `"64MiB"` or bytes of a rank's whole buffer, in the table's range; several, `"1MiB,64MiB"` or a list, are
        taken in turn; left out where a CSV file has a column of sizes.
    calls, seed: of a rule: how many, 200, and of everything random, 0, where they are left out.
    change_cost, window: as for `PlanChooser`, which begins with the first delay.
    probe: where plans that change no circuits measure no delay, the share of the time, `"5%"` or 0.05, that is given to
        measuring it outside of calls, by two changes; 0 for never.
    engine: `"model"`, times of the plans; or `"processes"`, where each adaptive call runs on processes of this machine,
        by circuits whose delay is that of the call, and the delay is measured.
    report: is told what is being done.

    Raises `InputError` that names the argument.
    """
    if not isinstance(table, PlanTable):
        table = PlanTable.load(table)
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    trace = _trace(delays, calls, seed, table.delays_s)
    delays_s, sizes = trace.delays_s, _sizes(size, trace, table)
    if len(delays_s) * len(table.plans) > MOST_TIMES:
        raise refuse("calls", f"{len(delays_s)} are not accepted with {len(table.plans)} plans; take fewer")
    share = share_of("probe", probe, 0.0, 1.0)
    chooser = PlanChooser(table, delay=float(delays_s[0]), change_cost=change_cost, window=window)
    every_s = times_s(table.lines, sizes.astype(np.float64), delays_s).T
    if engine == "model":
        followed = _followed(chooser, sizes, delays_s, share, _computed(table.lines))
    else:
        from lightloom.online.processes import Calls

        with Calls(table, len(delays_s), report) as runs:
            followed = _followed(chooser, sizes, delays_s, share, runs.call)
    return Adaptation(
        collective=table.collective,
        gpus=table.gpus,
        sizes_bytes=sizes,
        plans=tuple(
            f"{plan.algorithm}, {_core.counted(line.changes, 'change')}"
            for plan, line in zip(table.plans, table.lines, strict=True)
        ),
        change_cost_s=chooser.change_cost_s,
        window=window,
        probe=share,
        probes=followed.probes,
        delays_s=delays_s,
        estimates_s=followed.estimates_s,
        ways={"adaptive": followed.way} | others(every_s, sizes, chooser.change_cost_s),
        predicted_s=None if engine == "model" else every_s[np.arange(len(every_s)), followed.way.plans],
        wrong=followed.wrong,
    )


def _trace(
    delays: str | os.PathLike[str] | Sequence[float] | NDArray[np.float64],
    calls: int | None,
    seed: int | None,
    within: tuple[float, float],
) -> Trace:
    if not isinstance(delays, (list, tuple, np.ndarray)):
        return read_delays(delays, calls, seed, within)  # type: ignore[arg-type]
    try:
        made = np.array(delays, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise refuse(FIELD, f"`{shown(delays)}` is not accepted; it takes seconds, a rule or a CSV file") from error
    if made.ndim != 1 or not 1 <= len(made) <= MOST_CALLS or not np.isfinite(made).all():
        raise refuse(FIELD, f"`{shown(delays)}` is not accepted; it takes 1 to {MOST_CALLS} times in seconds")
    accepted = [
        check_delay(FIELD, delay_s, within, f"`{delay_s:g}`, s, of call {call}")
        for call, delay_s in enumerate(made.tolist())
    ]
    return Trace(np.array(accepted), None)


def _sizes(size: str | float | Sequence[str | float] | None, trace: Trace, table: PlanTable) -> NDArray[np.int64]:
    """Bytes of every call."""
    if size is None:
        if trace.sizes_bytes is None:
            raise refuse("size", "missing; give a size such as 64MiB, or a CSV file with a column size_bytes or size")
        sizes = trace.sizes_bytes
    else:
        if trace.sizes_bytes is not None:
            raise refuse("size", "it cannot be combined with a file that has a column of sizes")
        asked: list[Any] = [size]
        if isinstance(size, (str, list, tuple)):
            asked = size.split(",") if isinstance(size, str) else list(size)
        if not 1 <= len(asked) <= MOST_SIZES:
            raise refuse("size", f"{len(asked)} sizes are not accepted; it takes 1 to {MOST_SIZES}")
        sizes = np.resize([bytes_of("size", one) for one in asked], len(trace.delays_s)).astype(np.int64)
    for one in np.unique(sizes).tolist():
        check_size(one, table.sizes_bytes)
    if len(np.unique(sizes)) > MOST_SIZES:
        raise refuse("size", f"{len(np.unique(sizes))} sizes are not accepted; it takes 1 to {MOST_SIZES}")
    return sizes


def _computed(lines: Sequence[Line]) -> Callable[[int, int, float], Call]:
    """Calls that take the plan's time, and measure the delay where it changes circuits."""

    def call(place: int, size_bytes: int, delay_s: float) -> Call:
        line = lines[place]
        return Call(line.time_s(size_bytes, delay_s), delay_s if line.changes else None)

    return call


def _followed(
    chooser: PlanChooser,
    sizes: NDArray[np.int64],
    delays_s: NDArray[np.float64],
    share: float,
    call: Callable[[int, int, float], Call],
) -> _Followed:
    """Every call by the plan that the chooser takes.

    A delay is measured outside of calls once the calls since the last measurement took so long that two changes of the
    estimated delay are the share of that time, so that no more of it is spent where the estimate is right.
    """
    count = len(delays_s)
    plans = np.zeros(count, dtype=np.int64)
    calls_s, extra_s, estimates_s = (np.zeros(count) for _ in range(3))
    unmeasured_s, probes, wrong, changes = 0.0, 0, 0, 0
    before: dict[int, int] = {}
    for index, (size_bytes, delay_s) in enumerate(zip(sizes.tolist(), delays_s.tolist(), strict=True)):
        estimates_s[index] = chooser.delay_s
        plans[index] = place = chooser.choose(size_bytes)
        if before.setdefault(size_bytes, place) != place:
            extra_s[index] = chooser.change_cost_s
            changes += 1
        before[size_bytes] = place
        made = call(place, size_bytes, delay_s)
        calls_s[index] = made.time_s
        wrong += made.wrong
        chooser.observe(size_bytes, made.delay_s)
        unmeasured_s = unmeasured_s + made.time_s if made.delay_s is None else 0.0
        if unmeasured_s * share > CHANGES_OF_PROBE * chooser.delay_s:
            chooser.probed(delay_s)
            extra_s[index] += CHANGES_OF_PROBE * delay_s
            unmeasured_s, probes = 0.0, probes + 1
    return _Followed(Way(plans, calls_s, extra_s, changes), estimates_s, probes, wrong)
