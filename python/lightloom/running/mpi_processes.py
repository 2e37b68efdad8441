"""Runs of a plan by ranks that mpiexec starts for them, on this machine unless its own settings say others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import FailedError, refuse
from lightloom.base.extras import missing
from lightloom.plans import Plan
from lightloom.running.commands import end_group, program_at
from lightloom.running.data import DrawnInputs, checked_inputs, expected, wrong
from lightloom.running.moments import windows_of
from lightloom.running.mpi import patience_s
from lightloom.running.mpi_circuits import planned_changes
from lightloom.running.mpi_job import Job
from lightloom.running.mpi_memory import remove_left
from lightloom.running.mpi_runs import measured, rank_told, run_as_rank
from lightloom.running.program import program_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.running.measurement import Measurement
    from lightloom.running.mpi_runs import MpiOptions
    from lightloom.running.program import Program

    Array = NDArray[Any]

__all__ = ["ENVIRONMENT", "run_by_mpi", "run_by_mpiexec"]

# Start the ranks that are asked for, with one thread each, even where the machine has fewer cores.
ENVIRONMENT = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
# Seconds that mpiexec may take to end its processes when it is told to.
ENDING_S = 10.0
# Longest time until all ranks have begun: a fixed part, and a part for each rank, as a machine may be busy.
START_S, START_RANK_S = 60.0, 2.0
# Messages of Open MPI and MPICH that a signal ended a process.
ENDED = re.compile(r"process rank (\d+) with PID \d+ .* exited on\s+signal|EXIT STRING: .* \(signal \d+\)")
# The form of an error of Python.
ERROR = re.compile(r"^\w*(?:Error|Exception): .*$", re.MULTILINE)


def run_by_mpi(
    plan: Plan | str | os.PathLike[str],
    data: Sequence[Array] | None,
    options: MpiOptions,
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Measurement:
    """Run a plan as one of the ranks that this process is among, where mpiexec started it; else by ranks of its own.

    Arguments and errors as of `lightloom.run` and `run_as_rank`.
    """
    if rank_told() is not None:
        return run_as_rank(plan, data, options, seed=seed, progress=progress)
    plan = plan if isinstance(plan, Plan) else Plan.load(plan)
    program = program_of(plan, options.kind.size_bytes)
    if data is None:
        return run_by_mpiexec(plan, DrawnInputs(program, options.kind, options.reduction, seed), options)
    return run_by_mpiexec(plan, checked_inputs(program, data, options.kind), options)


def run_by_mpiexec(plan: Plan, inputs: Sequence[Array], options: MpiOptions) -> Measurement:
    """Run a plan by processes that end with it.

    inputs: of all ranks. Raises `InputError` that names `transport` where there is no MPI, `FailedError` where a
    process dies or they take too long, and errors of a rank.
    """
    remove_left()
    began_s = time.time()
    python = [sys.executable, "-m", "mpi4py", "-m", "lightloom.running.mpi_worker"]
    command = [_mpiexec(), "-n", str(plan.gpus), *python]
    program = program_of(plan, options.kind.size_bytes)
    longest_s = _longest_s(plan, program, options)
    with TemporaryDirectory(prefix="lightloom-") as folder, TemporaryFile("w+", errors="replace") as said:
        job = Job(Path(folder))
        job.ask(plan, options, inputs)
        process = subprocess.Popen(  # noqa: S603 (mpiexec as it is installed)
            [*command, folder],
            env={**ENVIRONMENT, **os.environ},
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
            # An interrupt from the keyboard ends the process that started it, which ends it.
            process_group=0,
        )
        try:
            status = _awaited(process, job, plan.gpus, longest_s)
        finally:
            _end(process)
            remove_left(since_s=began_s)
        if status != 0:
            said.seek(0)
            raise job.failure() or _failed(status, said.read())
        outputs, times, jitter = job.answered(plan.gpus)
    count = wrong(outputs, expected(program, inputs, options.kind, options.reduction), options.kind)
    return measured(plan, options, times, jitter, tuple(outputs), count)


def _mpiexec() -> str:
    if find_spec("mpi4py") is None:
        raise missing("transport", "mpi", "mpi4py")
    found = program_at("mpiexec")
    if found is None:
        raise refuse("transport", "mpi needs `mpiexec`, which is not found; an MPI has it, such as: pip install mpich")
    return found


def _awaited(process: subprocess.Popen[str], job: Job, ranks: int, longest_s: float) -> int:
    """The exit status of mpiexec. Raises `FailedError` where ranks do not begin in time, or do not end."""
    start_s = START_S + START_RANK_S * ranks
    try:
        return process.wait(start_s)
    except subprocess.TimeoutExpired:
        if not job.has_begun():
            late = f"not all of {ranks} ranks have begun within {start_s:g} s"
            raise FailedError(f"transport: mpi: {late}; all were ended") from None
    try:
        return process.wait(longest_s)
    except subprocess.TimeoutExpired:
        raise FailedError(f"transport: mpi: mpiexec has not ended within {longest_s:g} s; all were ended") from None


def _longest_s(plan: Plan, program: Program, options: MpiOptions) -> float:
    """The longest time of runs, by the deadlines that ranks have for each step, and those of a switch."""
    of_steps_s = 3 * float(patience_s(program).sum()) + sum(windows_of(plan))
    if options.switch is not None:
        changes = planned_changes(plan, options.switch)
        of_steps_s += (1 + len(changes.configurations)) * changes.longest_s
    return START_S + (options.runs + options.warm_ups) * of_steps_s


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_S)
    end_group(process)
    if process.stdin is not None:
        process.stdin.close()


def _failed(status: int, said: str) -> FailedError:
    """The error with Python's message, or with the process that a signal ended according to mpiexec.

    Open MPI's mpiexec names the rank that died. MPICH's may name any rank that it ends then, so its word is not used.
    """
    if error := ERROR.search(said):
        return FailedError(f"transport: mpi: {error.group()}")
    if ended := ENDED.search(said):
        who = f"rank {ended[1]}" if ended[1] else "a rank"
        return FailedError(f"transport: mpi: {who} was ended by a signal, and all others with it")
    lines = [line.strip() for line in said.splitlines() if any(map(str.isalpha, line))]
    return FailedError(
        f"transport: mpi: mpiexec ended with status {status}: {lines[0] if lines else 'it says nothing'}"
    )
