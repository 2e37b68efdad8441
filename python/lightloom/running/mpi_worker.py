"""One rank of a run by MPI: `mpiexec -n N python -m mpi4py -m lightloom.running.mpi_worker FOLDER`.

`mpi4py` ends all ranks where one fails.
"""

from __future__ import annotations

import os
import select
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

from lightloom.base.errors import FailedError, InputError
from lightloom.running.mpi import MpiRank, message_passing
from lightloom.running.mpi_job import Job
from lightloom.running.mpi_memory import take_names
from lightloom.running.mpi_runs import run_together
from lightloom.running.program import program_of


def main(folder: Path) -> None:
    """Do this rank's part of the job in the folder; MPI has its number."""
    job = Job(folder)
    communicator = message_passing().COMM_WORLD
    number = communicator.Get_rank()
    if number == 0:
        Thread(target=_end_with_asker, args=(job,), daemon=True).start()
    # All ranks have opened their shared memory.
    communicator.Barrier()
    take_names()
    if number == 0:
        job.begin()
    try:
        plan, options = job.asked()
        program = program_of(plan, options.kind.size_bytes)
        rank = MpiRank(program, options.kind)
        job.answer(number, run_together(plan, program, rank, job.given(number), options))
    except (InputError, FailedError) as error:
        job.fail(number, error)
        raise


def _end_with_asker(job: Job) -> None:
    """End all ranks and leave no file where who asked for the run dies before it is done."""
    asker = job.asker()
    if asker is None or not hasattr(os, "pidfd_open"):
        # The process that asked holds the standard input of rank 0 open.
        while os.read(0, 1):
            pass
    else:
        with suppress(ProcessLookupError):
            select.select([os.pidfd_open(asker)], [], [])
    if job.folder.exists():
        shutil.rmtree(job.folder, ignore_errors=True)
        message_passing().COMM_WORLD.Abort(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
