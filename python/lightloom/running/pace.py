"""The dilation of a run, with which the machine can keep up, and the size of its packets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.base.errors import refuse, shown
from lightloom.inputs.quantities import bytes_of
from lightloom.running.paces import fastest_bps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.plans import Plan
    from lightloom.running.program import Messages, Program

__all__ = [
    "LARGEST_DILATION",
    "NANOSECONDS",
    "Pace",
    "checked_dilation",
    "checked_packet",
    "crowding",
    "dilation_for",
    "pace_of",
    "pace_of_spans",
    "packet_bytes_for",
    "slower",
]

NANOSECONDS = 1e9
LARGEST_DILATION = 1e9
# Least time of the shortest step: many times the time to wake a process.
SHORTEST_STEP_S = 0.02
# Bytes that a core copies in a second through rings and switch, with time to spare.
COPIED_BPS = 2.5e8
# Seconds that a packet takes at least, and the seconds that every circuit adds; the kernel does more for a packet.
PACKET_S = 1e-4
PACKET_PER_CIRCUIT_S = {"shared-memory": 2.5e-5, "kernel": 1e-4}
LEAST_PACKET = 1024
# Bytes of a packet that is asked for, as the switch process takes them.
ASKED_PACKET = (64, 1 << 20)
# A datagram is at most 64 KiB, headers included.
MOST_PACKET = {"shared-memory": 1 << 16, "kernel": 1 << 15}
# Packets of a message that is passed on, so that it is on all its circuits at once.
PIPELINED = 16
# Packets that a core takes over a hop in a second, by a rank and the switch. Two cores kept up with 128 000 of 1 KiB in
# shared memory, and took half as long again as planned for 256 000; the kernel does more for each.
PACKETS_PER_CORE = {"shared-memory": 5e4, "kernel": 2e4}
# Ranks that a core serves without that being felt. More of them keep each other waiting: a step takes as much longer
# until all have had their turn, and a packet wakes a rank that has to wait for one.
RANKS_PER_CORE = 8


class Pace(NamedTuple):
    """The dilation of a run, and the work that it demands of the machine.

    packet_rate: packets over all hops in a second of the busiest step; most_packet_rate: with more than this the times
    are those of the machine.
    """

    dilation: float
    packet_bytes: int
    packet_rate: float
    most_packet_rate: float

    def nanoseconds(self, seconds: Any) -> NDArray[np.int64]:
        """Nanoseconds of the machine for seconds of the plan."""
        return np.rint(np.asarray(seconds, dtype=np.float64) * self.dilation * NANOSECONDS).astype(np.int64)

    def seconds(self, ns: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Seconds of the plan for nanoseconds of the machine."""
        return ns / (self.dilation * NANOSECONDS)


def checked_dilation(dilation: float) -> float:
    """The dilation. Raises `InputError` that names `dilation`."""
    try:
        value = float(dilation)
    except (TypeError, ValueError):
        value = 0.0
    if not 1 <= value <= LARGEST_DILATION:
        raise refuse(
            "dilation", f"`{shown(dilation)}` is not accepted; it takes a number from 1 to {LARGEST_DILATION:g}"
        )
    return value


def checked_packet(size: str | float) -> int:
    """Bytes of a packet. Raises `InputError` that names `packet_size`."""
    least, most = ASKED_PACKET
    return bytes_of("packet_size", size, least=least, most=most)


def dilation_for(plan: Plan) -> float:
    """A dilation of 1, 2 or 5 times a power of ten: the least for which the machine keeps up with the plan.

    The shortest step takes 20 ms then, longer where a core has more than 8 ranks, and all ranks that send at once do
    not send more than the cores copy.
    """
    shortest_s = min((step.total_s for step in plan.steps if step.total_s > 0), default=0.0)
    rate_bps = plan.gpus * plan.ports * fastest_bps(plan) / 8
    step_s = SHORTEST_STEP_S * crowding(plan.gpus)
    wanted = max(step_s / shortest_s if shortest_s else 1.0, rate_bps / (COPIED_BPS * usable_cores()), 1.0)
    return rounded_up(wanted)


def pace_of(
    plan: Plan, program: Program, transport: str, *, dilation: float | None = None, packet_bytes: int | None = None
) -> Pace:
    """The pace of a run; missing values are chosen, the dilation so that cores keep up with packets, too."""
    most = PACKETS_PER_CORE[transport] * usable_cores() / crowding(plan.gpus)
    chosen = dilation_for(plan) if dilation is None else dilation
    while True:
        size = packet_bytes or packet_bytes_for(
            plan.gpus, plan.ports, fastest_bps(plan) / 8 / chosen, _passed_on(program), transport
        )
        rate = _packet_rate(plan, program, chosen, size)
        if dilation is not None or rate <= most or chosen == LARGEST_DILATION:
            return Pace(chosen, size, rate, most)
        # Packets may be shorter then, and more: it is looked at again.
        chosen = rounded_up(chosen * rate / most)


def pace_of_spans(
    program: Messages,
    spans_s: Sequence[tuple[float, float] | None],
    *,
    ranks: int,
    ports: int,
    rate_bps: float,
    mean_s: float,
    dilation: float | None = None,
    packet_bytes: int | None = None,
) -> Pace:
    """The pace of a run in shared memory whose steps overlap; missing values are chosen.

    spans_s: by step of the program, when it begins and ends by the plan; None where another step stands for it.
    rate_bps: bytes that a circuit takes in a second. mean_s: the time, by the plan, that takes 20 ms dilated, longer
    where a core has more than 8 ranks; and all ports that are used at once do not send more than the cores copy, and
    not more packets than they pass on.
    """
    transport = "shared-memory"
    hops, message_bytes = np.diff(program.gpu_offsets) - 1, program.message_bytes
    most = PACKETS_PER_CORE[transport] * usable_cores() / crowding(ranks)
    chosen = dilation
    if chosen is None:
        copied_bps = _busiest(spans_s, program, message_bytes * hops)
        wanted = SHORTEST_STEP_S * crowding(ranks) / mean_s
        chosen = rounded_up(max(wanted, copied_bps / (COPIED_BPS * usable_cores()), 1.0))
    while True:
        size = packet_bytes or packet_bytes_for(ranks, ports, rate_bps / chosen, _passed_on(program), transport)
        rate = _busiest(spans_s, program, np.ceil(message_bytes / size) * hops) / chosen
        if dilation is not None or rate <= most or chosen == LARGEST_DILATION:
            return Pace(chosen, size, rate, most)
        chosen = rounded_up(chosen * rate / most)


def _busiest(spans_s: Sequence[tuple[float, float] | None], program: Messages, amounts: NDArray[np.float64]) -> float:
    """The largest rate in a second, where each message has this rate while its step lasts."""
    of_steps = np.bincount(program.step, weights=amounts, minlength=len(spans_s))
    changes: list[tuple[float, float]] = []
    for span_s, amount in zip(spans_s, of_steps.tolist(), strict=True):
        if span_s is not None and amount > 0:
            rate = amount / max(span_s[1] - span_s[0], 1e-12)
            changes += [(span_s[0], rate), (span_s[1], -rate)]
    changes.sort()
    return float(np.cumsum([rate for _, rate in changes]).max(initial=0.0))


def crowding(ranks: int) -> float:
    """The number of ranks of each core over the number that it serves without delay; at least 1."""
    return max(1.0, ranks / (RANKS_PER_CORE * usable_cores()))


def slower(dilation: float) -> float:
    """The dilation to try where ranks were late."""
    return rounded_up(min(4 * dilation, LARGEST_DILATION))


def _packet_rate(plan: Plan, program: Program, dilation: float, packet_bytes: int) -> float:
    """Packets over all hops in a second of the step in which they are most."""
    hops = np.diff(program.gpu_offsets) - 1
    packets = np.ceil(program.message_bytes / packet_bytes) * hops
    of_steps = np.bincount(program.step, weights=packets, minlength=len(plan.steps))
    seconds = np.array([step.total_s - step.reconfiguration_s for step in plan.steps]) * dilation
    return float((of_steps / np.maximum(seconds, 1e-12)).max(initial=0.0))


def rounded_up(wanted: float) -> float:
    """The least of 1, 2 and 5 times powers of ten that is not below."""
    power = 1.0
    while power * 10 <= wanted:
        power *= 10
    return min(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted), LARGEST_DILATION)


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def packet_bytes_for(ranks: int, ports: int, rate_bps: float, passed_on: int | None, transport: str) -> int:
    """Bytes of a packet: a power of two, so large that the switch need not wake too often.

    Where messages are passed on, it is so short that they are on all their circuits at once. rate_bps: bytes that a
    circuit takes in a second, dilated. passed_on: bytes of the shortest message that is.
    """
    packet_s = max(PACKET_S, PACKET_PER_CIRCUIT_S[transport] * ranks * ports) * crowding(ranks)
    wanted = rate_bps * packet_s
    if passed_on is not None:
        wanted = min(wanted, passed_on / PIPELINED)
    size = LEAST_PACKET
    while size * 2 <= min(wanted, MOST_PACKET[transport]):
        size *= 2
    return size


def _passed_on(program: Messages) -> int | None:
    passed_on = program.message_bytes[np.diff(program.gpu_offsets) > 2]
    return int(passed_on.min()) if len(passed_on) else None
