"""The outside switch of a run: it holds the circuits of every step, and its answers are timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import InputError, refuse
from lightloom.switches import Switches

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from lightloom.optics.port_maps import Circuits

__all__ = ["OutsideSwitch", "check_one_switch"]


def check_one_switch(circuits: Circuits) -> None:
    """Raises `InputError` that names `switch` where a plan's circuits are on several switches."""
    if len(circuits.switches) != 1:
        names = ", ".join(switch.name for switch in circuits.switches)
        raise refuse("switch", f"the plan has {len(circuits.switches)} switches, {names}; a run sets one")


class OutsideSwitch:
    """The switch at an address, which is to hold the circuits of a plan; its former circuits are kept in a file.

    answered_s: of every configuration that was made, seconds from the order until the switch said that it had done it.

    Raises `InputError` that names `switch` where the switch is too small, or its former circuits cannot be kept, and
    `FailedError` where it does not answer.
    """

    def __init__(self, circuits: Circuits, address: str) -> None:
        self.answered_s: list[float] = []
        check_one_switch(circuits)
        try:
            self._switches = Switches.of(circuits, address)
            self._switches.check()
            self._switches.keep_state()
        except InputError as error:
            raise refuse("switch", str(error).removeprefix(f"{error.field}: ")) from error

    def make(self, configuration: int) -> None:
        """Make a configuration, numbered from 0; returns when it is acknowledged: read back.

        Raises `FailedError` where the switch does not hold it.
        """
        applied = self._switches.apply(configuration)
        self.answered_s.append(max(change.answered_s for change in applied.changes))

    def close(self) -> None:
        """Let go of the connection; the circuits stay."""
        self._switches.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
