"""A program carried out by MPI: point-to-point messages, passed on by the ranks on their way.

Every process of a communicator is a rank. MPI decides how data travels between two processes: circuits are not
emulated, and times are those of the network that there is. A step begins when all ranks have ended the one before, and
where circuits of a real switch change between them, when rank 0 has its acknowledgement.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lightloom._core import counted
from lightloom.base.errors import FailedError, refuse
from lightloom.base.extras import missing
from lightloom.base.threads import cores
from lightloom.running.moments import Moments
from lightloom.running.rank_memory import RankMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Generator, Sequence

    from mpi4py import MPI
    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.part import StepPart
    from lightloom.running.program import Program

    Array = NDArray[Any]
    Times = NDArray[np.float64]

__all__ = ["Carried", "CircuitChanges", "MpiRank", "check_ranks", "message_passing", "patience_s"]

# Longest time of a step at a rank: a fixed part, and the time of all its data at a slow rate.
PATIENCE_S, SLOWEST_BYTES_PER_S = 60.0, 1e6
# Pauses that are remembered.
MOST_PAUSES = 100_000
# Number of times that a rank looks for messages before it yields the processor between two looks.
SPINS, PAUSE_S = 10_000, 50e-6


class CircuitChanges(Protocol):
    """Changes of circuits before some of the steps."""

    @property
    def steps(self) -> Container[int]:
        """The steps before which circuits change, the same at all ranks."""

    @property
    def longest_s(self) -> float:
        """The longest time of a change; it has failed by then."""

    def make(self, step: int) -> float:
        """Called at rank 0: make the circuits of a step; returns when they are acknowledged.

        Returns the seconds from the order until the switch said that it had done it.
        """


class Carried(NamedTuple):
    """One run at one rank: its output, and its moments."""

    output: Array
    moments: Moments


def message_passing() -> Any:
    """The module `mpi4py.MPI`, which starts MPI. Raises `InputError` that names `transport` where it cannot be had."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise missing("transport", "mpi", "mpi4py") from error
    except RuntimeError as error:
        raise refuse("transport", "mpi needs an MPI that `mpi4py` can load, such as: pip install mpich") from error
    return MPI


def check_ranks(program: Program, communicator: MPI.Comm) -> None:
    """Raises `InputError` that names `transport` where a communicator has not as many ranks as the program."""
    found = communicator.Get_size()
    if found != program.ranks:
        library = " ".join(message_passing().Get_library_version().splitlines()[0].split(",")[0].split())
        taken = f"the plan needs {program.ranks}, started by the mpiexec of the same MPI library"
        raise refuse("transport", f"mpi: {library} runs {counted(found, 'rank')}; {taken}")


def patience_s(program: Program) -> Times:
    """The longest time of each step at a rank."""
    hops = np.diff(program.gpu_offsets) - 1
    sent = np.bincount(program.step, weights=program.message_bytes * hops, minlength=program.steps)
    return np.asarray(PATIENCE_S + sent / SLOWEST_BYTES_PER_S)


class MpiRank:
    """One of the ranks of a program, which this process is; memory is held between runs.

    communicator: whose processes are the ranks, in order; all of them unless it is given. Raises `InputError` that
    names `transport` where these are more or fewer than the program's ranks.
    """

    def __init__(self, program: Program, kind: DataType, communicator: MPI.Comm | None = None) -> None:
        self._mpi = message_passing()
        self._all = self._mpi.COMM_WORLD if communicator is None else communicator
        check_ranks(program, self._all)
        self.rank: int = self._all.Get_rank()
        self._memory = RankMemory(program, kind, self.rank)
        near = self._all.Split_type(self._mpi.COMM_TYPE_SHARED)
        self._has_one_clock = near.Get_size() == self._all.Get_size()
        # With more ranks than cores, one that keeps asking keeps others from sending.
        self._spins = SPINS if near.Get_size() <= cores() else 0
        near.Free()
        # The lateness of the last pauses.
        self.lateness_s: deque[float] = deque(maxlen=MOST_PAUSES)
        self._patience_s: list[float] = patience_s(program).tolist()

    def run(
        self,
        given: Array,
        reduction: str = "sum",
        *,
        changes: CircuitChanges | None = None,
        windows_s: Sequence[float] | None = None,
    ) -> Carried:
        """Carry the program out together with all other ranks, which call this too.

        given: this rank's input. changes: of circuits; those of a step are made when all have ended the one before and
        no rank has begun it. windows_s: computation before each step, which is slept while circuits change. Raises
        `FailedError` that says rank and step where its part of a step takes longer than a minute and all that ranks
        send in it at 1 MB/s, or twice that until all others have done theirs and circuits are changed.
        """
        longest_s = 0.0 if changes is None else changes.longest_s
        self._memory.load(given)
        moments = Moments(*np.zeros((len(Moments._fields), len(self._memory.parts))))
        # Rank 0 may still be making the circuits of the first step.
        self._barrier("not all ranks began the run in time", longest_s + 2 * PATIENCE_S)
        origin = time.perf_counter()

        def noted(column: Times, step: int) -> None:
            column[step] = time.perf_counter() - origin

        for index, part in enumerate(self._memory.parts):
            noted(moments.begun_s, index)
            moments.asked_s[index] = moments.acknowledged_s[index] = moments.begun_s[index]
            if changes is not None and index in changes.steps and self.rank == 0:
                moments.switch_s[index] = changes.make(index)
                noted(moments.acknowledged_s, index)
            window_s = 0.0 if windows_s is None else windows_s[index]
            if window_s > 0.0:
                time.sleep(max(0.0, window_s - (time.perf_counter() - origin - moments.begun_s[index])))
            if window_s > 0.0 or (changes is not None and index in changes.steps):
                late = f"step {index}: not all ranks were released in time"
                self._barrier(late, longest_s + 2 * self._patience_s[index])
            noted(moments.released_s, index)
            arrived, received = self._exchange(index, part)
            moments.received_s[index] = received - origin
            noted(moments.sent_s, index)
            self._memory.keep(part, arrived, reduction)
            noted(moments.arrived_s, index)
            self._barrier(f"step {index}: not all ranks ended it in time", 2 * self._patience_s[index])
        if self._has_one_clock:
            self._count_from_first(moments, origin)
        return Carried(self._memory.output(), moments)

    def _count_from_first(self, moments: Moments, origin: float) -> None:
        """Count moments from when the first rank left the barrier at the start, on the clock of the machine."""
        mine, first = np.array([origin]), np.empty(1)
        gathered = self._all.Iallreduce(mine, first, op=self._mpi.MIN)
        for _ in self._done([gathered], time.monotonic() + PATIENCE_S, lambda _: "not all ranks ended the run in time"):
            pass
        for name, column in moments._asdict().items():
            if name != "switch_s":
                np.add(column, origin - first[0], out=column)

    def _exchange(self, index: int, part: StepPart) -> tuple[list[Array], float]:
        """Send, pass on and receive all of a step: what has come, in the order of `part.incoming`, and when."""
        free = self._memory.buffer
        arriving, incoming, outgoing = [], [], []
        for message in part.incoming:
            place, free = free[: message.size], free[message.size :]
            arriving.append(place)
            incoming.append(self._all.Irecv((place, self._mpi.BYTE), message.origin, message.origin_tag))
        for send in part.sends:
            packed, free = self._memory.packed(send, free)
            outgoing.append(self._all.Isend((packed, self._mpi.BYTE), send.to, send.to_tag))
        deadline = time.monotonic() + self._patience_s[index]

        def late(left: int) -> str:
            return f"step {index}: {counted(left, 'message')} were neither received nor sent in time"

        for done in self._done(incoming, deadline, late):
            if done >= len(part.receives):
                onward = part.forwards[done - len(part.receives)]
                outgoing.append(self._all.Isend((arriving[done], self._mpi.BYTE), onward.to, onward.to_tag))
        received = time.perf_counter()
        for _ in self._done(outgoing, deadline, late):
            pass
        return arriving, received

    def _done(self, requests: list[MPI.Request], deadline: float, late: Callable[[int], str]) -> Generator[int]:
        """The indices of requests, as they are done. Raises `FailedError` with `late` where some are late."""
        left, asked = len(requests), 0
        while left:
            done = self._mpi.Request.Testsome(requests) or ()
            left -= len(done)
            yield from done
            if done:
                asked = 0
                continue
            asked += 1
            if asked > self._spins:
                self._pause()
            if time.monotonic() > deadline:
                raise FailedError(f"transport: mpi: rank {self.rank}, {late(left)}")

    def _pause(self) -> None:
        begin = time.perf_counter()
        time.sleep(PAUSE_S)
        self.lateness_s.append(time.perf_counter() - begin - PAUSE_S)

    def _barrier(self, late: str, longest_s: float) -> None:
        for _ in self._done([self._all.Ibarrier()], time.monotonic() + longest_s, lambda _: late):
            pass
