"""The course of one run on several hosts: every step waits for all ranks of the step before, and for its circuits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.running.hosts.agents import Agents
    from lightloom.running.hosts.changes import HostCircuits

    Floats = NDArray[np.float64]

__all__ = ["CLOSING_S", "OPENING_S", "Course", "Ran"]

# Seconds in which the connections of new circuits are there: ports may need some until light is a link again.
OPENING_S = 30.0
# Seconds in which the connections of old circuits are closed.
CLOSING_S = 10.0


class Ran(NamedTuple):
    """Moments of one run, seconds.

    By the command's clock: origin_s, when the first step could begin; by step, begun_s, asked_s, acknowledged_s and
    switch_s as of `mpi.Moments`. By host's clock: ranks, by host an array by step, rank and moment (released, sent,
    received, arrived); used, by step, rank, port and (bytes, first moment, last moment).
    """

    origin_s: float
    begun_s: list[float]
    asked_s: list[float]
    acknowledged_s: list[float]
    switch_s: list[float]
    ranks: list[Floats]
    used: list[Floats]


class Course:
    """Runs of a plan by agents that are prepared for it.

    places: of all ports, where receivers listen. limits_s: the longest time of each step. windows_s: computation before
    each, behind which circuits change.
    """

    def __init__(
        self,
        agents: Agents,
        circuits: HostCircuits,
        places: Sequence[tuple[str, int]],
        limits_s: Sequence[float],
        windows_s: Sequence[float],
    ) -> None:
        self._agents, self._circuits, self._places = agents, circuits, list(places)
        self._limits_s, self._windows_s = limits_s, windows_s
        # The configuration whose connections are open.
        self._open: int | None = None

    def run(self, number: int) -> Ran:
        """Carry out one run. Raises `RunFailedError`."""
        before = f"before the first step of run {number}"
        self._agents.ask({"kind": "begin"}, before)
        self._change(0, before)
        ran = Ran(time.perf_counter(), [], [], [], [], [], [])
        answers = []
        for step, configuration in enumerate(self._circuits.steps):
            ran.begun_s.append(time.perf_counter())
            asked_s = acknowledged_s = ran.begun_s[-1]
            switch_s = 0.0
            if configuration != self._open:
                asked_s, acknowledged_s, switch_s = self._change(
                    configuration, f"before step {step + 1} of run {number}"
                )
            ran.asked_s.append(asked_s)
            ran.acknowledged_s.append(acknowledged_s)
            ran.switch_s.append(switch_s)
            time.sleep(max(0.0, self._windows_s[step] - (time.perf_counter() - ran.begun_s[-1])))
            asked = {"kind": "step", "step": step, "limit_s": self._limits_s[step]}
            answers.append(self._agents.ask(asked, f"at step {step + 1} of run {number}"))
        for of_host in zip(*answers, strict=True):
            ranks = [np.frombuffer(data[0]).reshape(-1, 4) for _, data in of_host]
            used = [
                np.frombuffer(data[1]).reshape(len(one), -1, 3) for one, (_, data) in zip(ranks, of_host, strict=True)
            ]
            ran.ranks.append(np.array(ranks))
            ran.used.append(np.array(used))
        return ran

    def _change(self, configuration: int, where: str) -> tuple[float, float, float]:
        """When circuits were asked for and acknowledged, and how long the switch took."""
        if configuration == self._open:
            return 0.0, 0.0, 0.0
        asked = {"configuration": configuration, "limit_s": CLOSING_S}
        if self._open is not None:
            self._agents.ask({"kind": "close", **asked}, where)
        asked_s = time.perf_counter()
        switch_s = self._circuits.make(configuration, where)
        acknowledged_s = time.perf_counter() if self._circuits.has_switch else asked_s
        self._agents.ask({"kind": "open", **asked, "limit_s": OPENING_S, "places": self._places}, where)
        self._open = configuration
        return asked_s, acknowledged_s, switch_s
