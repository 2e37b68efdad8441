"""Circuits of a run by MPI: rank 0 sets a real switch, and all other ranks wait until it has acknowledged them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import FailedError, InputError
from lightloom.optics.port_maps import circuits
from lightloom.running.outside_switch import OutsideSwitch, check_one_switch
from lightloom.switches.address import parse_address

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from mpi4py import MPI

    from lightloom.optics.port_maps import Circuits
    from lightloom.plans import Plan

__all__ = ["PlannedChanges", "SwitchChanges", "planned_changes"]

# Most requests to a switch for one configuration: reads before it, orders, and what its errors were.
CALLS = 10


class PlannedChanges(NamedTuple):
    """The changes of circuits that a plan makes on one switch, of which configuration 0 is there before the first step.

    configurations: by step before which circuits change. longest_s: by the deadlines of the switch, of one change.
    """

    circuits: Circuits
    configurations: Mapping[int, int]
    longest_s: float


def planned_changes(plan: Plan, address: str) -> PlannedChanges:
    """The changes that a plan makes on the switch at an address.

    Raises `InputError` that names `plan` where it changes circuits in the background of a step, which a run waits for,
    and `switch` for a wrong address, and for a plan of several switches.
    """
    told = parse_address("switch", address)
    _core.change_times(plan.core)
    on_ports = circuits(plan)
    check_one_switch(on_ports)
    configuration = {step: held.index for held in on_ports.configurations for step in held.steps}
    changed = {
        step.index: configuration[step.index]
        for step in plan.steps
        if step.reconfigured or configuration[step.index] != configuration.get(step.index - 1, 0)
    }
    return PlannedChanges(on_ports, changed, CALLS * (told.seconds("timeout") + told.seconds("settle")))


class SwitchChanges:
    """The changes of a plan's circuits on the switch at an address: all ranks of a communicator make this together.

    Raises `InputError` that names `switch`, the same at all ranks, and at rank 0 `FailedError` where the switch cannot
    be reached; rank 0 then has to end all others.
    """

    def __init__(self, planned: PlannedChanges, address: str, communicator: MPI.Comm) -> None:
        self._planned = planned
        self._switch: OutsideSwitch | None = None
        refused: tuple[str, str] | None = None
        if communicator.Get_rank() == 0:
            try:
                self._switch = OutsideSwitch(planned.circuits, address)
            except InputError as error:
                refused = error.field, str(error)
        refused = communicator.bcast(refused)
        if refused is not None:
            raise InputError(*refused)

    @property
    def steps(self) -> Mapping[int, int]:
        """The steps before which circuits change, each with its configuration."""
        return self._planned.configurations

    @property
    def longest_s(self) -> float:
        """The longest time of a change; it has failed by then."""
        return self._planned.longest_s

    def begin(self) -> None:
        """At rank 0, make the circuits that are there when the first step begins; elsewhere nothing.

        Raises `FailedError` where the switch does not hold them.
        """
        if self._switch is not None:
            self._make(0, "before the first step")

    def make(self, step: int) -> float:
        """At rank 0, make the circuits of a step; returns the seconds until the switch said that it had done it.

        Raises `FailedError` where the switch does not hold them.
        """
        return self._make(self.steps[step], f"before step {step + 1}")

    def _make(self, configuration: int, when: str) -> float:
        assert self._switch is not None  # noqa: S101 (ranks other than 0 do not make circuits)
        try:
            self._switch.make(configuration)
        except FailedError as error:
            raise FailedError(f"configuration {configuration} was not made, {when}: {error}") from error
        return self._switch.answered_s[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._switch is not None:
            self._switch.close()
