"""Schemes of PCCL §5: its start topologies, the algorithms on them, and PCCL with the schedule it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import Fabric
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from lightloom import Plan

# PCCL §5: α = 3 µs a hop and no startup, β = 1/450 s/GB.
HOP_DELAY_S = 3e-6
BANDWIDTH_BPS = 450e9 * 8
DELAY_S = 5e-6
KB, MB, GB = 1000, 10**6, 10**9
# Grids of two and three dimensions.
DIMS = {128: ("8x16", "8x4x4"), 64: ("8x8", "4x4x4"), 32: ("4x8", "4x4x2")}


class Start(NamedTuple):
    """A topology before the first step, the ports of a GPU that it takes, and its dims."""

    label: str
    topology: str
    ports: int
    dims: str

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return tuple(int(size) for size in self.dims.split("x"))


def starts(gpus: int) -> tuple[Start, ...]:
    """The five of §5; a grid is a torus without its wrap-around links."""
    two, three = DIMS[gpus]
    return (
        Start("ring", "ring", 2, str(gpus)),
        Start("2D torus", f"torus:{two}", 4, two),
        Start("3D torus", f"torus:{three}", 6, three),
        Start("2D grid", f"grid:{two}", 4, two),
        Start("3D grid", f"grid:{three}", 6, three),
    )


class Scheme(NamedTuple):
    """A planner with the algorithm that it is given.

    dimensions: how many the algorithm's dims have, where they are its own.
    """

    name: str
    planner: str
    algorithm: str
    dimensions: int = 1

    def case(self, collective: str, size: float, gpus: int, start: Start, delay_s: float) -> Case:
        """The plan for a buffer of `size` bytes from a start topology, which is the only standard one."""
        fabric = Fabric(
            dims=str(gpus) if self.dimensions == 1 else DIMS[gpus][self.dimensions - 2],
            ports=start.ports,
            bandwidth=BANDWIDTH_BPS,
            startup=0.0,
            hop_delay=HOP_DELAY_S,
            reconfiguration_delay=0.0 if self.planner == "static" else delay_s,
            initial=start.topology,
        )
        named: dict[str, Any] = {"topology" if self.planner == "static" else "candidates": start.topology}
        return Case.of(
            collective, int(size), fabric, algorithm=self.algorithm, planner=self.planner, convention="pccl", **named
        )

    def plan(self, collective: str, size: float, gpus: int, start: Start, delay_s: float = DELAY_S) -> Plan:
        """The plan itself, with its steps."""
        from lightloom import plan

        case = self.case(collective, size, gpus, start, delay_s)
        return plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))


# One circuit for each pair, as algorithm 2 counts them; with ports divided over a step's peers, as §4.2 has it.
PCCL = Scheme("PCCL", "pccl", "halving-doubling")
PCCL_DIVIDED = Scheme("PCCL, ports divided", "pccl-parallel", "halving-doubling")
RING = Scheme("Ring", "static", "ring")
BUCKET_2 = Scheme("2D bucket", "static", "bucket", 2)
BUCKET_3 = Scheme("3D bucket", "static", "bucket", 3)
RHD = Scheme("RHD", "static", "halving-doubling")
BASELINES = (RING, BUCKET_2, BUCKET_3, RHD)
# The algorithm that suits each topology (§5); the grids have no such algorithm.
IDEAL = {"ring": "Ring", "2D torus": "2D bucket", "3D torus": "3D bucket"}

DEX = Scheme("DEX", "static", "dex")
PCCL_DEX = Scheme("PCCL", "pccl", "dex")
PCCL_DEX_DIVIDED = Scheme("PCCL, ports divided", "pccl-parallel", "dex")
