"""Runs of a plan by the agents of several hosts, whose steps wait for each other and for a switch's circuits."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.whole_numbers import whole_number
from lightloom.running.hosts.agents import Agents
from lightloom.running.hosts.changes import HostCircuits
from lightloom.running.hosts.clocks import compared
from lightloom.running.hosts.course import Course
from lightloom.running.hosts.description import hosts_of
from lightloom.running.hosts.launching import LAUNCHERS, Launched
from lightloom.running.hosts.secret import drawn_secret, secret_told
from lightloom.running.hosts.tls import context_in
from lightloom.running.moments import Moments, windows_of
from lightloom.running.mpi import patience_s

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lightloom.plans import Plan
    from lightloom.running.hosts.clocks import HostClock
    from lightloom.running.hosts.course import Ran
    from lightloom.running.hosts.description import Host
    from lightloom.running.program import Program

    Array = NDArray[Any]

__all__ = ["AGENT_PORT", "Hosts", "HostsOptions", "Together", "checked_hosts"]

# The TCP port at which agents listen where none is said.
AGENT_PORT = 7411

# Questions by which clocks are compared, before and after the runs.
TRIPS = 20


class HostsOptions(NamedTuple):
    """Hosts, what starts their agents (`launching.LAUNCHERS`), and the TCP port at which agents listen.

    tls: the folder of certificates (`tls.FILES`); None where nothing is encrypted.
    """

    hosts: str
    launch: str
    agent_port: int
    tls: str | None


class Together(NamedTuple):
    """What all hosts together found: outputs and moments of all ranks, the circuits' use, and the hosts' clocks.

    moments: by run, step and rank; used: by run, step and port of all ranks, bytes sent, first and last moment; all
    since the run began, by the command's clock. late_s: by host, how late sleeps ended there before the runs.
    """

    outputs: list[Array]
    moments: Moments
    used: NDArray[np.float64]
    hosts: list[Host]
    clocks: list[HostClock]
    late_s: list[list[float]]


class Hosts:
    """The hosts of runs; agents are started or reached for the first plan, and stay for others.

    Raises `InputError` that names `LIGHTLOOM_SECRET` where agents are started by a person and it is missing, or `tls`.
    """

    def __init__(self, options: HostsOptions) -> None:
        self._options = options
        self._secret = secret_told() if options.launch == "none" else drawn_secret()
        self._tls = None if options.tls is None else context_in(options.tls, of_agent=False)
        self._agents: Agents | None = None
        self._launched: Launched | None = None
        self._reached: list[tuple[str, str, str]] = []

    def run(
        self,
        plan: Plan,
        program: Program,
        inputs: Sequence[Array],
        settings: Mapping[str, Any],
        *,
        runs: int,
        warm_ups: int,
        switch: str | None,
        progress: Callable[[int], None],
    ) -> Together:
        """Run a plan on the hosts, whose circuits the switch at an address makes where one is given.

        settings: `dtype` and `reduction`. Raises `InputError` that names `hosts`, `launch`, `plan` or `switch`, and
        `RunFailedError` that names the host that was lost or failed, or says why the switch did not make circuits;
        agents are let go then.
        """
        hosts = hosts_of(self._options.hosts, program.ranks, plan.ports)
        circuits = HostCircuits(plan, switch)
        try:
            agents = self._agents_of(hosts)
            asked = _prepared(plan, inputs, settings, hosts, circuits)
            told = agents.ask({"kind": "prepare"}, "before the first run", asked)
            places = [place for message, _ in told for place in message["places"]]
            course = Course(agents, circuits, places, patience_s(program).tolist(), windows_of(plan))
            before = agents.round_trips(TRIPS)
            measured = []
            with circuits:
                for run in range(warm_ups + runs):
                    found = course.run(run + 1)
                    if run >= warm_ups:
                        measured.append(found)
                        progress(len(measured))
            after = agents.round_trips(TRIPS)
            finished = agents.ask({"kind": "finish"}, "after the last run")
        except BaseException:
            # Agents end what they do for the run, whatever that is.
            self.close()
            raise
        clocks = [compared(*trips) for trips in zip(before, after, strict=True)]
        moments, used = _joined(measured, clocks)
        outputs = [np.frombuffer(one, inputs[0].dtype) for _, data in finished for one in data]
        return Together(outputs, moments, used, hosts, clocks, [message["late_s"] for message, _ in told])

    def close(self) -> None:
        """Let go of all agents, and end those that were started."""
        if self._agents is not None:
            self._agents.close()
            self._agents = None
        if self._launched is not None:
            self._launched.close()
            self._launched = None

    def _agents_of(self, hosts: list[Host]) -> Agents:
        told = [(host.name, host.address, host.python) for host in hosts]
        if self._agents is not None and told != self._reached:
            self.close()
        if self._agents is None:
            launch, number = self._options.launch, self._options.agent_port
            self._launched = launched = Launched(launch, hosts, number, self._options.tls, self._secret)
            self._agents = Agents(hosts, number, self._secret, self._tls, waits=launch != "none", ended=launched.ended)
            self._reached = told
        return self._agents


def checked_hosts(transport: str, hosts: str | None, launch: str, agent_port: int, tls: str | None) -> Hosts | None:
    """The hosts of a run; None for other transports than `tcp`. Raises `InputError` that names the argument."""
    if transport != "tcp":
        for field, given in (("hosts", hosts), ("tls", tls)):
            if given is not None:
                raise refuse(field, f"`{shown(given)}` is not accepted: the transport is {transport}; it takes tcp")
        return None
    if hosts is None:
        raise refuse("hosts", "missing; transport tcp takes hosts, such as node1,node2 or hosts.toml")
    if launch not in LAUNCHERS:
        raise unknown_name("launch", launch, LAUNCHERS)
    number = whole_number("agent_port", agent_port, 1, 65535)
    return Hosts(HostsOptions(text_of("hosts", hosts), launch, number, tls))


def _prepared(
    plan: Plan, inputs: Sequence[Array], settings: Mapping[str, Any], hosts: Sequence[Host], circuits: HostCircuits
) -> list[tuple[dict[str, Any], Sequence[Any]]]:
    """What every host is told before the first run, and its data."""
    common = {
        **settings,
        "configurations": circuits.configurations,
        "steps": circuits.steps,
        # Every connection begins with it, so that nobody else's data are taken.
        "token": secrets.token_hex(32),
    }
    text = plan.to_json().encode()
    return [
        (
            {
                **common,
                "first": host.ranks.start,
                "count": len(host.ranks),
                "ports": [port for of_rank in host.ports for port in of_rank],
            },
            (text, *(inputs[rank] for rank in host.ranks)),
        )
        for host in hosts
    ]


def _joined(measured: Sequence[Ran], clocks: Sequence[HostClock]) -> tuple[Moments, NDArray[np.float64]]:
    """The moments of all hosts since each run began, by the command's clock, and the use of ports."""
    ranks = np.array(
        [
            np.concatenate([clock.here(one) for clock, one in zip(clocks, ran.ranks, strict=True)], axis=1)
            - ran.origin_s
            for ran in measured
        ]
    )
    used = []
    for ran in measured:
        of_hosts = []
        for clock, one in zip(clocks, ran.used, strict=True):
            moved = clock.here(one) - ran.origin_s
            # Bytes stay, and ports that sent nothing have no moments.
            of_hosts.append(np.where(one[..., :1] > 0, np.concatenate((one[..., :1], moved[..., 1:]), axis=-1), 0.0))
        used.append(np.concatenate(of_hosts, axis=1))
    runs, steps, count, _ = ranks.shape

    def alike(name: str, *, since: bool = True) -> NDArray[np.float64]:
        of_runs = [np.array(getattr(ran, name)) - (ran.origin_s if since else 0.0) for ran in measured]
        return np.broadcast_to(np.array(of_runs)[..., None], (runs, steps, count))

    moments = Moments(
        begun_s=alike("begun_s"),
        asked_s=alike("asked_s"),
        acknowledged_s=alike("acknowledged_s"),
        released_s=ranks[..., 0],
        sent_s=ranks[..., 1],
        received_s=ranks[..., 2],
        arrived_s=ranks[..., 3],
        switch_s=alike("switch_s", since=False),
    )
    return moments, np.array(used).reshape(runs, steps, -1, 3)
