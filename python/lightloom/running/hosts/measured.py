"""Plans run on several hosts, and measured as on one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.plans import Plan
from lightloom.running.data import DrawnInputs, checked_inputs, expected, wrong
from lightloom.running.judged import Jitter
from lightloom.running.lateness import lateness_of
from lightloom.running.measurement import Measurement
from lightloom.running.moments import times_of, windows_of
from lightloom.running.program import program_of
from lightloom.running.run_settings import RunHost, RunSettings

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.running.hosts.runs import Hosts
    from lightloom.running.run_options import RunOptions

__all__ = ["run_on_hosts"]


def run_on_hosts(
    hosts: Hosts,
    plan: Plan | str | os.PathLike[str],
    data: Sequence[NDArray[Any]] | None,
    options: RunOptions,
    switch: str | None,
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Measurement:
    """Run a plan on hosts, and measure it. Arguments and errors as of `lightloom.run` and `Hosts.run`."""
    ready = plan if isinstance(plan, Plan) else Plan.load(plan)
    kind, reduction = options.kind, options.reduction
    program = program_of(ready, kind.size_bytes)
    inputs = DrawnInputs(program, kind, reduction, seed) if data is None else checked_inputs(program, data, kind)
    found = hosts.run(
        ready,
        program,
        inputs,
        {"dtype": kind.name, "reduction": reduction},
        runs=options.runs,
        warm_ups=options.warm_ups,
        switch=switch,
        progress=progress or _nothing,
    )
    settings = RunSettings(
        transport="tcp",
        dilation=1.0,
        dtype=kind.name,
        reduction=reduction,
        runs=options.runs,
        warm_ups=options.warm_ups,
        packet_bytes=0,
        switch=switch,
        real_time=False,
        locked=False,
        hosts=tuple(
            RunHost(host.name, len(host.ranks), clock.uncertainty_s)
            for host, clock in zip(found.hosts, found.clocks, strict=True)
        ),
    )
    times = times_of(program, ready.ports, found.moments, sum(windows_of(ready)), found.used)
    nothing = lateness_of([[]])
    count = wrong(found.outputs, expected(program, inputs, kind, reduction), kind)
    jitter = Jitter(lateness_of(found.late_s), nothing, nothing)
    return Measurement(ready, settings, times, jitter, tuple(found.outputs), count, windows_of(ready))


def _nothing(_runs: int) -> None:
    """The progress callback of a run if none is given."""
