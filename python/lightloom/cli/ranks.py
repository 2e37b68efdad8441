"""Many processes of one command, which mpiexec started: the first speaks for all."""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lightloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

# An aborted job loses what its processes have printed and mpiexec has not read yet.
PASSING_ON_S = 0.5


@contextmanager
def one_of_many(transport: str) -> Iterator[bool]:
    """Context that says whether this process writes the command's output: under MPI only rank 0 does.

    Other ranks print nothing from here on, except an internal error of their own, which ends all ranks.
    """
    if transport != "mpi":
        yield True
        return
    from lightloom.running.mpi import message_passing
    from lightloom.running.mpi_memory import take_names
    from lightloom.running.mpi_runs import rank_told

    rank = rank_told()
    if rank is None:
        yield True
        return
    # All ranks have opened their shared memory then, and leave no file of it however they end.
    message_passing().COMM_WORLD.Barrier()
    take_names()
    streams = sys.stdout, sys.stderr
    if rank > 0:
        # Open until the process ends.
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    try:
        yield rank == 0
    except InputError:  # which all ranks have
        raise
    except BaseException:
        sys.stdout, sys.stderr = streams
        # End all ranks after the failure is printed, before MPI waits for the others.
        atexit.register(_end_all)
        raise


def _end_all() -> None:
    """End all ranks, once mpiexec has had time to pass on what this one has printed."""
    from lightloom.running.mpi import message_passing

    sys.stderr.flush()
    time.sleep(PASSING_ON_S)
    message_passing().COMM_WORLD.Abort(1)
