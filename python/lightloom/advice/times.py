"""Times of a job's mix, each what `lightloom.plan` or `lightloom.train` says; none is computed twice."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lightloom._core import show_time
from lightloom.advice.ideal import at_once_s
from lightloom.advice.job import NO_TOPOLOGY
from lightloom.planning.problem import Problem
from lightloom.training.planning import train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lightloom.advice.job import Job
    from lightloom.inputs.fabric import Fabric

__all__ = ["AS_GIVEN", "Change", "MixTime", "Times", "fixed_s"]

# Policies of `lightloom.train` whose circuits are set before the iteration and never change.
UNCHANGING = ("static", "one-shot")
IDEAL = "packet-switch"


class Change(NamedTuple):
    """A variation of the job: factors on its sizes and on its bandwidth."""

    size: float = 1.0
    bandwidth: float = 1.0


AS_GIVEN = Change()


class MixTime(NamedTuple):
    """Time of one run of the mix, s, and that of circuits that never change; None where one cannot serve it."""

    total_s: float | None
    never_change_s: float | None


def fixed_s(found: dict[float, MixTime]) -> float | None:
    """The least time of circuits that never change, of what was found at several delays; None where none serve the mix.

    It does not depend on the delay. For iterations `lightloom.train` looks for it anew at each.
    """
    return min((one.never_change_s for one in found.values() if one.never_change_s is not None), default=None)


class Times:
    """Times of a job's mix by ports and reconfiguration delay.

    report: is told what is being planned.
    """

    def __init__(self, job: Job, report: Callable[[str], object] | None = None) -> None:
        self._job = job
        self._report = report
        self._problems: dict[tuple[int, int], Problem] = {}
        self._known: dict[tuple[int, int, Change, float], MixTime] = {}
        self._trained: dict[tuple[int, int, Change, float], dict[str, float | None]] = {}
        self._unchanging: dict[tuple[int, int, Change], tuple[float, MixTime]] = {}

    def at(self, ports: int, delay_s: float, change: Change = AS_GIVEN) -> MixTime:
        """The mix's time with this many ports of a GPU, at this reconfiguration delay, s."""
        return self.at_all(ports, (delay_s,), change)[delay_s]

    def at_all(self, ports: int, delays_s: Iterable[float], change: Change = AS_GIVEN) -> dict[float, MixTime]:
        """The mix's times by delay; searches are shared."""
        asked = sorted(set(delays_s))
        parts = [self._entry(index, ports, asked, change) for index in range(len(self._job.entries))]
        return {delay_s: self._sum([part[delay_s] for part in parts]) for delay_s in asked}

    def packet_switch_s(self, ports: int) -> float:
        """The mix's time on an ideal packet switch, without delay, with this many ports of a GPU.

        A collective takes the better of its plan where changes take no time, which such a switch can run as it is, and
        one step between all pairs; an iteration what `lightloom.train` says at no delay.
        """
        parts = [self._ideal_s(index, ports) for index in range(len(self._job.entries))]
        return math.fsum(one.count * part for one, part in zip(self._job.entries, parts, strict=True))

    def _sum(self, parts: list[MixTime]) -> MixTime:
        counts = [one.count for one in self._job.entries]

        def total(times: list[float | None]) -> float | None:
            known = [time_s for time_s in times if time_s is not None]
            served = len(known) == len(times)
            return math.fsum(count * one for count, one in zip(counts, known, strict=True)) if served else None

        return MixTime(total([part.total_s for part in parts]), total([part.never_change_s for part in parts]))

    def _entry(self, index: int, ports: int, delays_s: list[float], change: Change) -> dict[float, MixTime]:
        """The times of one run of an entry."""
        missing = [one for one in delays_s if (index, ports, change, one) not in self._known]
        if missing:
            entry = self._job.entries[index]
            plan = self._iterations if entry.workload is not None else self._collective
            for delay_s, found in plan(index, ports, missing, change).items():
                self._known[index, ports, change, delay_s] = found
        return {one: self._known[index, ports, change, one] for one in delays_s}

    def _collective(self, index: int, ports: int, delays_s: list[float], change: Change) -> dict[float, MixTime]:
        entry = self._job.entries[index]
        self._say(f"{entry.label}, {ports} port{'s' * (ports > 1)}")
        problem = self._problems.get((index, ports))
        if problem is None:
            fabric = replace(self._job.fabric, ports=ports)
            problem = self._problems[index, ports] = Problem(entry.collective, entry.size_bytes, fabric=fabric)
        swept = problem.sweep(
            _scaled_size(entry.size_bytes, change.size),
            delays_s,
            bandwidths=self._job.fabric.bandwidth_bps * change.bandwidth,
        )
        still = swept.never_change_s
        return {
            delay_s: MixTime(_or_none(swept.total_s[at]), None if still is None else _or_none(still[at]))
            for at, delay_s in enumerate(delays_s)
        }

    def _iterations(self, index: int, ports: int, delays_s: list[float], change: Change) -> dict[float, MixTime]:
        return {delay_s: self._iteration(index, ports, delay_s, change) for delay_s in sorted(delays_s)}

    def _iteration(self, index: int, ports: int, delay_s: float, change: Change) -> MixTime:
        """The times at a delay; those of a lesser one where nothing was faster than circuits that never change.

        A longer delay makes no plan faster, and circuits that never change take as long.
        """
        key = index, ports, change
        from_s, known = self._unchanging.get(key, (math.inf, MixTime(None, None)))
        if delay_s >= from_s:
            return known
        policies = self._policies(index, ports, delay_s, change)
        still = [time_s for name in UNCHANGING if (time_s := policies.get(name)) is not None]
        found = MixTime(policies["total"], min(still, default=None))
        if found.total_s is not None and found.total_s == found.never_change_s:
            self._unchanging[key] = delay_s, found
        return found

    def _policies(self, index: int, ports: int, delay_s: float, change: Change) -> dict[str, float | None]:
        """The times of an iteration under every policy, and of the one that plans all together under `total`."""
        # A link takes as long for twice the bytes as at half the rate: one iteration answers for both.
        change = Change(bandwidth=change.bandwidth / change.size)
        key = index, ports, change, delay_s
        if key in self._trained:
            return self._trained[key]
        entry = self._job.entries[index]
        assert entry.workload is not None  # noqa: S101 (a collective has none, and is planned otherwise)
        self._say(f"{entry.label}, {ports} port{'s' * (ports > 1)}, {show_time(delay_s)}")
        fabric = resting(self._job.fabric, ports, delay_s, self._job.fabric.bandwidth_bps * change.bandwidth)
        training = train(entry.workload, fabric=fabric)
        self._trained[key] = {**training.policies, "total": training.total_s}
        return self._trained[key]

    def _ideal_s(self, index: int, ports: int) -> float:
        entry = self._job.entries[index]
        if entry.workload is not None:
            ideal_s = self._policies(index, ports, 0.0, AS_GIVEN)[IDEAL]
            return math.nan if ideal_s is None else ideal_s
        assert entry.collective is not None  # noqa: S101 (it is one of both)
        fabric = replace(self._job.fabric, ports=ports)
        planned_s = self._entry(index, ports, [0.0], AS_GIVEN)[0.0].total_s
        return min(math.inf if planned_s is None else planned_s, at_once_s(entry.collective, entry.size_bytes, fabric))

    def _say(self, text: str) -> None:
        if self._report is not None:
            self._report(text)


def resting(fabric: Fabric, ports: int, delay_s: float, bandwidth_bps: float) -> Fabric:
    """The fabric for `lightloom.train`: where collectives start from no topology, groups rest in its default."""
    initial = None if isinstance(fabric.initial, str) and fabric.initial in NO_TOPOLOGY else fabric.initial
    return fabric.varied(ports=ports, reconfiguration_delay=delay_s, bandwidth=bandwidth_bps, initial=initial)


def _or_none(time_s: float) -> float | None:
    return float(time_s) if math.isfinite(time_s) else None


def _scaled_size(size_bytes: int, factor: float) -> int:
    return max(1, round(size_bytes * factor))
