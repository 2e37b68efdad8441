"""A chooser at work on calls whose reconfiguration delay drifts, next to other ways to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.inputs.quantities import bytes_of
from lightloom.online.adaptation import Adaptation, Way
from lightloom.online.call import Call
from lightloom.online.chooser import WINDOW, PlanChooser
from lightloom.online.drifts import FIELD, LEAST_S, MOST_CALLS, MOST_S, read_delays
from lightloom.online.lines import times_s
from lightloom.online.shares import share_of
from lightloom.online.table import PlanTable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["ENGINES", "PROBE", "adapt"]

ENGINES = ("model", "processes")
# Share of the time that is given to measuring delays outside of calls.
PROBE = 0.05
# Circuits are changed and changed back.
CHANGES_OF_PROBE = 2
# Calls times plans.
MOST_TIMES = 20_000_000


class _Followed(NamedTuple):
    """What the chooser did: the way, the estimates, s, the number of probes, and wrong elements."""

    way: Way
    estimates_s: NDArray[np.float64]
    probes: int
    wrong: int


def adapt(
    table: PlanTable | str | os.PathLike[str],
    delays: str | os.PathLike[str] | Sequence[float] | NDArray[np.float64],
    size: str | float,
    *,
    calls: int | None = None,
    seed: int | None = None,
    change_cost: str | float | None = None,
    window: int = WINDOW,
    probe: str | float = PROBE,
    engine: str = "model",
    report: Callable[[str], None] = lambda _text: None,
) -> Adaptation:
    """Calls of one size by a table's plans, chosen by measured delays, and the regret of it.

    table: a `PlanTable` or its file. delays: of every call: a rule such as `"step:20us:2ms"`, a CSV file, or seconds.
    size: `"64MiB"` or bytes of a rank's whole buffer, in the table's range.
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
    size_bytes = bytes_of("size", size)
    first, last = table.sizes_bytes
    if not first <= size_bytes <= last:
        ends = f"{_core.show_size(first)} to {_core.show_size(last)}"
        raise refuse("size", f"`{shown(size)}` is not accepted: the table is for {ends}")
    delays_s = _delays(delays, calls, seed)
    if len(delays_s) * len(table.plans) > MOST_TIMES:
        raise refuse("calls", f"{len(delays_s)} are not accepted with {len(table.plans)} plans; take fewer")
    share = share_of("probe", probe, 0.0, 1.0)
    chooser = PlanChooser(table, delay=float(delays_s[0]), change_cost=change_cost, window=window)
    every_s = times_s(table.lines, float(size_bytes), delays_s).T
    if engine == "model":
        lines = table.lines
        followed = _followed(
            chooser,
            size_bytes,
            delays_s,
            share,
            lambda place, delay_s: Call(
                lines[place].time_s(size_bytes, delay_s), delay_s if lines[place].changes else None
            ),
        )
    else:
        from lightloom.online.processes import Calls

        with Calls(table, size_bytes, len(delays_s), report) as runs:
            followed = _followed(chooser, size_bytes, delays_s, share, runs.call)
    return Adaptation(
        collective=table.collective,
        gpus=table.gpus,
        size_bytes=size_bytes,
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
        ways={"adaptive": followed.way} | _others(every_s, chooser.change_cost_s),
        predicted_s=None if engine == "model" else every_s[np.arange(len(every_s)), followed.way.plans],
        wrong=followed.wrong,
    )


def _delays(
    delays: str | os.PathLike[str] | Sequence[float] | NDArray[np.float64], calls: int | None, seed: int | None
) -> NDArray[np.float64]:
    if not isinstance(delays, (list, tuple, np.ndarray)):
        return read_delays(delays, calls, seed)  # type: ignore[arg-type]
    try:
        made = np.array(delays, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise refuse(FIELD, f"`{shown(delays)}` is not accepted; it takes seconds, a rule or a CSV file") from error
    if made.ndim != 1 or not 1 <= len(made) <= MOST_CALLS or not ((made >= LEAST_S) & (made <= MOST_S)).all():
        raise refuse(FIELD, f"`{shown(delays)}` is not accepted; it takes 1 to {MOST_CALLS} times, 1ps to {MOST_S:g}s")
    return made


def _followed(
    chooser: PlanChooser,
    size_bytes: int,
    delays_s: NDArray[np.float64],
    share: float,
    call: Callable[[int, float], Call],
) -> _Followed:
    """Every call by the plan that the chooser takes.

    A delay is measured outside of calls once the calls since the last measurement took so long that two changes of the
    estimated delay are the share of that time, so that no more of it is spent where the estimate is right.
    """
    count = len(delays_s)
    plans = np.zeros(count, dtype=np.int64)
    calls_s, extra_s, estimates_s = (np.zeros(count) for _ in range(3))
    unmeasured_s, probes, wrong = 0.0, 0, 0
    for index, delay_s in enumerate(delays_s.tolist()):
        estimates_s[index] = chooser.delay_s
        plans[index] = place = chooser.choose(size_bytes)
        if index and place != plans[index - 1]:
            extra_s[index] = chooser.change_cost_s
        made = call(place, delay_s)
        calls_s[index] = made.time_s
        wrong += made.wrong
        chooser.observe(size_bytes, made.delay_s)
        unmeasured_s = unmeasured_s + made.time_s if made.delay_s is None else 0.0
        if unmeasured_s * share > CHANGES_OF_PROBE * chooser.delay_s:
            chooser.probed(delay_s)
            extra_s[index] += CHANGES_OF_PROBE * delay_s
            unmeasured_s, probes = 0.0, probes + 1
    return _Followed(Way(plans, calls_s, extra_s, chooser.changes(size_bytes)), estimates_s, probes, wrong)


def _others(every_s: NDArray[np.float64], change_s: float) -> dict[str, Way]:
    """The other ways, of times `[call][plan]`."""
    best = every_s.argmin(axis=1)
    single, count = int(every_s.sum(axis=0).argmin()), len(best)
    return {
        "latest": _way(every_s, np.concatenate([best[:1], best[:-1]]), change_s),
        "first": _way(every_s, np.full(count, best[0]), change_s),
        "single": _way(every_s, np.full(count, single), change_s),
        "known": _way(every_s, _known(every_s, change_s), change_s),
        "each": _way(every_s, best, 0.0),
    }


def _way(every_s: NDArray[np.float64], plans: NDArray[np.int64], change_s: float) -> Way:
    changed = np.concatenate([[False], plans[1:] != plans[:-1]])
    return Way(plans, every_s[np.arange(len(plans)), plans], change_s * changed, int(changed.sum()))


def _known(every_s: NDArray[np.float64], change_s: float) -> NDArray[np.int64]:
    """The plans for which calls and changes take least together: a shortest path over calls and plans."""
    count = len(every_s)
    total_s = every_s[0].copy()
    best = np.zeros(count, dtype=np.int64)
    changes = np.zeros(every_s.shape, dtype=bool)
    for index in range(1, count):
        best[index] = total_s.argmin()
        by_change_s = total_s[best[index]] + change_s
        changes[index] = by_change_s < total_s
        total_s = np.minimum(total_s, by_change_s) + every_s[index]
    plans = np.zeros(count, dtype=np.int64)
    plans[-1] = total_s.argmin()
    for index in range(count - 1, 0, -1):
        plans[index - 1] = best[index] if changes[index, plans[index]] else plans[index]
    return plans
