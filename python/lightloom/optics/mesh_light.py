"""Light in a mesh of MZIs: the way of a circuit, and the state of an MZI."""

from typing import NamedTuple

__all__ = ["LightPath", "MziState"]


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
    """

    ingress: int
    egress: int
    mzis: tuple[int, ...]
    waveguides: tuple[int, ...]
    wavelength: int
    loss_db: float
