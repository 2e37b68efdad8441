"""One host's part of a run: its ranks, their connections, and what the agent is asked to do with them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.plans import Plan
from lightloom.running.data import data_type
from lightloom.running.hosts.connections import Connections
from lightloom.running.hosts.description import PortAddresses
from lightloom.running.hosts.rank import HostRank
from lightloom.running.hosts.waiting import RunOverError
from lightloom.running.program import program_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    Answer = tuple[dict[str, Any], Sequence[Any]]

__all__ = ["HostPart"]


class HostPart:
    """The ranks of a host, a thread each.

    asked: how the plan is run, as `runs.py` says it. data: the plan's JSON, then the ranks' inputs. here: the address
    of this host where none is said.
    """

    def __init__(self, asked: dict[str, Any], data: Sequence[memoryview], here: str, is_over: Event) -> None:
        self._is_over = is_over
        self._kind, self._reduction = data_type(asked["dtype"]), asked["reduction"]
        plan = Plan.from_json(bytes(data[0]).decode())
        program = program_of(plan, self._kind.size_bytes)
        first, count, ports = asked["first"], asked["count"], plan.ports
        self._inputs = [np.frombuffer(one, self._kind.storage) for one in data[1:]]
        own = [PortAddresses(*one) for one in asked["ports"]]
        token = bytes.fromhex(asked["token"])
        self._connections = Connections(ports, first, own, here, asked["configurations"], token)
        steps = asked["steps"]
        self._ranks = [
            HostRank(program, self._kind, rank, ports, steps, self._connections) for rank in range(first, first + count)
        ]
        self._threads = ThreadPoolExecutor(count)

    @property
    def places(self) -> list[tuple[str, int]]:
        """Where the receivers of all ports of the host listen."""
        return self._connections.places

    def open(self, asked: dict[str, Any]) -> Answer:
        """Open the connections of a configuration."""
        self._connections.open(asked["configuration"], asked["places"], asked["limit_s"], self._is_over)
        return {}, ()

    def close(self, asked: dict[str, Any]) -> Answer:
        """Close the connections that a configuration does not have."""
        self._connections.close_all_but(asked["configuration"], asked["limit_s"], self._is_over)
        return {}, ()

    def begin(self, _asked: dict[str, Any]) -> Answer:
        """Put every rank's input into its workspace."""
        for rank, given in zip(self._ranks, self._inputs, strict=True):
            rank.memory.load(given)
        return {}, ()

    def step(self, asked: dict[str, Any]) -> Answer:
        """Carry out a step; by rank its four moments, and what its ports sent."""
        arguments = asked["step"], self._reduction, asked["limit_s"], self._is_over
        futures = [self._threads.submit(self._stepped, rank, arguments) for rank in self._ranks]
        errors = [error for error in (future.exception() for future in futures) if error is not None]
        for error in sorted(errors, key=lambda error: isinstance(error, RunOverError)):
            raise error
        found = [future.result() for future in futures]
        return {}, (np.array([one[:4] for one in found]), np.array([one.circuits for one in found]))

    def finish(self, _asked: dict[str, Any]) -> Answer:
        """What the ranks end with."""
        return {}, [rank.memory.output() for rank in self._ranks]

    def end(self) -> None:
        """Let go of connections and threads."""
        self._is_over.set()
        self._threads.shutdown()
        self._connections.end()

    def _stepped(self, rank: HostRank, arguments: tuple[int, str, float, Event]) -> Any:
        try:
            return rank.step(*arguments)
        except BaseException:
            # The other ranks of this host would wait for it.
            self._is_over.set()
            raise
