"""Runs of a plan by the ranks of an MPI, measured as runs in shared memory are.

Moments are counted from the start of a run, which all leave one barrier for: on one machine from the first rank's
leaving it, by the machine's clock; on several from each rank's own, so that no clocks are compared. What then seems to
be before that which it follows is taken to be at the same time.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.base.errors import InputError
from lightloom.plans import Plan
from lightloom.running.data import DrawnInputs, checked_inputs, expected, wrong
from lightloom.running.judged import Jitter, Lateness
from lightloom.running.lateness import lateness_of, probed
from lightloom.running.measurement import Measurement, RunTimes
from lightloom.running.moments import Moments, times_of, windows_of
from lightloom.running.mpi import MpiRank, check_ranks, message_passing
from lightloom.running.mpi_circuits import SwitchChanges, planned_changes
from lightloom.running.program import program_of
from lightloom.running.run_settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.program import Program

    Array = NDArray[Any]

__all__ = ["MpiOptions", "Together", "measured", "rank_told", "run_as_rank", "run_together"]

# Environment variables of process managers in the processes that they start: MPICH's and Slurm's, PMIx, Open MPI's.
TOLD_BY_MANAGERS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")


class MpiOptions(NamedTuple):
    """The settings of a run: the data's type and reduction, runs and those before them, the address of a switch."""

    kind: DataType
    reduction: str
    runs: int
    warm_ups: int
    switch: str | None


class Together(NamedTuple):
    """The output of one rank, and the measurements of all ranks, which every rank has."""

    output: Array
    times: RunTimes
    jitter: Jitter


def rank_told() -> int | None:
    """The rank that a process manager of MPI has started this process as; None where it was started otherwise."""
    for name in TOLD_BY_MANAGERS:
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    return None


def run_as_rank(
    plan: Plan | str | os.PathLike[str],
    data: Sequence[Array] | None,
    options: MpiOptions,
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Measurement:
    """Run a plan as one of the ranks that mpiexec started, all of which call this.

    data: the inputs of all ranks, of which a rank sends its own; drawn from `seed` if not given. What is
    returned has only this rank's output among its arrays, and the wrong elements of all ranks. Raises `InputError` that
    names `plan`, `data`, `transport` or `switch`, the same at all ranks, and `FailedError` where a step takes too long
    or a switch fails: at one rank, which then has to end all of them.
    """
    communicator = message_passing().COMM_WORLD
    kind, reduction = options.kind, options.reduction
    failure: tuple[str, str] | None = None
    try:
        ready = plan if isinstance(plan, Plan) else Plan.load(plan)
        program = program_of(ready, kind.size_bytes)
        check_ranks(program, communicator)
        if options.switch is not None:
            planned_changes(ready, options.switch)
        inputs = DrawnInputs(program, kind, reduction, seed) if data is None else checked_inputs(program, data, kind)
    except InputError as error:
        failure = error.field, str(error)
    for found in communicator.allgather(failure):
        if found is not None:
            raise InputError(*found)
    rank = MpiRank(program, kind)
    together = run_together(ready, program, rank, inputs[rank.rank], options, progress=progress)
    wanted = expected(program, inputs, kind, reduction, [rank.rank])
    count = communicator.allreduce(wrong([together.output], wanted, kind))
    return measured(ready, options, together.times, together.jitter, (together.output,), count)


def measured(
    plan: Plan, options: MpiOptions, times: RunTimes, jitter: Jitter, arrays: tuple[Array, ...], count: int
) -> Measurement:
    """The measurement of runs with this many wrong elements."""
    settings = RunSettings(
        transport="mpi",
        dilation=1.0,
        dtype=options.kind.name,
        reduction=options.reduction,
        runs=options.runs,
        warm_ups=options.warm_ups,
        packet_bytes=0,
        switch=options.switch,
        real_time=False,
        locked=False,
    )
    return Measurement(plan, settings, times, jitter, arrays, count, windows_of(plan))


def run_together(
    plan: Plan,
    program: Program,
    rank: MpiRank,
    given: Array,
    options: MpiOptions,
    *,
    progress: Callable[[int], None] | None = None,
) -> Together:
    """Run a program with all other ranks, which call this too, and gather the measurements.

    given: this rank's input. progress: told how many runs are measured. Errors as of `MpiRank.run`, `planned_changes`
    and `SwitchChanges`.
    """
    communicator = message_passing().COMM_WORLD
    probe = lateness_of(communicator.allgather(probed()))
    windows_s = windows_of(plan)
    changes = None
    if options.switch is not None:
        changes = SwitchChanges(planned_changes(plan, options.switch), options.switch, communicator)
    moments = []
    with nullcontext() if changes is None else changes:
        for run in range(options.warm_ups + options.runs):
            if changes is not None:
                changes.begin()
            found = rank.run(given, options.reduction, changes=changes, windows_s=windows_s)
            if run >= options.warm_ups:
                moments.append(np.array(found.moments))
                if progress is not None:
                    progress(len(moments))
            else:
                rank.lateness_s.clear()
    # By moment, run, step and rank.
    every = np.array(communicator.allgather(np.array(moments))).transpose(2, 1, 3, 0)
    late = lateness_of(communicator.allgather(list(rank.lateness_s)))
    jitter = Jitter(probe, Lateness(0, 0.0, 0.0, 0.0), late)
    return Together(found.output, times_of(program, plan.ports, Moments(*every), sum(windows_s)), jitter)
