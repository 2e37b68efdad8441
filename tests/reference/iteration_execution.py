"""A second simulator of planned iterations: the whole of one, packet by packet on one clock, from its document alone.

All groups carry out their plans step by step, messages go over their paths, ranks compute, and ports change their
circuits; whatever shares a circuit waits in its queue. The events of each port, and the computations of each rank, are
in the document's order. Settings are those that `simulate` has by default; the rules are those of docs/simulation.md.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from tests.reference.iteration_ports import End, Joined, Use, rates_of_ports, use_of
from tests.reference.iteration_traffic import Framing, Packet, Step, steps_of
from tests.reference.packet_network import Batch, Moment, Network, when_all
from tests.reference.plan_packets import femtoseconds
from tests.reference.workloads import groups_of, ranks_of

MOST_ITERATIONS = 100
RESTING = "resting"
# A port without circuits.
DARK = Joined("dark", None, None)


@dataclass(frozen=True)
class Executed:
    """When events are, fs since their iteration began, in their order; what an iteration takes; how many were followed.

    packets, packet_hops: of an iteration, over all ranks; `packet_hops` as they were sent.
    """

    starts_fs: list[int]
    ends_fs: list[int]
    total_fs: int
    iterations: int
    packets: int
    packet_hops: int


@dataclass
class _Port:
    """What has been told of a port so far, in the order of events."""

    # The name of its circuits, or `RESTING`; None where nothing is known: it has what is needed first.
    has: Hashable = None
    # When the event before is done with it.
    free: Moment | None = None


@dataclass
class _Iteration:
    begins: Moment
    ends: list[Moment]
    began_fs: int = 0
    starts_fs: dict[int, int] = field(default_factory=dict)
    ends_fs: dict[int, int] = field(default_factory=dict)

    def since_began(self, times_fs: dict[int, int]) -> list[int]:
        """Times since the iteration began, in the order of events."""
        return [times_fs[place] - self.began_fs for place in range(len(times_fs))]

    def is_like(self, other: _Iteration) -> bool:
        """Whether all events are at the same times."""
        return all(
            self.since_began(mine) == other.since_began(its)
            for mine, its in ((self.starts_fs, other.starts_fs), (self.ends_fs, other.ends_fs))
        )


def execute(told: dict[str, Any], packet_bytes: int, header_bytes: int = 0) -> Executed:
    """Iterations one after the other until all events are as in the one before. `told` is a `lightloom.training/1`."""
    return _Execution(told, packet_bytes, header_bytes).run()


class _Execution:
    def __init__(self, told: dict[str, Any], packet_bytes: int, header_bytes: int) -> None:
        fabric = told["fabric"]
        self._told = told
        self._nodes: list[dict[str, Any]] = told["workload"]["nodes"]
        self._startup_fs, self._change_fs, delay_fs = (
            femtoseconds(fabric[name]) for name in ("startup_s", "reconfiguration_delay_s", "hop_delay_s")
        )
        self._framing = Framing(packet_bytes, header_bytes, rates_of_ports(told))
        self._uses = [use_of(told, place) for place in range(len(self._nodes))]
        self._before = self._predecessors()
        self._order = self._in_order()
        self._steps = {place: self._steps_of(place) for place in self._order if "plan" in told["events"][place]}
        self._messages = {place: self._packets_of(place) for place in self._order}
        self._network = Network(delay_fs)
        self._ports: dict[End, _Port] = defaultdict(_Port)
        self._resting = self._resting_circuits()

    # What the document says.

    def _predecessors(self) -> list[set[int]]:
        """By event those whose ends it waits for, whatever its ports."""
        workload = self._told["workload"]
        places = {node["id"]: place for place, node in enumerate(self._nodes)}
        found = [{places[name] for name in node["after"]} for node in self._nodes]
        last: dict[tuple[str, int], int] = {}
        for place, node in enumerate(self._nodes):
            if node["kind"] == "collective" and node.get("stream") is not None:
                for rank in {rank for group in groups_of(workload, node) for rank in group}:
                    if (node["stream"], rank) in last:
                        found[place].add(last[node["stream"], rank])
                    last[node["stream"], rank] = place
        return found

    def _in_order(self) -> list[int]:
        """Events by their starts, each after its predecessors also where rounding says otherwise."""
        events = self._told["events"]
        open_ones = [(events[place]["start_s"], events[place]["end_s"], place) for place in range(len(events))]
        heapq.heapify(open_ones)
        found: list[int] = []
        waiting: list[tuple[float, float, int]] = []
        while open_ones:
            entry = heapq.heappop(open_ones)
            if self._before[entry[-1]] <= {*found}:
                found.append(entry[-1])
                for other in waiting:
                    heapq.heappush(open_ones, other)
                waiting.clear()
            else:
                waiting.append(entry)
        assert not waiting
        return found

    def _steps_of(self, place: int) -> list[list[Step]]:
        """By group the steps of its plan."""
        event, node = self._told["events"][place], self._nodes[place]
        if event["plan"] is None:
            return []
        plan = self._told["plans"][event["plan"]]
        assert (plan["overlap"], plan["propagation"]) == ("additive", "hops")
        assert "matrix" in node or plan["size_bytes"] == node["size_bytes"]
        groups = groups_of(self._told["workload"], node)
        return [steps_of(plan, group, event["ports"], self._framing) for group in groups]

    def _packets_of(self, place: int) -> list[Packet]:
        """The packets of a send, message by message."""
        size_bytes = Fraction(self._nodes[place].get("size_bytes", 0))
        ways = self._uses[place].ways
        passed = sorted({end[0] for way in ways for hop in way for circuit in hop for end in circuit})
        is_alike = self._framing.are_alike(self._told["events"][place].get("ports", [0]))
        found: list[Packet] = []
        for listed, way in enumerate(ways):
            source, destination = passed.index(way[0][0][0][0]), passed.index(way[-1][0][1][0])
            turn = () if is_alike else ((destination - source) % len(passed), source)
            found += self._framing.packets(size_bytes, listed, [(1.0, way)], turn)
        return found

    def _resting_circuits(self) -> dict[End, Joined]:
        """Those that events say they go back to; else the first that rest where a port went back to rest."""
        found: dict[End, Joined] = {}
        for use in self._uses:
            found |= use.rests or {}
        at_rest: set[End] = set()
        for place in [*self._order, *self._order]:
            use = self._uses[place]
            for end, has in use.needs.items():
                if use.needs_resting and end in at_rest:
                    found.setdefault(end, has)
                (at_rest.add if use.returns else at_rest.discard)(end)
        return found

    # What happens.

    def run(self) -> Executed:
        """Follow iterations."""
        begins = Moment()
        current = self._told_of(begins)
        before: _Iteration | None = None
        begins.happen()
        iterations = 0
        while True:
            iterations += 1
            hops = self._network.packet_hops
            current.began_fs = self._network.now_fs
            # Ports change for the next iteration while this one goes on.
            following = self._told_of(_all(current.ends))
            self._network.run(following.begins)
            if iterations == MOST_ITERATIONS or (before is not None and before.is_like(current)):
                break
            before, current = current, following
        ends_fs = current.since_began(current.ends_fs)
        return Executed(
            current.since_began(current.starts_fs),
            ends_fs,
            max(ends_fs),
            iterations,
            sum(len(step.packets) for groups in self._steps.values() for steps in groups for step in steps)
            + sum(map(len, self._messages.values())),
            self._network.packet_hops - hops,
        )

    def _told_of(self, begins: Moment) -> _Iteration:
        """One more iteration: what its events and the changes before them wait for."""
        made = _Iteration(begins, [Moment() for _ in self._nodes])
        computed: dict[int, Moment] = {}
        for place in self._order:
            use, released = self._uses[place], Moment()
            waits = [begins, *(made.ends[other] for other in self._before[place])]
            if self._nodes[place]["kind"] == "compute":
                for rank in ranks_of(self._told["workload"], self._nodes[place].get("ranks")):
                    waits += [computed[rank]] if rank in computed else []
                    computed[rank] = made.ends[place]
            for end in use.needs:
                waits += self._taken(end, use, released)
            when_all(waits, partial(self._start, place, made, released))
        return made

    def _taken(self, end: End, use: Use, released: Moment) -> list[Moment]:
        """An event takes a port after those before it; what it waits for there."""
        port, needed = self._ports[end], use.needs[end]
        self._join_first(end, needed)
        before = [port.free] if port.free is not None else []
        waits = list(before)
        rests_so = port.has == RESTING and use.needs_resting and self._resting[end].name == needed.name
        is_there = port.has == needed.name or rests_so
        if not is_there:
            changed = Moment()
            change = partial(self._network.change, {end: needed}, self._change_fs, changed.happen)
            when_all(before, change)
            waits.append(changed)
        port.has = RESTING if use.returns else use.leaves[end].name
        port.free = released
        return waits

    def _join_first(self, end: End, needed: Joined) -> None:
        """Circuits that nothing has set up are there before the first iteration."""
        port = self._ports[end]
        if port.has is None:
            port.has = needed.name
            self._network.join({end: needed})

    def _start(self, place: int, iteration: _Iteration, released: Moment) -> None:
        iteration.starts_fs[place] = self._network.now_fs
        node = self._nodes[place]

        def end() -> None:
            iteration.ends_fs[place] = self._network.now_fs
            use = self._uses[place]
            if use.changes_back:
                back = {end: self._resting.get(end, DARK) for end in use.leaves}
                self._network.change(back, self._change_fs, released.happen)
            iteration.ends[place].happen()
            if not use.changes_back:
                released.happen()

        if node["kind"] == "compute":
            self._network.after(femtoseconds(node["duration_s"]), end)
        elif node["kind"] == "send":
            packets = self._messages[place]
            self._network.after(self._startup_fs, lambda: self._network.send(packets, lambda _: end()))
        else:
            done = [Moment() for _ in self._steps[place]]
            when_all(done, end)
            for steps, moment in zip(self._steps[place], done, strict=True):
                self._step(steps, 0, moment)

    def _step(self, steps: list[Step], number: int, done: Moment) -> None:
        """One step of a group after the other: circuits change, everybody starts up and sends, and waits for all."""
        if number == len(steps):
            done.happen()
            return
        step = steps[number]

        def received(batch: Batch) -> None:
            # Every rank has the bytes of its transfers, to the fraction.
            assert {**dict.fromkeys(step.received, Fraction()), **batch.received} == step.received
            self._step(steps, number + 1, done)

        def start_up() -> None:
            self._network.after(self._startup_fs, lambda: self._network.send(step.packets, received))

        if number and step.circuits != steps[number - 1].circuits:
            self._network.change(step.joined, self._change_fs, start_up)
        else:
            start_up()


def _all(moments: list[Moment]) -> Moment:
    """When all of these have happened."""
    found = Moment()
    when_all(moments, found.happen)
    return found
