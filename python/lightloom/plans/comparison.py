"""The same problem by every planner and baseline, as people hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.frames import Table
from lightloom.base.views import html
from lightloom.plans.steps import TERMS, stated_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

ROW_COLUMNS = (
    "planner",
    "algorithm",
    "topology",
    "total_s",
    "reconfigurations",
    "startup_s",
    "propagation_s",
    "transmission_s",
    "reconfiguration_s",
    "barrier_s",
    "reason",
)

# The planner that plans are compared with where nothing else is said: the best circuits that never change.
UNCHANGING = "never-change"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a comparison: a planner with an algorithm; times in seconds.

    topology: that of a static plan, else empty. total_s and later fields are None if the planner could not serve the
    problem, and reason then says why. at_least_s: its least time, where it is known to be slower than the best
    and was not solved to the end; the reason says so. keeps_the_best: whether the planner chooses the algorithm too,
    and so keeps the best plan of all planners. is_for_collective: whether the planner plans this collective at all.
    """

    planner: str
    algorithm: str
    topology: str
    total_s: float | None
    reconfigurations: int | None
    startup_s: float | None
    propagation_s: float | None
    transmission_s: float | None
    reconfiguration_s: float | None
    barrier_s: float | None
    reason: str
    at_least_s: float | None
    keeps_the_best: bool
    is_for_collective: bool

    @classmethod
    def of(cls, told: _core.RowTuple) -> Self:
        """The line that the core tells of."""
        (planner, algorithm, topology), (keeps_the_best, is_for_collective), found, (reason, at_least_s) = told
        total_s, terms, reconfigurations = found or (None, (None, None, None, None, None), None)
        startup_s, propagation_s, transmission_s, reconfiguration_s, barrier_s = terms
        return cls(
            planner,
            algorithm,
            topology,
            total_s,
            reconfigurations,
            startup_s,
            propagation_s,
            transmission_s,
            reconfiguration_s,
            barrier_s,
            reason,
            at_least_s,
            keeps_the_best,
            is_for_collective,
        )

    def __repr__(self) -> str:
        on = f" on {self.topology}" if self.topology else ""
        name = ", ".join(part for part in (f"{self.algorithm}{on}", self.planner) if part)
        if self.total_s is None or self.reconfigurations is None:
            return f"Row({name}: {self.reason})"
        reconfigurations = _core.counted(self.reconfigurations, "reconfiguration")
        return f"Row({name}: {_core.show_time(self.total_s)}, {reconfigurations})"


@dataclass(frozen=True, slots=True)
class Comparison(Table):
    """The same problem by every planner and baseline, fastest first, those that could not serve it last.

    size_bytes: one rank's whole buffer m; traffic_bytes: bytes that all GPUs together send to others in an All-to-All,
    None for other collectives. lower_bound_s: the largest lower bound that holds for every row;
    bound_class: the schedules that it bounds.
    """

    collective: str
    size_bytes: int
    gpus: int
    rows: tuple[Row, ...]
    lower_bound_s: float
    bound_class: str
    traffic_bytes: int | None = None

    @property
    def best(self) -> Row | None:
        """The fastest row, None where nothing serves the problem."""
        return next((row for row in self.rows if row.total_s is not None), None)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a row; those that could not be served have a reason and no time."""
        return {name: [getattr(row, name) for row in self.rows] for name in _columns(self.rows)}

    def by_planner(self) -> list[Row]:
        """The fastest row of every planner that serves the problem, fastest first."""
        return best_by_planner(row for row in self.rows if row.total_s is not None)

    def __repr__(self) -> str:
        best = "nothing serves it" if self.best is None else f"best {self.best!r}"
        problem = f"{self.collective}, {_core.show_size(self.size_bytes)}, {self.gpus} GPUs"
        return f"Comparison({problem}: {best}, {_core.counted(len(self.rows), 'row')})"

    def _repr_html_(self) -> str:
        return html("Comparison._repr_html_", self)


def _columns(rows: Sequence[Row]) -> list[str]:
    left_out = set(TERMS).difference(stated_terms(rows))
    return [name for name in ROW_COLUMNS if name not in left_out]


def best_by_planner(rows: Iterable[Row]) -> list[Row]:
    """The first row of every planner, in the order of the rows."""
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row.planner, row)
    return list(first.values())
