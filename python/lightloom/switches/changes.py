"""One change of one switch: unmake what must go, make what must come, read back, compare."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING

from lightloom.switches.circuits import Connections, Ports, counted, described
from lightloom.switches.failures import RejectedError, SwitchError

if TYPE_CHECKING:
    from lightloom.switches.driver import SwitchDriver

# Between two looks at a switch that has not done yet what it was asked for: the first pause and the longest.
FIRST_PAUSE_S = 0.002
LONGEST_PAUSE_S = 0.2


@dataclass(frozen=True)
class SwitchChange:
    """The outcome of a change of one switch.

    before, wanted: its former circuits, and those that it is to hold on the plan's ports; held: those after, None
    where it could not be read; ports: the plan's; seconds: how long it took; failure: the error, None where
    there was none; answered_s: of `seconds`, those until the switch said that it had made the change or taken the
    order. The change is acknowledged where the circuits read back equal `wanted`, even with an error.
    """

    switch: str
    before: Connections
    wanted: Connections
    held: Connections | None
    ports: Ports
    seconds: float
    failure: SwitchError | None = None
    answered_s: float = 0.0

    @property
    def unmade(self) -> Connections:
        """The circuits that had to go."""
        return self.ports.touched_by(self.before) - self.wanted

    @property
    def made(self) -> Connections:
        """The circuits that had to come."""
        return self.wanted - self.before

    @property
    def changed_ports(self) -> int:
        """Ports, ingress and egress each counted, whose circuit had to go or come."""
        changed = self.made | self.unmade
        return len({ingress for ingress, _ in changed}) + len({egress for _, egress in changed})

    @property
    def acknowledged(self) -> bool:
        """Whether the switch holds the wanted circuits, as read back."""
        return self.held is not None and self.ports.touched_by(self.held) == self.wanted

    @property
    def missing(self) -> Connections:
        """The circuits that were wanted and are not held; all where the switch could not be read."""
        return self.wanted - (self.held or frozenset())

    @property
    def left_over(self) -> Connections:
        """The circuits on the plan's ports that are held and should be gone."""
        return self.ports.touched_by(self.held or frozenset()) - self.wanted

    @property
    def is_unchanged(self) -> bool:
        """Whether the switch holds its former circuits on the plan's ports, as read back."""
        return self.held is not None and self.ports.touched_by(self.held) == self.ports.touched_by(self.before)

    @property
    def is_half_made(self) -> bool:
        """Whether the switch holds neither its former circuits nor the wanted ones, or this is unknown."""
        return not self.acknowledged and not self.is_unchanged

    def report(self) -> str:
        """The failure and the circuits that the switch holds now, in one line."""
        words = [str(self.failure)] if self.failure is not None else []
        if self.held is None:
            words.append("its present circuits are not known")
        elif self.acknowledged:
            words.append(f"read back with all {counted(len(self.wanted))}")
        elif self.is_unchanged:
            words.append("it has its former circuits")
        else:
            words.append(f"half made: {len(self.wanted) - len(self.missing)} of {counted(len(self.wanted))} are there")
            if self.missing:
                words.append(f"missing: {described(self.missing)}")
            if self.left_over:
                words.append(f"still there: {described(self.left_over)}")
        return "; ".join(words)


def change_switch(
    name: str, driver: SwitchDriver, before: Connections, wanted: Connections, ports: Ports
) -> SwitchChange:
    """Make a switch that holds `before` hold `wanted` on the plan's ports, and read back until it does.

    Circuits elsewhere stay. Raises nothing of the switch: errors are in the result.
    """
    began_s = monotonic()
    gone, new = ports.touched_by(before) - wanted, wanted - before
    failure: SwitchError | None = None
    answered_s = 0.0
    held: Connections | None = before
    if gone or new:
        try:
            driver.change(gone, new, before)
        except SwitchError as error:
            failure = error
        answered_s = monotonic() - began_s
        # A change that a switch rejected does not come later.
        wait_s = 0.0 if isinstance(failure, RejectedError) else driver.address.seconds("settle")
        held, unread = _read_back(driver, wanted, ports, wait_s)
        failure = failure or unread
        if failure is None and (held is None or ports.touched_by(held) != wanted):
            failure = SwitchError(f"the circuits read back are not those asked for within {wait_s:g} s")
    return SwitchChange(name, before, wanted, held, ports, monotonic() - began_s, failure, answered_s)


def _read_back(
    driver: SwitchDriver, wanted: Connections, ports: Ports, wait_s: float
) -> tuple[Connections | None, SwitchError | None]:
    """The circuits of the switch, once they are `wanted` or else at the end of the time; or the error of reading."""
    end_s = monotonic() + wait_s
    pause_s = FIRST_PAUSE_S
    while True:
        held: Connections | None = None
        unread: SwitchError | None = None
        try:
            held = driver.read()
        except SwitchError as error:
            unread = error
        left_s = end_s - monotonic()
        if left_s <= 0 or (held is not None and ports.touched_by(held) == wanted):
            return held, unread
        sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
