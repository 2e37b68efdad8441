"""Light in a mesh of MZIs: the way of a circuit, and the state of an MZI."""

from typing import NamedTuple

__all__ = ["FibreDelay", "LaserEnergy", "LightPath", "MziState"]


class MziState(NamedTuple):
    """The state of an MZI for light of one wavelength.

    enters: the side where it comes in, `north`, `east`, `south` or `west`, or `transmitter`; input: which of the
    waveguides that come in there, or which transmitter. leaves and output: likewise where it goes out, or `receiver`.
    """

    mzi: int
    wavelength: int
    enters: str
    input: int
    leaves: str
    output: int


class LightPath(NamedTuple):
    """The way of a circuit of a plan through a mesh.

    ingress, egress: the ports that it joins, from 1. mzis: those that it passes. waveguides: from each to the next
    which of the parallel ones. wavelength: on all of the way. loss_db: the loss of its light.
    launch_mw: the power that its laser launches; None where the mesh says nothing of receivers.
    fibre_m: metres of fibre on the way; None where it says nothing of lengths.
    """

    ingress: int
    egress: int
    mzis: tuple[int, ...]
    waveguides: tuple[int, ...]
    wavelength: int
    loss_db: float
    launch_mw: float | None = None
    fibre_m: float | None = None


class LaserEnergy(NamedTuple):
    """The electrical energy of the lasers of a plan's circuits.

    steps_j: of each step, with the change that it is charged. changes_j: the part of total_j that is spent while
    circuits change; total_j: of all steps. sent_bits: bits that GPUs send to each other, each counted once however
    many circuits it travels. picojoules_per_bit: total_j for each of those.
    """

    steps_j: tuple[float, ...]
    changes_j: float
    total_j: float
    sent_bits: float
    picojoules_per_bit: float


class FibreDelay(NamedTuple):
    """The time of light through the fibres of a plan's circuits, which the plan's hop delay does not have.

    steps_s: for each step its hops times the delay of the circuit with the most fibre. total_s: of all steps.
    """

    steps_s: tuple[float, ...]
    total_s: float
