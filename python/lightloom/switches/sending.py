"""A plan's configurations on switches: a call makes one, and returns when every switch has acknowledged it.

The former circuits of the switches are in a file before anything changes, so that they can always be restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from lightloom.base.errors import FailedError, refuse, shown
from lightloom.base.whole_numbers import whole_number
from lightloom.switches.address import Address, parse_address
from lightloom.switches.changes import SwitchChange, change_switch
from lightloom.switches.circuits import Connections, Ports
from lightloom.switches.driver import driver_of
from lightloom.switches.failures import SwitchError
from lightloom.switches.state_file import SwitchState, check_state, save_state

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from lightloom.optics.port_maps import Circuits
    from lightloom.switches.driver import Identity, SwitchDriver

    Result = TypeVar("Result")


class SwitchProgram(NamedTuple):
    """The program of one switch of a plan: its name, its ports of each side, the circuits of each configuration."""

    name: str
    ports: int
    configurations: tuple[Connections, ...]

    @property
    def used(self) -> Ports:
        """The ports that any configuration uses: the plan's own."""
        return Ports.of(circuit for circuits in self.configurations for circuit in circuits)


@dataclass(frozen=True)
class Applied:
    """The outcome of a configuration, numbered from 0, or of a restored state, None, on every switch."""

    configuration: int | None
    changes: tuple[SwitchChange, ...]
    seconds: float

    @property
    def acknowledged(self) -> bool:
        """Whether every switch holds the circuits that it is to hold."""
        return all(change.acknowledged for change in self.changes)


class ChangeError(FailedError):
    """A change that not every switch acknowledged; it has a line for each that did not, or not its undoing.

    applied: its outcome on every switch; undone: the outcome of undoing it, None if that was not tried;
    state: the file of the switches' former circuits, None if there is none.
    """

    def __init__(self, applied: Applied, undone: Applied | None, state: Path | None) -> None:
        self.applied, self.undone, self.state = applied, undone, state
        super().__init__(*self._said())

    def _said(self) -> list[str]:
        undone = {} if self.undone is None else {change.switch: change for change in self.undone.changes}
        said = []
        for change in self.applied.changes:
            back = undone.get(change.switch)
            if change.acknowledged and (back is None or back.acknowledged):
                continue
            words = [] if change.acknowledged else [change.report()]
            if back is not None and (change.acknowledged or change.is_half_made or not back.acknowledged):
                words.append(
                    "undone: it has its former circuits"
                    if back.acknowledged
                    else f"it could not be undone: {back.report()}"
                )
            elif self.state is not None and change.is_half_made:
                words.append(f"to bring its former circuits back: lightloom circuits --restore {self.state}")
            said.append(f"switch {change.switch}: {'; '.join(words)}")
        return said


class UnreadError(FailedError):
    """Switches that could not be read before a change, so that nothing was changed; it has a line for each."""

    def __init__(self, errors: Mapping[str, SwitchError]) -> None:
        super().__init__(*(f"switch {name}: {error}; nothing was changed" for name, error in errors.items()))


class Switches:
    """The switches of a plan, each with the configurations that it is to hold.

    programs: circuits that each switch is to hold. addresses: of every switch by its name. replace: circuits on ports
    that the plan does not use are unmade too, instead of left. state: the file of the switches' former circuits, a new
    file; the next free `out/switches/before-N.json` unless it is said. undo: a change that not every switch
    acknowledges is undone on all of them. ports: of every switch by its name, those that are changed, in place of the
    programs' own.

        with Switches(programs, {"crossbar": "scpi://192.0.2.7"}) as switches:
            switches.apply(0)

    Raises `InputError` for addresses that are wrong, or of other switches than the plan has.
    """

    def __init__(
        self,
        programs: Sequence[SwitchProgram],
        addresses: Mapping[str, str | Address],
        *,
        replace: bool = False,
        state: str | PathLike[str] | None = None,
        undo: bool = False,
        ports: Mapping[str, Ports] | None = None,
    ) -> None:
        names = [program.name for program in programs]
        if not isinstance(addresses, Mapping):
            raise refuse("send", f"`{shown(addresses)}` is not accepted; it takes addresses by the names of switches")
        for name in addresses:
            if name not in names:
                raise refuse("send", f"the plan has no switch `{shown(name)}`; it has {', '.join(names)}")
        for name in names:
            if name not in addresses:
                raise refuse("send", f"switch `{name}` has no address; give {name}=SCHEME://HOST")
        self._programs = {program.name: program for program in programs}
        own = {name: Ports() if replace else one.used for name, one in self._programs.items()}
        self._ports = {**own, **(ports or {})}
        self._drivers = {
            name: driver_of(one if isinstance(one, Address) else parse_address("send", one))
            for name, one in ((name, addresses[name]) for name in names)
        }
        names_by_place: dict[tuple[str, str], str] = {}
        for name, driver in self._drivers.items():
            other = names_by_place.setdefault((driver.address.kind.scheme, driver.address.place), name)
            if other != name:
                raise refuse("send", f"`{other}` and `{name}` have the same address; give each switch its own")
        self._wanted_state = None if state is None else check_state(state)
        self._undo = undo
        self.state: Path | None = None

    @classmethod
    def of(
        cls,
        circuits: Circuits,
        send: str | Mapping[str, str],
        *,
        replace: bool = False,
        state: str | PathLike[str] | None = None,
        undo: bool = False,
    ) -> Self:
        """The switches of the result of `lightloom.circuits`. send: for a single switch, its address alone will do."""
        from lightloom.optics.port_maps import Circuits

        if not isinstance(circuits, Circuits):
            raise refuse("circuits", f"`{shown(circuits)}` is not accepted; it takes what `lightloom.circuits` gives")
        programs = programs_of(circuits)
        if isinstance(send, str):
            if len(programs) != 1:
                names = ", ".join(program.name for program in programs)
                raise refuse("send", f"the plan has {len(programs)} switches, {names}; give NAME=ADDRESS for each")
            send = {programs[0].name: send}
        return cls(programs, send, replace=replace, state=state, undo=undo)

    @property
    def configurations(self) -> int:
        """The number of configurations of the plan."""
        return max((len(program.configurations) for program in self._programs.values()), default=0)

    def check(self) -> dict[str, Identity]:
        """Ask every switch for its identity and number of ports.

        Raises `InputError` where it has fewer than the plan uses, and `UnreadError`.
        """
        identities = self._of_all(lambda _name, driver: driver.identity())
        for name, identity in identities.items():
            used = self._programs[name].used
            for side, has, needs in (
                ("ingress", identity.ingress, max(used.ingress or (0,))),
                ("egress", identity.egress, max(used.egress or (0,))),
            ):
                if has is not None and has < needs:
                    raise refuse(
                        "send", f"switch {name} ({identity.words}) has {has} {side} ports; the plan's need {needs}"
                    )
        return identities

    def apply(self, configuration: int) -> Applied:
        """Make every switch hold a configuration, numbered from 0; returns when all have acknowledged it.

        The switches are changed at the same time: each is read, unmade and made what must be, and read back until it
        is equal. Raises `InputError` for a configuration that is not there, `UnreadError` where nothing was changed,
        `ChangeError` where a switch did not acknowledge.
        """
        whole_number("configuration", configuration, 0, self.configurations - 1)
        wanted = {name: one.configurations[configuration] for name, one in self._programs.items()}
        return self._change(configuration, wanted)

    def restore(self, states: Sequence[SwitchState]) -> Applied:
        """Make every switch hold its former circuits, on the ports that the state names; errors as of `apply`."""
        _check_states(states)
        self._ports = {state.name: state.ports for state in states}
        return self._change(None, {state.name: state.ports.touched_by(state.connections) for state in states})

    def read(self) -> dict[str, Connections]:
        """The circuits that every switch holds. Raises `UnreadError`."""
        return self._of_all(lambda _name, driver: driver.read())

    def keep_state(self) -> Path:
        """Write the switches' circuits to the state file, unless that is done; `apply` and `restore` do it first.

        Raises `UnreadError`, and `InputError` that names `state`.
        """
        if self.state is None:
            self._keep(self.read())
        assert self.state is not None  # noqa: S101
        return self.state

    def _keep(self, held: Mapping[str, Connections]) -> None:
        self.state = save_state(
            [
                SwitchState(name, driver.address, held[name], self._ports[name])
                for name, driver in self._drivers.items()
            ],
            self._wanted_state,
        )

    def close(self) -> None:
        """Let go of the connections; the circuits stay."""
        for driver in self._drivers.values():
            driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _change(self, configuration: int | None, wanted: Mapping[str, Connections]) -> Applied:
        began_s = monotonic()
        before = self.read()
        if self.state is None:
            read_s = monotonic()
            self._keep(before)
            # The time that writing to disk takes is not counted as the switches'.
            began_s += monotonic() - read_s
        applied = self._changed(configuration, before, wanted, began_s)
        if applied.acknowledged:
            return applied
        undone = None
        if self._undo:
            undone = self._undone(applied)
        raise ChangeError(applied, undone, self.state)

    def _undone(self, applied: Applied) -> Applied:
        began_s = monotonic()
        held: dict[str, Connections] = {}
        unread: dict[str, SwitchError] = {}
        for change in applied.changes:
            try:
                held[change.switch] = self._drivers[change.switch].read()
            except SwitchError as error:
                unread[change.switch] = error
        wanted = {one.switch: one.ports.touched_by(one.before) for one in applied.changes}
        done = self._changed(applied.configuration, held, {name: wanted[name] for name in held}, began_s)
        lost = tuple(
            SwitchChange(one.switch, one.before, wanted[one.switch], None, one.ports, 0.0, unread[one.switch])
            for one in applied.changes
            if one.switch in unread
        )
        return Applied(applied.configuration, (*done.changes, *lost), monotonic() - began_s)

    def _changed(
        self,
        configuration: int | None,
        before: Mapping[str, Connections],
        wanted: Mapping[str, Connections],
        began_s: float,
    ) -> Applied:
        changes = _in_parallel(
            {
                name: lambda name=name: change_switch(  # type: ignore[misc]
                    name, self._drivers[name], before[name], wanted[name], self._ports[name]
                )
                for name in before
            }
        )
        return Applied(configuration, tuple(changes.values()), monotonic() - began_s)

    def _of_all(self, ask: Callable[[str, SwitchDriver], Result]) -> dict[str, Result]:
        """The answers of all switches, asked at the same time."""
        errors: dict[str, SwitchError] = {}

        def asked(name: str) -> Result | None:
            try:
                return ask(name, self._drivers[name])
            except SwitchError as error:
                errors[name] = error
                return None

        answers = _in_parallel({name: lambda name=name: asked(name) for name in self._drivers})  # type: ignore[misc]
        if errors:
            raise UnreadError({name: errors[name] for name in self._drivers if name in errors})
        return {name: answer for name, answer in answers.items() if answer is not None}


def programs_of(circuits: Circuits) -> list[SwitchProgram]:
    """The circuits that each switch is to hold, from `lightloom.circuits`."""
    return [
        SwitchProgram(
            switch.name,
            switch.ports,
            tuple(
                frozenset((int(ingress), int(egress)) for ingress, egress in configuration.switches[place].connections)
                for configuration in circuits.configurations
            ),
        )
        for place, switch in enumerate(circuits.switches)
    ]


def restorable(
    states: Sequence[SwitchState], *, state: str | PathLike[str] | None = None, undo: bool = False
) -> Switches:
    """The switches of a state file, whose `restore` restores its circuits; `state` and `undo` as of `Switches`."""
    _check_states(states)
    programs = [SwitchProgram(one.name, 0, (one.connections,)) for one in states]
    addresses = {one.name: one.address for one in states}
    return Switches(programs, addresses, state=state, undo=undo, ports={one.name: one.ports for one in states})


def _check_states(states: object) -> None:
    if not isinstance(states, list | tuple) or not all(isinstance(one, SwitchState) for one in states):
        raise refuse("restore", f"`{shown(states)}` is not accepted; it takes what `load_state` gives")


def _in_parallel(calls: Mapping[str, Callable[[], Result]]) -> dict[str, Result]:
    """The results of the calls, all made at the same time, each in a thread that an interrupt does not wait for."""
    if len(calls) == 1:
        return {name: call() for name, call in calls.items()}
    found: dict[str, Result] = {}
    raised: list[BaseException] = []

    def run(name: str, call: Callable[[], Result]) -> None:
        try:
            found[name] = call()
        except BaseException as error:
            raised.append(error)

    threads = [Thread(target=run, args=item, daemon=True) for item in calls.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return {name: found[name] for name in calls}
