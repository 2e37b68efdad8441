"""Runs of a plan by ranks that mpiexec starts for them, on this machine unless its own settings say others."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any

from lightloom.errors import FailedError, refuse
from lightloom.plans import Plan
from lightloom.running.data import DrawnInputs, checked_inputs, expected, wrong
from lightloom.running.mpi_job import Job
from lightloom.running.mpi_runs import measured, rank_told, run_as_rank
from lightloom.running.program import program_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.running.measurement import Measurement
    from lightloom.running.mpi_runs import MpiOptions

    Array = NDArray[Any]

__all__ = ["ENVIRONMENT", "run_by_mpi", "run_by_mpiexec"]

# As many ranks as are asked for, and one thread each, whatever the machine has.
ENVIRONMENT = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
# How long mpiexec may take to end its processes when it is told to.
ENDING_S = 10.0
# How often is looked for ranks that have begun.
BEGINNING_MS = 20
# How Python says an error.
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

    inputs: of all ranks. Raises `InputError` that names `transport` where there is no MPI, `FailedError` that names the
    rank where a process dies, and what a rank raises.
    """
    python = [sys.executable, "-m", "mpi4py", "-m", "lightloom.running.mpi_worker"]
    command = [_mpiexec(), "-n", str(plan.gpus), *python]
    program = program_of(plan, options.kind.size_bytes)
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
        )
        try:
            ended = _first_ended(process, job, plan.gpus)
        finally:
            _end(process)
        if process.returncode != 0:
            said.seek(0)
            raise job.failure() or _failed(ended, process.returncode, said.read())
        outputs, times, jitter = job.answered(plan.gpus)
    count = wrong(outputs, expected(program, inputs, options.kind, options.reduction), options.kind)
    return measured(plan, options, times, jitter, tuple(outputs), count)


def _mpiexec() -> str:
    if find_spec("mpi4py") is None:
        raise refuse("transport", "mpi needs the package `mpi4py`: pip install 'lightloom[mpi]'")
    # An MPI from a package index lies beside the interpreter.
    beside = str(Path(sys.executable).parent)
    found = shutil.which("mpiexec", path=os.pathsep.join((beside, os.environ.get("PATH", os.defpath))))
    if found is None:
        raise refuse("transport", "mpi needs `mpiexec`, which is not found; an MPI has it, such as: pip install mpich")
    return found


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _first_ended(process: subprocess.Popen[str], job: Job, ranks: int) -> list[int]:
    """Wait for mpiexec; the ranks on this machine that had ended when the end of the first was heard.

    mpiexec is no witness: where one process dies, MPICH's ends the others at once, and names any of them.
    """
    if not hasattr(os, "pidfd_open"):
        process.wait()
        return []
    ended: list[int] = []
    with ExitStack() as opened:
        events, watched = select.poll(), {}

        def watch(number: int, rank: int | None) -> None:
            # A process that has ended and is forgotten cannot be watched.
            with suppress(OSError):
                descriptor = os.pidfd_open(number)
                opened.callback(os.close, descriptor)
                events.register(descriptor, select.POLLIN)
                watched[descriptor] = rank

        watch(process.pid, None)
        begun: set[int] = set()
        while process.poll() is None:
            for rank, number in job.processes().items() if len(begun) < ranks else ():
                if rank not in begun:
                    watch(number, rank)
                    begun.add(rank)
            found = [watched[descriptor] for descriptor, _ in events.poll(BEGINNING_MS)]
            ended = ended or sorted(rank for rank in found if rank is not None)
            if found:
                process.wait()
    return ended


def _failed(ended: list[int], status: int, said: str) -> FailedError:
    """What Python says of an error, or who ended first; else what mpiexec says first."""
    error = ERROR.search(said)
    if error is None and ended:
        who = f"rank {ended[0]}" if len(ended) == 1 else f"one of ranks {', '.join(map(str, ended))}"
        return FailedError(f"transport: mpi: {who} was ended, and all others with it")
    lines = [line.strip() for line in said.splitlines() if any(map(str.isalpha, line))]
    reason = error.group() if error else lines[0] if lines else "it says nothing"
    return FailedError(f"transport: mpi: mpiexec ended with status {status}: {reason}")
