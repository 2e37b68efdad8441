"""The steps of a plan, as people hold them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.base.views import html

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TERMS = ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s", "barrier_s")


def stated_terms(subjects: Iterable[object]) -> tuple[str, ...]:
    """The terms that files and tables of some steps or rows state: all, the barrier only where one takes time."""
    waits = any(getattr(subject, "barrier_s") for subject in subjects)  # noqa: B009 (of steps and of rows)
    return TERMS if waits else TERMS[:-1]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan; times in seconds.

    index: its place, from 0. topology: the circuits that are live during it, and topology_index their place in
    `Plan.topologies`. reconfigured: whether circuits change before it. transfer_bytes: m_i, of its largest transfer.
    hops: of the longest path in use. load: bytes on the busiest link over those of one transfer. electrical_load: so of
    the busiest GPU through its island's electrical switch, 0 where nothing goes through one. barrier_s: of the barrier
    of all GPUs before it.
    """

    index: int
    topology: _core.Topology = field(compare=False)
    topology_index: int
    reconfigured: bool
    transfer_bytes: float
    hops: int
    load: float
    electrical_load: float
    startup_s: float
    propagation_s: float
    transmission_s: float
    reconfiguration_s: float
    barrier_s: float
    total_s: float

    @property
    def topology_name(self) -> str:
        """Name of the topology."""
        return self.topology.name

    def __repr__(self) -> str:
        change = ", reconfigured" if self.reconfigured else ""
        return (
            f"Step({self.index}, {self.topology.name}{change}, {_core.show_size(self.transfer_bytes)}, "
            f"hops={self.hops}, load={self.load:.4g}: {_core.show_time(self.total_s)})"
        )

    def _repr_html_(self) -> str:
        return html("Step._repr_html_", self)


def steps_of(found: Sequence[_core.StepTuple], topologies: Sequence[_core.Topology]) -> tuple[Step, ...]:
    """The steps that the core tells of."""
    return tuple(
        Step(index, topologies[topology], topology, changed, size, hops, *loads, *terms, total_s)
        for index, (topology, changed, size, hops, loads, terms, total_s) in enumerate(found)
    )
