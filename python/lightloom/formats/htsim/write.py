"""htsim's connection matrix, `.cm`: a flow for every pair of GPUs in every step, each step set off by the one before.

Its lines are those that htsim's loader takes (Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp): the numbers of
nodes, connections and triggers; `SOURCE->DESTINATION id N start 0 size BYTES send_done_trigger T` for a flow of the
first step, `trigger T` in place of `start 0` for one of a later step; and `trigger id T barrier count N` for each step
but the last, which fires once the step's N flows are done and then starts all of the next. So steps follow each other
as in the plan, with a barrier between two. Flows go from end to end, on the routes of the network that htsim is given.

htsim simulates a fat tree with one network card a host. `NAME.topo` is the one that is nearest to circuits: all hosts
at one switch, by links that have together the rate of a GPU's ports, and together the delay of a hop
(sim/datacenter/fat_tree_topology.cpp: rates in whole Gbit/s, delays in whole nanoseconds).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lightloom.base.port_rates import all_ports_bps
from lightloom.formats.output import MAIN, OUTPUT_NAME, SIDE, Exported
from lightloom.formats.parcels import whole_bytes
from lightloom.formats.side_files import side_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.plans import Plan

__all__ = ["export"]

# htsim reads a size as a C++ `int`, as it does the time at which it ends, in microseconds.
LARGEST = (1 << 31) - 1
TOPOLOGY = ".topo"
GIGA, MEGA, MICROSECOND_S, NANOSECOND_S = 10**9, 10**6, 1e-6, 1e-9
# Time that htsim has to end, as a multiple of the plan's time: packets are lost and sent again, and its default is a
# millisecond.
TIMES, LEAST_END_US = 10, 1000
# From main_ndp.cpp: the size of packets, and the number that a flow has under way.
PACKET_BITS, LEAST_WINDOW = 9000 * 8, 15


def export(plan: Plan) -> Exported:
    """The connection matrix of a plan, a topology for it, and its side file; a part of a byte counts as a whole one.

    Flows of more bytes than htsim reads are several flows. Raises `InputError` where the plan does not verify.
    """
    steps = [list(_flows(plan, index)) for index in range(len(plan.steps))]
    lines = [
        f"Nodes {plan.gpus}",
        f"Connections {sum(map(len, steps))}",
        f"Triggers {len(steps) - 1}",
    ]
    number = 0
    for index, flows in enumerate(steps):
        begins = f"trigger {index}" if index else "start 0"
        ends = f" send_done_trigger {index + 1}" if index + 1 < len(steps) else ""
        for source, destination, size_bytes in flows:
            number += 1
            lines.append(f"{source}->{destination} id {number} {begins} size {size_bytes}{ends}")
    lines += [f"trigger id {index} barrier count {len(flows)}" for index, flows in enumerate(steps[:-1], 1)]
    files = {MAIN: ("\n".join(lines) + "\n").encode(), SIDE: side_file(plan, "htsim")}
    topology = _one_switch(plan)
    if topology is not None:
        files[TOPOLOGY] = topology
    return Exported(files, SIDE, tuple(_notes(plan, has_topology=topology is not None)))


def _notes(plan: Plan, *, has_topology: bool) -> list[str]:
    """The commands that run htsim, on the topology that is written and on its own."""
    rate_bps = all_ports_bps(plan.ports, plan.rates_bps)
    end_us = min(LARGEST, max(LEAST_END_US, math.ceil(TIMES * plan.total_s / MICROSECOND_S)))
    inputs = f"htsim_ndp -nodes {plan.gpus} -tm {OUTPUT_NAME} -linkspeed {rate_bps / MEGA:.12g}"
    command = f"run with: {inputs} -strat perm -end {end_us}"
    on_switch = f"-topo {OUTPUT_NAME}{TOPOLOGY} -cwnd {_window(plan, links=2)}"
    notes = [f"{command} {on_switch}"] if has_topology else []
    tiers = _tiers(plan.gpus)
    if tiers is not None:
        delay_us = plan.longest_hop_delay_s / MICROSECOND_S / 2
        tree = f"-tiers {tiers} -hop_latency {delay_us:.12g} -cwnd {_window(plan, links=2 * tiers)}"
        notes.append(f"on htsim's own fat tree: {tree} in place of {on_switch}" if notes else f"{command} {tree}")
    if not has_topology:
        notes.append(f"no {TOPOLOGY}: its rates are whole Gbit/s, and a GPU has {rate_bps / GIGA:.12g} Gbit/s")
    if plan.ports > 1:
        notes.append(f"htsim gives a host one network card: its rate is that of all {plan.ports} ports of a GPU")
    return notes


def _tiers(gpus: int) -> int | None:
    """The number of tiers of htsim's own fat tree of this many hosts: K^2/2 hosts have two, K^3/4 three."""
    for tiers, parts in ((2, 2), (3, 4)):
        radix = round((gpus * parts) ** (1 / tiers))
        if radix % 2 == 0 and radix**tiers == gpus * parts:
            return tiers
    return None


def _window(plan: Plan, links: int) -> int:
    """Packets that a flow has under way on a path of this many links, half as many again, and the default at least."""
    rate_bps = all_ports_bps(plan.ports, plan.rates_bps)
    round_trip_s = links * (plan.longest_hop_delay_s + PACKET_BITS / rate_bps)
    return max(LEAST_WINDOW, math.ceil(1.5 * round_trip_s * rate_bps / PACKET_BITS))


def _one_switch(plan: Plan) -> bytes | None:
    """A topology of one switch, which htsim takes as a fat tree whose upper switches nothing goes through.

    None where its links have no whole number of Gbit/s.
    """
    rate_bps = all_ports_bps(plan.ports, plan.rates_bps)
    if rate_bps % GIGA:
        return None
    delay_ns = max(1, round(plan.longest_hop_delay_s / NANOSECOND_S / 2))
    link = [f"Downlink_speed_Gbps {int(rate_bps) // GIGA}", f"Downlink_Latency_ns {delay_ns}"]
    lines = [
        f"# {plan.gpus} GPUs at one switch; both links of a path together have the delay of a hop",
        f"Nodes {plan.gpus}",
        "Tiers 2",
        f"Podsize {plan.gpus}",
        "Tier 0",
        *link,
        f"Radix_Down {plan.gpus}",
        f"Radix_Up {plan.gpus}",
        "Tier 1",
        *link,
        "Radix_Down 1",
    ]
    return ("\n".join(lines) + "\n").encode()


def _flows(plan: Plan, index: int) -> Iterator[tuple[int, int, int]]:
    """Source, destination and bytes of every flow of a step."""
    sizes: dict[tuple[int, int], list[float]] = {}
    for transfer in plan.transfers(index):
        sizes.setdefault((transfer.source, transfer.destination), []).append(transfer.size_bytes)
    for (source, destination), parts in sorted(sizes.items()):
        size_bytes = whole_bytes(parts)
        count = -(-size_bytes // LARGEST)
        for part in range(count):
            yield source, destination, size_bytes * (part + 1) // count - size_bytes * part // count
