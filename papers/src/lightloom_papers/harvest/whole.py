"""Some small published schedules whole: the circuits of every step, and what their heads state.

Figures from github.com/STyGIANet/astra-sim-dev. A step's circuits are told by how many places around the ring they go,
from GPUs of even and of odd number, and how many there are of each.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom_papers.harvest.published import question_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["WHOLE", "Circuits", "Whole"]


class Circuits(NamedTuple):
    """The circuits of a step: from an even GPU to those `even` places further, from an odd one `odd` places.

    parallel: how many there are of each.
    """

    even: tuple[int, ...]
    odd: tuple[int, ...]
    parallel: int = 1


class Whole(NamedTuple):
    """A published schedule.

    name: of its file, without its ending; folder: of that below `acad`; collective, cost_ns, delay_ns: in its head,
    the time that it states and the reconfiguration delay; steps: its circuits.
    """

    name: str
    folder: str
    collective: str
    cost_ns: float
    delay_ns: float
    steps: tuple[Circuits, ...]

    @property
    def reconfigurations(self) -> int:
        """Steps whose circuits are not those of the step before."""
        return sum(before != after for before, after in pairwise(self.steps))

    def document(self) -> dict[str, Any]:
        """The schedule in the form of the authors' files."""
        gpus = question_of(self.name).fabric.gpus or 0
        return {
            "alpha_r": self.delay_ns,
            "collective": self.collective,
            "cost": self.cost_ns,
            "num_of_reconfigs": self.reconfigurations,
            "reconf_cost_total": self.reconfigurations * self.delay_ns,
            "steps": [
                {
                    "step": number,
                    "topology": [
                        [gpu, (gpu + places) % gpus, circuits.parallel]
                        for gpu in range(gpus)
                        for places in (circuits.odd if gpu % 2 else circuits.even)
                    ],
                }
                for number, circuits in enumerate(self.steps, 1)
            ],
        }

    def write(self, folder: Path) -> Path:
        """Write the schedule to a file of its name in a folder, and return the path."""
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(self.document(), indent=2), encoding="utf-8")
        return path


def _ring(places: int) -> Circuits:
    return Circuits((places,), (places,))


def _there_and_back(steps: tuple[Circuits, ...]) -> tuple[Circuits, ...]:
    return (*steps, *reversed(steps))


# Swing's peers of each step, by two parallel circuits; the two-way ring, moved by six places; rings.
OWN_8 = tuple(Circuits((places,), (-places,), 2) for places in (1, -1, 3))
OWN_64 = tuple(Circuits((places,), (-places,), 2) for places in (1, -1, 3, -5, 11, -21))
MOVED_8 = Circuits((5, 7), (5, 7))
RINGS_64 = (*[_ring(1)] * 3, *[_ring(8)] * 3)
SWING, DOUBLING = "all-reduce-swing-nd", "all-reduce-rd-nd"
CONFIGS, TOPOLOGIES = "base-configs", "reconfigurable-topologies"

WHOLE = (
    Whole("bvn-swing-8-2-0", CONFIGS, SWING, 12008.96000344721, 0.0, _there_and_back(OWN_8)),
    Whole("static-swing-8-2", CONFIGS, SWING, 18017.92006034689, 1e8, (MOVED_8,) * 6),
    Whole(
        "harvest-swing-64-2-1KB-800-500-500-10-0",
        TOPOLOGIES,
        SWING,
        12110.168438844294,
        10.0,
        _there_and_back(OWN_64),
    ),
    Whole(
        "harvest-halvingDoubling-64-1-64KB-800-500-500-10000-0",
        TOPOLOGIES,
        DOUBLING,
        42211.83990248441,
        10000.0,
        _there_and_back(RINGS_64),
    ),
)
