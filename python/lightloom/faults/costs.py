"""Times of the plans of every planner where everything works, and with each single fault of a kind."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from lightloom._core import counted, show_time
from lightloom.base.errors import InputError
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.faults.kinds import Fault, Wanted
from lightloom.inputs.fabric import Fabric
from lightloom.planning import compare

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from lightloom.inputs.options import Settings

__all__ = ["SCHEMA", "FaultCosts", "FaultRow", "FaultTimes", "fault_costs"]

SCHEMA = "lightloom.fault-costs/1"


class FaultTimes(NamedTuple):
    """Times by planner with one fault, or two, s; a planner that cannot serve the problem then is not there.

    alike: number of faults that cost the same, this one included. reason: why no planner serves it, else empty.
    """

    failed: str
    alike: int
    times_s: dict[str, float]
    reason: str


@dataclass(frozen=True, kw_only=True)
class FaultRow:
    """One planner at its best algorithm: the time where everything works, and over all single faults or pairs; seconds.

    mean_s, worst_s: of the faults that it serves; None, like worst_fault, where it serves none. served, unserved:
    numbers of faults.
    """

    planner: str
    algorithm: str
    healthy_s: float
    mean_s: float | None
    worst_s: float | None
    worst_fault: str | None
    served: int
    unserved: int


@dataclass(frozen=True, eq=False)
class FaultCosts(Table):
    """The times that single faults leave to each planner; immutable, seconds and bytes.

    collective, size_bytes, gpus, ports: the problem. kinds: the kinds of faults, such as `any-port`; given: the faults
    that are there in any case. planners: name, best algorithm and time without a single fault, the fastest planner
    first. faults: times with each. pairs: times with two at once, of those that were drawn.
    """

    collective: str
    size_bytes: int
    gpus: int
    ports: int
    kinds: tuple[str, ...]
    given: tuple[str, ...]
    planners: tuple[tuple[str, str, float], ...]
    faults: tuple[FaultTimes, ...]
    pairs: tuple[FaultTimes, ...] = ()

    @cached_property
    def rows(self) -> tuple[FaultRow, ...]:
        """A row a planner, the fastest without a single fault first."""
        return tuple(_row(self.faults, *planner) for planner in self.planners)

    @cached_property
    def pair_rows(self) -> tuple[FaultRow, ...]:
        """The same over pairs of faults; empty where none were asked for."""
        return tuple(_row(self.pairs, *planner) for planner in self.planners if self.pairs)

    @property
    def count(self) -> int:
        """Number of single faults."""
        return sum(fault.alike for fault in self.faults)

    def to_json(self) -> str:
        """The rows and the times with each fault, as JSON of schema `lightloom.fault-costs/1`."""
        told = {
            "schema": SCHEMA,
            "collective": self.collective,
            "size_bytes": self.size_bytes,
            "gpus": self.gpus,
            "ports": self.ports,
            "kinds": list(self.kinds),
            "given": list(self.given),
            "planners": [asdict(row) for row in self.rows],
            "faults": [fault._asdict() for fault in self.faults],
            "planners_with_pairs": [asdict(row) for row in self.pair_rows],
            "pairs": [fault._asdict() for fault in self.pairs],
        }
        return json.dumps(told, indent=1, ensure_ascii=False)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a planner and fault: the time is None where the planner cannot serve the problem."""
        faults = (*self.faults, *self.pairs)
        pairs = [(planner, healthy_s, fault) for planner, _, healthy_s in self.planners for fault in faults]
        return {
            "planner": [planner for planner, _, _ in pairs],
            "failed": [fault.failed for _, _, fault in pairs],
            "alike": [fault.alike for _, _, fault in pairs],
            "healthy_s": [healthy_s for _, healthy_s, _ in pairs],
            "total_s": [fault.times_s.get(planner) for planner, _, fault in pairs],
        }

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The time of each planner without and with every single fault; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("FaultCosts.plot", self, path)

    def __repr__(self) -> str:
        best = self.rows[0]
        told = "none served" if best.worst_s is None else f"{show_time(best.worst_s)} at worst"
        faults = counted(self.count, "fault")
        return f"FaultCosts({self.collective}, {faults}: {best.planner} {show_time(best.healthy_s)}, {told})"


def _row(faults: tuple[FaultTimes, ...], planner: str, algorithm: str, healthy_s: float) -> FaultRow:
    """What some faults cost a planner."""
    served = [fault for fault in faults if planner in fault.times_s]
    count = sum(fault.alike for fault in served)
    worst = max(served, key=lambda fault: fault.times_s[planner], default=None)
    return FaultRow(
        planner=planner,
        algorithm=algorithm,
        healthy_s=healthy_s,
        mean_s=sum(fault.alike * fault.times_s[planner] for fault in served) / count if count else None,
        worst_s=None if worst is None else worst.times_s[planner],
        worst_fault=None if worst is None else worst.failed,
        served=count,
        unserved=sum(fault.alike for fault in faults) - count,
    )


def fault_costs(
    collective: str | None = None,
    size: str | float | None = None,
    failed: str | Sequence[str] = "any-port",
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    report: Callable[[int, int], None] = lambda _done, _total: None,
    **settings: Unpack[Settings],
) -> FaultCosts:
    """Find what each single fault of a kind costs every planner, which plans anew for each fault.

    failed: kinds of faults, `"any-gpu"`, `"any-port"` (a transmitter), `"any-receiver"`, `"any-link"` (both ways) or
        `"any-switch"`, with commas between them; `"any-two:100"` among them is a hundred pairs of these, drawn by a
        fixed seed; faults among them, such as `"link:0-7"`, are there in any case.
    fabric: its own `failed` is there in any case, too. report: is called with the number of faults that are done, and
        with that of all.

    One fault stands for all ports of a GPU, and for all planes, where nothing tells ports apart. Takes the time of
    `compare` for each of the others. Other arguments and errors as for `lightloom.compare`.
    """
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    wanted = Wanted.of(failed).on(fabric)
    healthy = compare(collective, size, fabric=replace(fabric, failed=wanted.given or None), **settings)
    rows = healthy.by_planner()
    if not rows:
        raise InputError("planner", f"planner: none serves this problem: {healthy.rows[0].reason}")
    gpus = healthy.gpus if fabric.gpus is None and fabric.dims is None else fabric.sized().gpus or 0
    single = wanted.distinct(gpus, fabric.ports, ports_alike=fabric.optical_layer is None)
    every = [*single, *wanted.drawn_pairs(gpus, fabric.ports)]
    found: list[FaultTimes] = []
    report(0, len(every))
    for fault in every:
        failed_now = (*wanted.given, *fault.failed.split(","))
        found.append(_times(collective, size, replace(fabric, failed=failed_now), fault, settings))
        report(len(found), len(every))
    return FaultCosts(
        collective=healthy.collective,
        size_bytes=healthy.size_bytes,
        gpus=gpus,
        ports=fabric.ports,
        kinds=wanted.kinds,
        given=wanted.given,
        planners=tuple((row.planner, row.algorithm, row.total_s or 0.0) for row in rows),
        faults=tuple(found[: len(single)]),
        pairs=tuple(found[len(single) :]),
    )


def _times(
    collective: str | None, size: str | float | None, fabric: Fabric, fault: Fault, settings: Settings
) -> FaultTimes:
    """The times of all planners on the fabric, which has the fault."""
    try:
        rows = compare(collective, size, fabric=fabric, **settings)
    except InputError as error:  # without this fault there is a plan
        return FaultTimes(*fault, {}, str(error))
    times_s = {row.planner: row.total_s for row in rows.by_planner() if row.total_s is not None}
    return FaultTimes(*fault, times_s, "" if times_s else rows.rows[0].reason)
