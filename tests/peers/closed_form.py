"""Times of a plan's packets in closed form, where it is known: every rank the same distance on one-way rings.

All ranks send B bytes to the rank h hops ahead, so each circuit carries h messages. Handed over as a burst, they take

    dark + startup + max(h·W + δ,  W + h·δ + (h - 1)·p)

per step: either the circuit is never idle (h messages of wire time W each, then one hop delay), or the last packet of
the sender's own burst finds every circuit after its first one free (p: wire time of one packet). ns-3 and htsim agree
with it to the last digit.
"""

from __future__ import annotations

from itertools import accumulate

from tests.peers.traffic import StepTraffic, Traffic


def burst_ends_s(traffic: Traffic, header: int) -> tuple[float, ...]:
    """When each step ends, in seconds from the start. Raises `ValueError` where the form does not hold."""
    return tuple(accumulate(_step_s(traffic, step, header) for step in traffic.steps))


def _step_s(traffic: Traffic, step: StepTraffic, header: int) -> float:
    flows = [flow for transfer in step.transfers for flow in transfer.flows]
    kinds = {(flow.packets, len(flow.circuits)) for flow in flows}
    used = {circuit for flow in flows for circuit in flow.circuits}
    carried = sum(len(flow.circuits) for flow in flows) / len(used)
    (packets, hops), *others = kinds
    if others or carried != hops or len({flow.src for flow in flows}) != len(flows):
        raise ValueError("the step is not one distance on one-way rings")
    if packets.count > 1 and packets.last != packets.payload:
        raise ValueError("the last packet is short")
    byte_s = 8 / traffic.bandwidth_bps
    message_s = packets.wire_bytes(header) * byte_s
    packet_s = message_s / packets.count
    busy_s = hops * message_s + traffic.hop_delay_s
    last_s = message_s + hops * traffic.hop_delay_s + (hops - 1) * packet_s
    return step.dark_s + step.startup_s + max(busy_s, last_s)
