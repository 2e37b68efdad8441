"""HARVEST's `schedule.json`: the topology of every step, and their stated cost in nanoseconds.

It does not say what is sent, how many GPUs there are, bandwidth, startup and hop delays. `collective.json` next to it
has the first two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import refuse, shown
from lightloom.formats.harvest.read import MOST_DEMANDS, MOST_GPUS, MOST_STEPS, collective_of
from lightloom.formats.source import Source

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["FILE", "StatedSequence", "read", "read_sequence", "recognises"]

FILE = "schedule.json"
SECOND_NS = 1e9
MOST_NS, MOST_CIRCUITS = 1e18, (1 << 32) - 1
FIELD = "sequence"

Links = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class StatedSequence:
    """The topologies of a schedule, and their stated cost.

    path: the file. collective: its name. links: of every step the circuits (source, destination, how many), sorted.
    delay_s: of a reconfiguration; total_s: of all steps; reconfigurations: how many, which take reconfiguration_s.
    """

    path: Path
    collective: str
    links: tuple[Links, ...]
    delay_s: float
    total_s: float
    reconfigurations: int
    reconfiguration_s: float

    @property
    def gpus(self) -> int:
        """The number of GPUs that the circuits mention: the largest GPU number plus one."""
        return 1 + max(max(source, destination) for links in self.links for source, destination, _ in links)

    @property
    def changes(self) -> int:
        """Steps whose topology differs from that of the step before."""
        return sum(before != after for before, after in pairwise(self.links))

    def topologies(self, gpus: int) -> list[_core.Topology]:
        """The topology of every step, those that are alike under one name, by their order.

        Raises `InputError` that names `sequence` where a circuit is of another GPU.
        """
        if self.gpus > gpus:
            raise refuse(FIELD, f"`{self.path}` has circuits of GPU {self.gpus - 1}; there are {gpus} GPUs")
        distinct = {links: number for number, links in enumerate(dict.fromkeys(self.links), 1)}
        made = {links: _core.Topology.from_links(f"stated-{one}", gpus, links) for links, one in distinct.items()}
        return [made[links] for links in self.links]


def recognises(source: Source) -> bool:
    """Whether the source is a file of this format."""

    def has(key: str) -> bool:
        return re.search(rf'"{key}"\s*:', source.text) is not None

    return '"schema"' not in source.text and has("steps") and has("num_of_reconfigs")


def read(source: Source) -> StatedSequence:
    """The sequence that the file states. Raises `InputError` that names the place in it."""
    document = source.json()
    steps = document.get("steps")
    if not isinstance(steps, list) or not 0 < len(steps) <= MOST_STEPS:
        raise refuse(f"{FIELD}.steps", f"it is not a list of 1 to {MOST_STEPS} steps")
    room = MOST_DEMANDS
    links: list[Links] = []
    for index, step in enumerate(steps):
        links.append(_links(step, index, room))
        room -= len(links[-1])
    count = document.get("num_of_reconfigs")
    if type(count) is not int or not 0 <= count <= len(steps):
        raise refuse(
            f"{FIELD}.num_of_reconfigs",
            f"`{shown(count)}` is not a whole number from 0 to {len(steps)}, the number of steps",
        )
    return StatedSequence(
        source.path,
        collective_of(FIELD, document.get("collective")),
        tuple(links),
        _seconds(document, "alpha_r"),
        _seconds(document, "cost"),
        count,
        _seconds(document, "reconf_cost_total"),
    )


def read_sequence(path: str | os.PathLike[str]) -> StatedSequence:
    """Read a file, or `schedule.json` in a folder. Raises `InputError` that names `sequence` or the place."""
    source = Source(FIELD, path)
    if source.is_folder:
        source = Source(FIELD, source.path / FILE)
    if not recognises(source):
        raise refuse(FIELD, f"`{source.path}` is not HARVEST's {FILE}, which has steps and num_of_reconfigs")
    return read(source)


def _links(step: Any, index: int, room: int) -> Links:
    place = f"{FIELD}.steps[{index}]"
    if not isinstance(step, dict) or step.get("step") != index + 1:
        number = step.get("step") if isinstance(step, dict) else step
        raise refuse(
            f"{place}.step", f"`{shown(number)}` is not accepted; it takes {index + 1}, since steps are counted from 1"
        )
    entries = step.get("topology")
    if not isinstance(entries, list) or not 0 < len(entries) <= room:
        raise refuse(f"{place}.topology", f"it is not a list of 1 or more circuits, of {MOST_DEMANDS} in all steps")
    counts: dict[tuple[int, int], int] = {}
    for number, entry in enumerate(entries):
        source, destination, circuits = _circuits(entry, f"{place}.topology[{number}]")
        if (source, destination) in counts:
            raise refuse(f"{place}.topology[{number}]", f"circuits from {source} to {destination} are given twice")
        counts[source, destination] = circuits
    return tuple((*pair, circuits) for pair, circuits in sorted(counts.items()))


def _circuits(entry: Any, place: str) -> tuple[int, int, int]:
    if not isinstance(entry, list) or len(entry) != 3 or any(type(value) is not int for value in entry):
        raise refuse(place, f"`{shown(entry)}` is not [source, destination, multiplicity] in whole numbers")
    source, destination, circuits = entry
    for gpu in (source, destination):
        if not 0 <= gpu < MOST_GPUS:
            raise refuse(place, f"`{shown(gpu)}` is not a GPU; GPUs are 0 to {MOST_GPUS - 1}")
    if source == destination:
        raise refuse(place, f"GPU {source} has a circuit to itself")
    if not 0 < circuits <= MOST_CIRCUITS:
        raise refuse(place, f"`{shown(circuits)}` is not a number of circuits from 1 to {MOST_CIRCUITS}")
    return source, destination, circuits


def _seconds(document: dict[str, Any], key: str) -> float:
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST_NS:
        raise refuse(f"{FIELD}.{key}", f"`{shown(value)}` is not a time from 0 to {MOST_NS:g} nanoseconds")
    return value / SECOND_NS
