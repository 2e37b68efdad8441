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
ARRIVE, RATE_DOWN, TURN_BEGINS, TURN_ENDS, RATE_UP, LEAVE = range(6)


class Fault(Exception):  # noqa: N818 (it is what is found, not an error of the test)
    """What the simulation finds wrong."""


def simulate(document: dict[str, Any]) -> float:
    """The time at which the last byte arrives. Raises `Fault` where circuits, rates, turns or data are wrong."""
    plan = ll.Plan.from_json(json.dumps(document["plan"]))
    slack = ROUNDING * max(document["total_s"], 1e-12)
    hop, startup = plan.hop_delay_s, plan.startup_s
    events: list[tuple[float, int, int, Any]] = []

    def at(time: float, kind: int, *what: Any) -> None:
        heapq.heappush(events, (time, kind, len(events), what))

    last_end: dict[int, float] = {}
    for k, switch in enumerate(document["switches"]):
        for place, one in enumerate(switch["configurations"]):
            if (
                k in last_end
                and one["ready_s"] - last_end[k] < document["plan"]["fabric"]["reconfiguration_delay_s"] - slack
            ):
                raise Fault("a turn is too short")
            if k not in last_end and one["ready_s"] > 0.0 and plan.initial != "free":
                raise Fault("nothing is held at the start")
            last_end[k] = one["end_s"]
            at(one["ready_s"], TURN_ENDS, k, [tuple(circuit) for circuit in one["circuits"]], one["ready_s"], place)
            at(one["end_s"] + slack, TURN_BEGINS, k, place)
    for number, one in enumerate(document["transmissions"]):
        rate = one["size_bytes"] / one["duration_s"]
        path = one["path"]
        at(one["start_s"] + slack, LEAVE, number)
        for place, (k, u, v) in enumerate(path):
            begin = one["start_s"] + place * hop
            at(begin + slack, RATE_UP, k, u, v, rate, one["start_s"] - startup)
            at(begin + one["duration_s"], RATE_DOWN, k, u, v, rate)
            at(begin + one["duration_s"] + hop - slack, ARRIVE, number, place == len(path) - 1, k, u, v)
    lit: dict[int, dict[int, tuple[int, float, int]]] = defaultdict(dict)
    carried: dict[tuple[int, int], float] = defaultdict(float)
    data = _Data(document, plan)
    end = 0.0
    while events:
        time, kind, _, what = heapq.heappop(events)
        if kind == TURN_ENDS:
            k, circuits, ready, index = what
            receivers = [v for _, v in circuits]
            if len(set(receivers)) < len(receivers) or len({u for u, _ in circuits}) < len(circuits):
                raise Fault("a port is joined twice")
            lit[k] = {u: (v, ready, index) for u, v in circuits}
        elif kind == TURN_BEGINS:
            lit[what[0]] = {u: held for u, held in lit[what[0]].items() if held[2] != what[1]}
        elif kind == RATE_UP:
            k, u, v, rate, since = what
            if u not in lit[k] or lit[k][u][0] != v or lit[k][u][1] > since + 2 * slack:
                raise Fault("there is no circuit, or too short a time")
            carried[k, u] += rate
            if carried[k, u] > plan.bandwidth_bps / 8 * (1 + ROUNDING):
                raise Fault("a circuit carries too much")
        elif kind == RATE_DOWN:
            carried[what[0], what[1]] -= what[3]
        elif kind == LEAVE:
            data.leave(what[0], time)
        else:
            number, is_last, k, u, v = what
            if lit[k].get(u, (None,))[0] != v:
                raise Fault("a circuit is gone before its bytes are through")
            if is_last:
                data.arrive(number, time)
                end = time + slack
    data.check()
    return end


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
        self.transfers = {}
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
