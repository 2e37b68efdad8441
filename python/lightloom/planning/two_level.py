"""FAST's All-to-All in the network that it is made for: servers with an electrical network inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse, shown
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.matrix import read_matrix
from lightloom.inputs.quantities import rate_of, seconds_of

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike

__all__ = ["ServerStage", "ServerTimes", "fast_on_servers"]

FIELD = "electrical"
FORM = "GPUs of a server, bandwidth of a GPU inside it and delay of a phase, such as 8:3600Gbps:100ns"
BITS = 8
MOST_DIGITS = 10


class ServerStage(NamedTuple):
    """One matching of servers.

    pairs: (server, the one that it sends to); circuits_s: change, startup, hop and bytes over circuits; electrical_s:
    of the electrical networks meanwhile, for the balancing of the next stage and the redistribution of the one before.
    """

    pairs: list[tuple[int, int]]
    circuits_s: float
    electrical_s: float


class ServerTimes(NamedTuple):
    """Times of FAST on servers, s.

    total_s: of all; bound_s: what no All-to-All takes less than that keeps bytes within a server inside it, and whose
    first circuits are charged, as those of `plan` are not where the fabric's initial topology is free; before_s: before
    the first stage sends, its balancing or the change of its circuits; after_s: the redistribution after the last;
    inside_s: of bytes within servers for which the stages leave no time.
    """

    total_s: float
    bound_s: float
    before_s: float
    after_s: float
    inside_s: float
    stages: list[ServerStage]


def fast_on_servers(
    matrix: str | os.PathLike[str] | ArrayLike,
    electrical: str,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
) -> ServerTimes:
    """The All-to-All of a matrix by FAST on servers of GPUs with an electrical network inside.

    matrix: bytes `[src][dst]`, a file or an array, as `lightloom.plan` takes it; electrical: GPUs of a server,
    bandwidth of a GPU within it, in and out, to any peers at once, and seconds of a phase (0 by default),
    `"8:3600Gbps:100ns"`; fabric: circuits between servers, of which startup, hop delay, bandwidth, ports and
    reconfiguration delay count, and nothing else. GPU i of a server sends to GPU i of one other server at a
    time, over all of its ports; every stage changes the circuits, the first one included.

    Balanced in equal parts on the GPUs of a server, then sent by the matchings of the Birkhoff-von Neumann
    decomposition of the servers' matrix, then redistributed; stages are a pipeline over both networks.

    Source: Lei et al., FAST: An Efficient Scheduler for All-to-All GPU Communication, arXiv 2505.09764. Raises
    `InputError` that names the argument.
    """
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    values = read_matrix(matrix)
    fabric = fabric.sized(matrix=len(values))
    fabric.refuse_barrier("FAST on servers is timed")
    fabric.refuse_failed("FAST on servers is timed")
    fabric.refuse_positions("FAST on servers is timed")
    reconfiguration_s = fabric.reconfiguration.scalar_s
    if reconfiguration_s is None:
        raise refuse(
            "reconfiguration_delay",
            f"`{shown(fabric.reconfiguration_delay)}` is not accepted: every stage of FAST on servers changes all "
            "circuits; it takes one number of seconds",
        )
    server_gpus, rate_bps, phase_s = _electrical(electrical)
    optical = (
        fabric.ports * fabric.bandwidth_bps / BITS,
        fabric.startup_s + fabric.hop_delay_s,
        reconfiguration_s,
    )
    found = _core.fast_on_servers(values, server_gpus, (rate_bps / BITS, phase_s), optical)
    total_s, bound_s, before_s, after_s, inside_s, stages = found
    return ServerTimes(total_s, bound_s, before_s, after_s, inside_s, [ServerStage(*stage) for stage in stages])


def _electrical(text: str) -> tuple[int, float, float]:
    """GPUs of a server, bit/s, seconds."""
    parts = text.split(":") if isinstance(text, str) else []
    if len(parts) not in {2, 3} or not (parts[0].isascii() and parts[0].isdecimal() and len(parts[0]) < MOST_DIGITS):
        raise refuse(FIELD, f"`{shown(text)}` is not accepted; it takes {FORM}")
    server_gpus = whole_number(FIELD, int(parts[0]), *WHOLE_RANGES["gpus"])
    return server_gpus, rate_of(FIELD, parts[1]), seconds_of(FIELD, parts[2]) if parts[2:] else 0.0
