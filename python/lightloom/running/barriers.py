"""The cost of synchronisation: processes that wait for each other, round after round, by every barrier there is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import FailedError, InputError, unknown_name
from lightloom.base.files import write_bytes
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.base.whole_numbers import whole_number
from lightloom.running.commands import carried_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

__all__ = ["MOST_RANKS", "BarrierCost", "BarrierCosts", "barrier_costs", "barrier_names"]

SCHEMA = "lightloom.barriers/1"
MOST_RANKS, MOST_ROUNDS = 256, 1_000_000
# The program runs in a fresh process with one thread, which may fork; it gets the path of this package.
# The process has a deadline of its own. Ours is later, for the case that the process has stopped.
START_S, ROUND_S = 60.0, 4e-4
PROGRAM = """import sys
sys.path.insert(0, {0!r})
from lightloom._core import barrier_rounds
try:
    sys.stdout.buffer.write(barrier_rounds(*{1!r}))
except OSError as error:
    sys.exit(str(error))
"""


@dataclass(frozen=True)
class BarrierCost:
    """A barrier of this many ranks: seconds of a round; the middle one, the mean, and 99 of 100 at most."""

    barrier: str
    ranks: int
    rounds: int
    median_s: float
    mean_s: float
    most_of_99_s: float


class BarrierCosts(Table):
    """Measured costs of barriers; immutable. Made by `barrier_costs`. cores: that the processes could be on."""

    def __init__(self, costs: Sequence[BarrierCost], cores: int) -> None:
        self.costs, self.cores = tuple(costs), cores

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a barrier and number of ranks."""
        return {name: [getattr(cost, name) for cost in self.costs] for name in BarrierCost.__dataclass_fields__}

    def to_json(self) -> str:
        """The costs as JSON of schema `lightloom.barriers/1`, in seconds."""
        about = [dict(zip(("name", "summary", "source"), one, strict=True)) for one in _core.barriers()]
        made = {"schema": SCHEMA, "cores": self.cores, "barriers": about, "rows": [asdict(cost) for cost in self.costs]}
        return json.dumps(made, indent=1, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json() + "\n").encode())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Cost over ranks, a line for each barrier; in a PNG, PDF or SVG `path`. Raises `InputError` naming `plot`."""
        return picture("BarrierCosts.plot", self, path)


def barrier_names() -> tuple[str, ...]:
    """All barriers, in the order in which they are shown."""
    return tuple(name for name, _, _ in _core.barriers())


def barrier_costs(
    names: Sequence[str] | None = None,
    *,
    most_ranks: int | None = None,
    rounds: int = 5000,
    progress: Callable[[str], None] | None = None,
) -> BarrierCosts:
    """Measure barriers of 2, 4, 8, ... processes; Linux only.

    names: of `barrier_names()`, all unless said. most_ranks: 16, or eight a core where that is more. rounds: that are
    measured, at every number of ranks. progress: called with the next measurement.

    With more ranks than cores no rank spins: ranks give the core to others, or sleep. Raises `InputError` that
    names the argument, and `FailedError` where a process ends that should not.
    """
    known = barrier_names()
    if not known:
        raise InputError("barriers", "barriers: they are measured only on Linux")
    for name in names or ():
        if name not in known:
            raise unknown_name("barriers", name, known)
    cores = len(os.sched_getaffinity(0))
    most = max(16, min(8 * cores, MOST_RANKS)) if most_ranks is None else most_ranks
    whole_number("most_ranks", most, 2, MOST_RANKS)
    whole_number("rounds", rounds, 1, MOST_ROUNDS)
    counts = [1 << power for power in range(1, most.bit_length()) if 1 << power <= most]
    counts += [most] if counts[-1] != most else []
    costs = []
    for name in names or known:
        for ranks in counts:
            if progress is not None:
                progress(f"{name}, {_core.counted(ranks, 'rank')}")
            costs.append(_cost(name, ranks, rounds))
    return BarrierCosts(costs, cores)


def _cost(name: str, ranks: int, rounds: int) -> BarrierCost:
    program = PROGRAM.format(str(Path(__file__).parents[2]), (name, ranks, rounds, os.getpid()))
    limit_s = START_S + ROUND_S * rounds * ranks
    try:
        # An interrupt from the keyboard ends the process that started it, which ends it.
        ran = carried_out([sys.executable, "-I", "-S", "-c", program], limit_s=limit_s)
    except subprocess.TimeoutExpired:
        raise FailedError(f"barrier {name} of {ranks} ranks: its process did not end within {limit_s:g} s") from None
    if ran.returncode or len(ran.stdout) != 4 * rounds:
        told = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        why = told[-1] if told else f"its process ended with status {ran.returncode}"
        raise FailedError(f"barrier {name} of {ranks} ranks: {why}")
    ns = np.frombuffer(ran.stdout, dtype="<u4").astype(np.float64)
    median, most_of_99 = np.quantile(ns, (0.5, 0.99)).tolist()
    return BarrierCost(name, ranks, rounds, median / 1e9, float(ns.mean()) / 1e9, most_of_99 / 1e9)
