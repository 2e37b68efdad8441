"""Messages to and from the ranks that mpiexec starts, as files of a folder.

The plan and how it is run; an input a rank; and then an output a rank, the measurement, and the failure of a rank.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import FailedError, InputError
from lightloom.plans import Plan
from lightloom.running.data import data_type
from lightloom.running.judged import Jitter, Lateness
from lightloom.running.measurement import RunTimes
from lightloom.running.mpi_runs import MpiOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lightloom.running.mpi_runs import Together

    Array = NDArray[Any]

__all__ = ["Job"]

TIMES = [one.name for one in fields(RunTimes)]


class Job:
    """A folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ask(self, plan: Plan, options: MpiOptions, inputs: Sequence[Array]) -> None:
        """Write the files that all ranks need."""
        plan.save(self.folder / "plan.json")
        told = options._asdict() | {"kind": options.kind.name}
        (self.folder / "options.json").write_text(json.dumps(told))
        (self.folder / "asker").write_text(f"{os.getpid()} {platform.node()}")
        for rank in range(plan.gpus):
            np.save(self.folder / f"input-{rank}.npy", inputs[rank])

    def asked(self) -> tuple[Plan, MpiOptions]:
        """The plan, and how it is run."""
        told = json.loads((self.folder / "options.json").read_text())
        return Plan.load(self.folder / "plan.json"), MpiOptions(**told | {"kind": data_type(told["kind"])})

    def given(self, rank: int) -> Array:
        """The input of a rank."""
        array: Array = np.load(self.folder / f"input-{rank}.npy")
        return array

    def answer(self, rank: int, found: Together) -> None:
        """Write a rank's output, and at rank 0 the measurement."""
        np.save(self.folder / f"output-{rank}.npy", found.output)
        if rank == 0:
            np.savez(self.folder / "times.npz", **{name: getattr(found.times, name) for name in TIMES})
            (self.folder / "jitter.json").write_text(json.dumps(found.jitter))

    def answered(self, ranks: int) -> tuple[list[Array], RunTimes, Jitter]:
        """The outputs of all ranks, and the measurement."""
        outputs = [np.load(self.folder / f"output-{rank}.npy") for rank in range(ranks)]
        with np.load(self.folder / "times.npz") as times:
            measured = RunTimes(**times)
        jitter = json.loads((self.folder / "jitter.json").read_text())
        return outputs, measured, Jitter(*(Lateness(*late) for late in jitter))

    def begin(self) -> None:
        """Write that all ranks are there."""
        (self.folder / "begun").touch()

    def has_begun(self) -> bool:
        """Whether all ranks were there."""
        return (self.folder / "begun").exists()

    def fail(self, rank: int, error: InputError | FailedError) -> None:
        """Write why a rank cannot go on."""
        told = [error.field, str(error)] if isinstance(error, InputError) else [None, *error.lines]
        (self.folder / f"failure-{rank}.json").write_text(json.dumps(told))

    def failure(self) -> InputError | FailedError | None:
        """Why the first rank that says so could not go on."""
        for file in sorted(self.folder.glob("failure-*.json"), key=lambda file: file.stat().st_mtime_ns):
            field, *lines = json.loads(file.read_text())
            return FailedError(*lines) if field is None else InputError(field, lines[0])
        return None

    def asker(self) -> int | None:
        """The process that asks, if it is on this machine."""
        process, _, machine = (self.folder / "asker").read_text().partition(" ")
        return int(process) if machine == platform.node() else None
