"""The circuits of a plan from port to port of its ranks, and their changes on a switch where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.base.errors import FailedError, refuse
from lightloom.optics.port_maps import circuits
from lightloom.plans import Plan
from lightloom.running.controller import RunFailedError
from lightloom.running.mpi_circuits import planned_changes
from lightloom.running.outside_switch import OutsideSwitch

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    Circuit = tuple[int, int]

__all__ = ["HostCircuits"]

# Kinds of switches at which transmitter and receiver p of GPU g of d ports are at port g·d + p + 1.
NUMBERED_BY_GPU = ("crossbar", "mesh")


class HostCircuits:
    """The circuits of a plan; the switch at an address makes them as long as this is a context.

    configurations: by index, circuits from a transmitter's port to a receiver's, both counted rank by rank. steps: by
    step, the index of its configuration; 0 is there before the first step. Raises `InputError` that names `plan` where
    circuits change in the background of a step, and `switch` where no run sets it.
    """

    def __init__(self, plan: Plan, address: str | None) -> None:
        self._address = address
        self._switch: OutsideSwitch | None = None
        if address is None:
            _core.change_times(plan.core)
            self._circuits = circuits(Plan(plan.core.by_rank()) if plan.ranks else plan, "crossbar")
        else:
            self._circuits = planned_changes(plan, address).circuits
            labels = self._circuits.labels
            kind = "" if labels is None else labels.optics.partition(":")[0]
            if kind not in NUMBERED_BY_GPU:
                taken = " or ".join(NUMBERED_BY_GPU)
                raise refuse("switch", f"the plan's optical layer is `{kind}`; hosts are joined by a {taken}")
        gpus = plan.ranks if plan.ranks and address is not None else range(plan.gpus)
        rank_of = {gpu: rank for rank, gpu in enumerate(gpus)}
        self.configurations = [self._by_rank(index, rank_of, plan.ports) for index in range(self._count)]
        self.steps = [0] * len(plan.steps)
        for configuration in self._circuits.configurations:
            for step in configuration.steps:
                self.steps[step] = configuration.index

    @property
    def has_switch(self) -> bool:
        """Whether a switch makes the circuits."""
        return self._address is not None

    def make(self, configuration: int, where: str) -> float:
        """Have the switch make a configuration; returns the seconds until it said so, 0 where there is no switch.

        Raises `RunFailedError` where it does not hold it.
        """
        if self._switch is None:
            return 0.0
        try:
            self._switch.make(configuration)
        except FailedError as error:
            raise RunFailedError(f"configuration {configuration} was not made {where}: {error}") from error
        return self._switch.answered_s[-1]

    def __enter__(self) -> Self:
        if self._address is not None:
            try:
                self._switch = OutsideSwitch(self._circuits, self._address)
            except FailedError as error:
                raise RunFailedError(*error.lines) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._switch is not None:
            self._switch.close()
            self._switch = None

    @property
    def _count(self) -> int:
        return len(self._circuits.configurations)

    def _by_rank(self, index: int, rank_of: dict[int, int], ports: int) -> list[Circuit]:
        found = []
        for pair in self._circuits.configurations[index].switches[0].connections.tolist():
            ends = [divmod(number - 1, ports) for number in pair]
            if all(gpu in rank_of for gpu, _ in ends):
                begin, end = (rank_of[gpu] * ports + port for gpu, port in ends)
                found.append((begin, end))
        return found
