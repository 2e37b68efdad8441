"""A second meaning of timelines: a simulation by events that follows bytes and values, from the document alone."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from typing import Any

import numpy as np

import lightloom as ll

# Relative error of times and of bytes.
ROUNDING = 1e-7
# Kinds of events at one moment, in the order in which they count.
ARRIVE, LESS, TURN, READY, MORE, LEAVE = range(6)


class Fault(Exception):  # noqa: N818 (it is what is found, not an error of the test)
    """What the simulation finds wrong."""


def simulate(document: dict[str, Any], *, circuits: bool = True) -> float:
    """The time at which the last byte arrives. Raises `Fault` where circuits, rates, turns or data are wrong.

    circuits: whether the time at each circuit is followed; packets that wait on their way have no even rate.
    """
    return _Simulation(document, circuits=circuits).end_s


class _Simulation:
    """Events in the order of time: times that may be equal are moved apart by less than what rounding may do."""

    def __init__(self, document: dict[str, Any], *, circuits: bool) -> None:
        self.plan = ll.Plan.from_json(json.dumps(document["plan"]))
        self.circuits = circuits
        self.slack = ROUNDING * max(document["total_s"], 1e-12)
        self.turn_s = document["plan"]["fabric"]["reconfiguration_delay_s"]
        self.events: list[tuple[float, int, int, Any]] = []
        self.lit: dict[int, dict[int, tuple[int, float, int]]] = defaultdict(dict)
        self.carried: dict[tuple[int, int], float] = defaultdict(float)
        self.data = _Data(document, self.plan)
        self.end_s = 0.0
        self._put_turns(document["switches"])
        self._put_transmissions(document["transmissions"])
        act = (self._arrive, self._less, self._turn, self._ready, self._more, self._leave)
        while self.events:
            time, kind, _, what = heapq.heappop(self.events)
            act[kind](time, *what)
        self.data.check()

    def _at(self, time: float, kind: int, *what: Any) -> None:
        heapq.heappush(self.events, (time, kind, len(self.events), what))

    def _put_turns(self, switches: list[Any]) -> None:
        for k, switch in enumerate(switches):
            free_s = None
            for place, one in enumerate(switch["configurations"]):
                if free_s is None and one["ready_s"] > 0.0 and self.plan.initial != "free":
                    raise Fault("nothing is held at the start")
                if free_s is not None and one["ready_s"] - free_s < self.turn_s - self.slack:
                    raise Fault("a turn is too short")
                free_s = one["end_s"]
                circuits = [tuple(circuit) for circuit in one["circuits"]]
                self._at(one["ready_s"], READY, k, circuits, one["ready_s"], place)
                self._at(free_s + self.slack, TURN, k, place)

    def _put_transmissions(self, sent: list[Any]) -> None:
        hop_s, last = self.plan.hop_delay_s, len(sent)
        for number, one in enumerate(sent):
            rate, length_s = one["size_bytes"] / one["duration_s"], one["duration_s"]
            self._at(one["start_s"] + self.slack, LEAVE, number)
            for place, (k, u, v) in enumerate(one["path"]):
                begin_s = one["start_s"] + place * hop_s
                self._at(begin_s + self.slack, MORE, k, u, v, rate, one["start_s"] - self.plan.startup_s)
                self._at(begin_s + length_s, LESS, k, u, rate)
                arrived = number if place == len(one["path"]) - 1 else last
                self._at(begin_s + length_s + hop_s - self.slack, ARRIVE, arrived, k, u, v)

    def _ready(self, _: float, k: int, circuits: list[tuple[int, int]], ready_s: float, place: int) -> None:
        if len({v for _, v in circuits}) < len(circuits) or len({u for u, _ in circuits}) < len(circuits):
            raise Fault("a port is joined twice")
        self.lit[k] = {u: (v, ready_s, place) for u, v in circuits}

    def _turn(self, _: float, k: int, place: int) -> None:
        self.lit[k] = {u: held for u, held in self.lit[k].items() if held[2] != place}

    def _more(self, _: float, k: int, u: int, v: int, rate: float, since_s: float) -> None:
        if not self.circuits:
            return
        if u not in self.lit[k] or self.lit[k][u][0] != v or self.lit[k][u][1] > since_s + 2 * self.slack:
            raise Fault("there is no circuit, or too short a time")
        self.carried[k, u] += rate
        if self.carried[k, u] > self.plan.bandwidth_bps / 8 * (1 + ROUNDING):
            raise Fault("a circuit carries too much")

    def _less(self, _: float, k: int, u: int, rate: float) -> None:
        self.carried[k, u] -= rate

    def _leave(self, time: float, number: int) -> None:
        self.data.leave(number, time)

    def _arrive(self, time: float, number: int, k: int, u: int, v: int) -> None:
        if self.circuits and (u not in self.lit[k] or self.lit[k][u][0] != v):
            raise Fault("a circuit is gone before its bytes are through")
        if number < len(self.data.sent):
            self.data.arrive(number, time)
            self.end_s = time + self.slack


class _Data:
    """The bytes of pairs at GPUs, or the values of chunks, as transmissions leave and arrive."""

    def __init__(self, document: dict[str, Any], plan: ll.Plan) -> None:
        self.sent, self.plan = document["transmissions"], plan
        self.slack = ROUNDING * max(document["total_s"], 1e-12)
        chunks = plan.chunks()
        self.source, self.destination = chunks.source.tolist(), chunks.destination.tolist()
        self.by_step = bool(self.sent) and self.sent[0]["step"] is not None
        self.wanted: dict[tuple[int, int], float] = defaultdict(float)
        for source, destination, size in zip(self.source, self.destination, chunks.size_bytes.tolist(), strict=True):
            self.wanted[source, destination] += size
        self.there: dict[tuple[int, int, int], float] = defaultdict(float)
        for (source, destination), size in self.wanted.items():
            self.there[source, destination, source] = size
        self.waiting: list[tuple[float, tuple[int, int, int], float]] = []
        # Contributions to each chunk at each GPU, as bits, and since when they are there.
        self.values = [[1 << gpu if s < 0 else (1 if s == gpu else 0) for s in self.source] for gpu in range(plan.gpus)]
        self.since = np.full((plan.gpus, len(self.source)), -np.inf)
        self.transfers: dict[tuple[int, int, int], list[Any]] = {}
        if self.by_step:
            for step in range(len(plan.steps)):
                for one in plan.transfers(step):
                    key = step, one.source, one.destination
                    known = self.transfers.setdefault(key, [[], [], 0.0, 0.0, None, 0])
                    known[0] += [one.operation] * len(one.chunks)
                    known[1] += one.chunks.tolist()
                    known[2] += one.size_bytes
            for one in self.sent:
                self.transfers[one["step"], one["source"], one["destination"]][5] += 1

    def leave(self, number: int, time: float) -> None:
        one = self.sent[number]
        if not self.by_step:
            key = one["source"], one["destination"], one["path"][0][1]
            ready = [entry for entry in self.waiting if entry[0] <= time - self.plan.startup_s + 2 * self.slack]
            for entry in ready:
                self.there[entry[1]] += entry[2]
                self.waiting.remove(entry)
            self.there[key] -= one["size_bytes"]
            if self.there[key] < -ROUNDING * max(1.0, self.wanted[key[:2]]):
                raise Fault("bytes leave that are not there")
            return
        transfer = self.transfers[one["step"], one["source"], one["destination"]]
        if transfer[4] is None:
            if max(self.since[one["source"], c] for c in transfer[1]) > time - self.plan.startup_s + 2 * self.slack:
                raise Fault("data leave before they are there")
            transfer[4] = [self.values[one["source"]][c] for c in transfer[1]]

    def arrive(self, number: int, time: float) -> None:
        one = self.sent[number]
        if not self.by_step:
            key = one["source"], one["destination"], one["path"][-1][2]
            self.waiting.append((time, key, one["size_bytes"]))
            return
        transfer = self.transfers[one["step"], one["source"], one["destination"]]
        transfer[3] += one["size_bytes"]
        transfer[5] -= 1
        if transfer[5]:
            return
        for operation, chunk, value in zip(transfer[0], transfer[1], transfer[4], strict=True):
            own = self.values[one["destination"]][chunk]
            if operation == "reduce" and own & value:
                raise Fault("a contribution is added twice")
            self.values[one["destination"]][chunk] = own | value if operation == "reduce" else value
            self.since[one["destination"], chunk] = time

    def check(self) -> None:
        if self.by_step:
            if any(abs(one[2] - one[3]) > ROUNDING * one[2] for one in self.transfers.values()):
                raise Fault("a transfer is not whole")
            for chunk, (source, destination) in enumerate(zip(self.source, self.destination, strict=True)):
                full = (1 << self.plan.gpus) - 1 if source < 0 else 1
                for gpu in range(self.plan.gpus) if destination < 0 else [destination]:
                    if self.values[gpu][chunk] != full:
                        raise Fault("a chunk is not complete")
            return
        for _, key, size in self.waiting:
            self.there[key] += size
        for (source, destination), size in self.wanted.items():
            if abs(self.there[source, destination, destination] - size) > ROUNDING * max(1.0, size):
                raise Fault("bytes do not arrive")
