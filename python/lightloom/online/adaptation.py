"""Calls whose plans a chooser took by measured delays, with the times of other ways to choose."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.frames import Table
from lightloom.base.views import picture

if TYPE_CHECKING:
    import os

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["SCHEMA", "WAYS", "Adaptation", "Way", "WayTotal"]

SCHEMA = "lightloom.adaptation/1"
# Ways to choose a plan for each call, by their names, with what they know.
WAYS = {
    "adaptive": "by measured delays, with hysteresis",
    "latest": "the best for the delay of the call before, as if each call measured one",
    "first": "the best for the first delay, never changed",
    "single": "the best single plan for all calls of a size, in hindsight",
    "known": "the least total of calls and changes, all delays known, begun by any plan",
    "each": "the best for each call, changes of plan free",
}


@dataclass(frozen=True, eq=False)
class Way:
    """A way to choose: by call the place of the plan, the seconds of the call, and those of changes and probes."""

    plans: NDArray[np.int64]
    calls_s: NDArray[np.float64]
    extra_s: NDArray[np.float64]
    changes: int

    @property
    def times_s(self) -> NDArray[np.float64]:
        """By call, all seconds."""
        return self.calls_s + self.extra_s


@dataclass(frozen=True, kw_only=True)
class WayTotal:
    """A way to choose over all calls: seconds, changes of plan, and how much longer than `known` it takes.

    regret_s: seconds above those of `known`; over_known: total over that of `known`.
    """

    name: str
    total_s: float
    changes: int
    regret_s: float
    over_known: float


@dataclass(frozen=True, eq=False)
class Adaptation(Table):
    """Calls under drifting reconfiguration delays; immutable, seconds and bytes.

    sizes_bytes: of every call. plans: of the table, in words. change_cost_s: what a change of plan counts as.
    window: measured delays whose median is the estimate. probe: the share of the time that is given to measuring delays
    outside of calls. probes: how often that was done. delays_s: of every call; estimates_s: what was known of it when
    its plan was chosen. ways: by name, those of `WAYS`. predicted_s: by call, where calls ran on processes, what the
    plan says of the call, and None where calls were computed. wrong: elements of results of runs that were wrong.
    """

    collective: str
    gpus: int
    sizes_bytes: NDArray[np.int64]
    plans: tuple[str, ...]
    change_cost_s: float
    window: int
    probe: float
    probes: int
    delays_s: NDArray[np.float64]
    estimates_s: NDArray[np.float64]
    ways: dict[str, Way]
    predicted_s: NDArray[np.float64] | None = None
    wrong: int = 0

    @property
    def totals(self) -> tuple[WayTotal, ...]:
        """Each of `WAYS` over all calls."""
        return tuple(self.total(name) for name in self.ways)

    def total(self, name: str) -> WayTotal:
        """The way of that name over all calls."""
        way, known_s = self.ways[name], float(self.ways["known"].times_s.sum())
        total_s = float(way.times_s.sum())
        return WayTotal(
            name=name,
            total_s=total_s,
            changes=way.changes,
            regret_s=total_s - known_s,
            over_known=total_s / known_s,
        )

    def to_json(self) -> str:
        """Totals and calls as JSON of schema `lightloom.adaptation/1`."""
        told = {
            "schema": SCHEMA,
            "collective": self.collective,
            "gpus": self.gpus,
            "sizes_bytes": sorted(set(self.sizes_bytes.tolist())),
            "plans": list(self.plans),
            "change_cost_s": self.change_cost_s,
            "window": self.window,
            "probe": self.probe,
            "probes": self.probes,
            "engine": "model" if self.predicted_s is None else "processes",
            "wrong": self.wrong,
            "ways": [asdict(one) for one in self.totals],
            "calls": [dict(zip(columns, row, strict=True)) for columns, row in self._rows()],
        }
        return json.dumps(told, indent=1, ensure_ascii=False)

    def _rows(self) -> list[tuple[list[str], tuple[Any, ...]]]:
        columns = self.to_columns()
        names = list(columns)
        return [(names, row) for row in zip(*columns.values(), strict=True)]

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a call: its delay, and by way the plan and the seconds, changes and probes included."""
        columns: dict[str, list[Any]] = {
            "call": list(range(len(self.delays_s))),
            "size_bytes": self.sizes_bytes.tolist(),
            "delay_s": self.delays_s.tolist(),
            "estimate_s": self.estimates_s.tolist(),
        }
        for name, way in self.ways.items():
            columns[f"{name}_plan"] = way.plans.tolist()
            columns[f"{name}_s"] = way.times_s.tolist()
        count = len(self.delays_s)
        columns["predicted_s"] = [None] * count if self.predicted_s is None else self.predicted_s.tolist()
        return columns

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Delays, plans that are taken, and regret so far, by call; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("Adaptation.plot", self, path)

    def __repr__(self) -> str:
        adaptive = self.total("adaptive")
        calls = _core.counted(len(self.delays_s), "call")
        changes = _core.counted(adaptive.changes, "change")
        return f"Adaptation({calls}, {changes} of plan: {adaptive.over_known:.3f} of the least total)"
