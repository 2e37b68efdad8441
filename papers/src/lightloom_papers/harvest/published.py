"""HARVEST's published schedules: the heads of their files, and the problems in their names."""

from __future__ import annotations

import csv
import re
from typing import Any, NamedTuple

from lightloom import Fabric
from lightloom_papers.harvest.testbed import FOLDER

__all__ = ["ALGORITHMS", "SOLVER", "Published", "Question", "is_schedule", "published", "question_of"]

# Names of theirs: collective and algorithm.
ALGORITHMS = {
    "halvingDoubling": ("all-reduce", "recursive-doubling"),
    "swing": ("all-reduce", "swing"),
    "direct1": ("all-to-all", "direct"),
}
# Rings of all offsets are theirs for one port; for two, the schedules on 64 GPUs have no moved ring, those on 8 have.
CANDIDATES = {1: "shifted-rings,step-matchings", 2: "ring,step-matchings"}
MOVED_GPUS, MOVED = 8, "moved-rings,step-matchings"
NAME = re.compile(
    r"(?:harvest|bvn|static)-(?P<algorithm>[A-Za-z0-9]+)-(?P<gpus>\d+)-(?P<ports>\d+)"
    r"-(?P<size>\d+[KMG]?B)-(?P<gbps>\d+)-(?P<startup>\d+)-(?P<hop>\d+)-(?P<change>\d+)-0"
)
# Files whose names leave out a part of the problem, which a configuration in the same folder has.
CONFIGURED = {
    "bvn-swing-8-2-0": "bvn-swing-8-2-1KB-800-1000-1000-0-0",
    "static-swing-8-2": "static-swing-8-2-1KB-800-1000-1000-100000000-0",
}
# The authors' solver stops within 1e-6 s of the optimum of each interval of steps; relative to short intervals, this
# is more.
SOLVER = 1e-4


class Question(NamedTuple):
    """The problem that a schedule answers."""

    collective: str
    algorithm: str
    size: str
    fabric: Fabric

    def settings(self) -> dict[str, Any]:
        """Settings of our plan: their candidates and their charges."""
        is_moved = (self.fabric.gpus, self.fabric.ports) == (MOVED_GPUS, 2)
        return {
            "algorithm": self.algorithm,
            "planner": "harvest",
            "convention": "harvest-published",
            "candidates": MOVED if is_moved else CANDIDATES[self.fabric.ports],
        }


class Published(NamedTuple):
    """The head of a published schedule; seconds."""

    name: str
    total_s: float
    reconfigurations: int


def question_of(name: str) -> Question:
    """The problem in a schedule's name, as in `harvest-swing-64-2-16KB-800-500-500-1000-0`, or configured for it.

    Raises `ValueError` for another name.
    """
    found = NAME.fullmatch(CONFIGURED.get(name, name))
    if found is None or found["algorithm"] not in ALGORITHMS:
        message = (
            f"`{name}` is not the name of a published schedule, such as harvest-swing-64-2-16KB-800-500-500-1000-0"
        )
        raise ValueError(message)
    fabric = Fabric(
        gpus=int(found["gpus"]),
        ports=int(found["ports"]),
        bandwidth=f"{found['gbps']}Gbps",
        startup=f"{found['startup']}ns",
        hop_delay=f"{found['hop']}ns",
        reconfiguration_delay=f"{found['change']}ns",
    )
    # A KB in the authors' file names is 1024 bytes.
    return Question(*ALGORITHMS[found["algorithm"]], found["size"].replace("B", "iB"), fabric)


def is_schedule(name: str) -> bool:
    """Whether the problem of a schedule is known by its file's name, without its ending."""
    return NAME.fullmatch(CONFIGURED.get(name, name)) is not None


def published() -> list[Published]:
    """The published schedules whose figures are kept."""
    with (FOLDER / "published.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [Published(row["name"], float(row["cost"]) / 1e9, int(row["num_of_reconfigs"])) for row in rows]
