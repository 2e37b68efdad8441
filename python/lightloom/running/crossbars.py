"""Circuits on one crossbar of all ports, as the switch process takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.optics.port_maps import Circuits

__all__ = ["ends_of"]


def ends_of(on_ports: Circuits, ports: int) -> NDArray[np.int64]:
    """By configuration and transmitter of the crossbar, from 0, the receiver that it is joined to, or -1."""
    ends = np.full((len(on_ports.configurations), ports), -1, dtype=np.int64)
    for configuration in on_ports.configurations:
        pairs = configuration.switches[0].connections.astype(np.int64) - 1
        ends[configuration.index, pairs[:, 0]] = pairs[:, 1]
    return ends
