"""A plan recomputed from only its JSON, by code that shares nothing with the package."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

from tests.reference.plan_costs import amounts_of, change, charge_s, hops_and_load, route_faults
from tests.reference.plan_document import (
    Circuits,
    Link,
    arcs_of,
    by_rate,
    chunks_of,
    circuits_of,
    pairs_of,
    rates_of,
    transfers_of,
)
from tests.reference.plan_execution import execute
from tests.reference.plan_packets import packet_hops, transfer_fs

# A term is a few products of numbers in the file; a load is a sum of many shares.
TOLERANCE = 1e-12
TERMS = ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s", "barrier_s")


# Circuits by source, destination and the place of their rate.
OnPorts = dict[tuple[int, int, int], int]


class TooManyPacketsError(Exception):
    """The plan is simulated packet by packet, and has more than were asked for."""


def faults(text: str, most_packet_hops: int = 1 << 62) -> list[str]:
    """The faults of a plan's JSON; empty if it has no fault.

    Raises `TooManyPacketsError` for a plan of overlapping packets with more events than `most_packet_hops`.
    """
    document = json.loads(text)
    ranks, fabric = document["gpus"], document["fabric"]
    topologies = [circuits_of(topology, ranks) for topology in document["topologies"]]
    rates = rates_of(fabric, ranks)
    on_ports = [by_rate(*pair) for pair in zip(document["topologies"], topologies, strict=True)]
    chunks = chunks_of(document)
    transfers = [transfers_of(step, chunks, ranks) for step in document["steps"]]
    amounts = [amounts_of(of_step, chunks, document["size_bytes"]) for of_step in transfers]
    found = [*_ports(document, topologies), *_port_rates(document, on_ports), *_labels(document)]
    found += execute(document["collective"], ranks, chunks, transfers)
    initial = document["initial_topology"]
    before = None if initial is None else on_ports[initial]
    if fabric["initial"] == "repeated" and initial is None:
        # The run before ended on the last step's.
        before = on_ports[document["steps"][-1]["topology"]]
    step_before_s, changed = 0.0, 0
    packets_left = most_packet_hops
    for index, (step, of_pairs) in enumerate(zip(document["steps"], amounts, strict=True)):
        circuits = topologies[step["topology"]]
        arcs = arcs_of(step, ranks)
        now = on_ports[step["topology"]]
        wrong = list(route_faults(arcs, of_pairs, _in_circuits(now, rates), document["routing"]))
        if wrong:
            return [*found, *(f"step {index}: {text}" for text in wrong)]
        hops, load = hops_and_load(arcs, of_pairs, _capacities(now, rates))
        largest = float(max(of_pairs.values()))
        propagation_s = _hop_s(fabric, circuits, ranks) * hops
        if document["overlap"] == "pipelined":
            packets_left -= packet_hops(arcs, of_pairs)
            if packets_left < 0:
                raise TooManyPacketsError
            taken_fs = transfer_fs(arcs, of_pairs, circuits, rates[0], fabric["hop_delay_s"])
            # Few packets may all take shorter paths than the longest; no term falls below zero.
            propagation_s = min(propagation_s, taken_fs / 1e15)
            transmission_s = float(Fraction(taken_fs, 10**15) - Fraction(propagation_s))
            rounding_s = 4 * math.ulp(taken_fs / 1e15)
        else:
            if document["propagation"] == "inverse-throughput":
                propagation_s = fabric["hop_delay_s"] * load * fabric["ports"] * largest / busiest_rank(of_pairs)
            transmission_s, rounding_s = 8 / rates[0] * largest * load, 0.0
        of_change = change(before, now, fabric, document["gpus"])
        reconfigured = of_change.transmitters > 0
        charged_s, of_s = charge_s(of_change, fabric, index, step_before_s)
        barrier_s = fabric.get("barrier_s", 0.0)
        step_before_s = barrier_s + fabric["startup_s"] + propagation_s + transmission_s
        expected = {
            "transfer_bytes": (largest, 0.0),
            "hops": (hops, 0.0),
            "load": (load, 0.0),
            "startup_s": (fabric["startup_s"], 0.0),
            "propagation_s": (propagation_s, 0.0),
            "transmission_s": (transmission_s, rounding_s),
            "barrier_s": (barrier_s, 0.0),
            "reconfiguration_s": (charged_s, TOLERANCE * of_s if _hides(fabric) else 0.0),
        }
        found += [
            f"step {index}: {key} is {step.get(key)}, and it is {value}"
            for key, (value, rounding) in expected.items()
            if abs(step.get(key, 0.0) - value) > TOLERANCE * abs(value) + rounding
        ]
        if step["reconfigured"] != reconfigured:
            found.append(f"step {index}: reconfigured is {step['reconfigured']}, circuits changed: {of_change}")
        changed += reconfigured
        before = now
    return [*found, *_totals(document, changed)]


def _hop_s(fabric: dict[str, Any], circuits: Circuits, ranks: int) -> float:
    """The largest hop delay of the circuits of a topology."""
    if "pair_rates" not in fabric:
        return float(fabric["hop_delay_s"])
    pairs = pairs_of(fabric, ranks)
    return max(pairs[link][1] for link in circuits)


def _in_circuits(on_ports: OnPorts, rates: list[float]) -> dict[Link, Any]:
    """Circuits of each link, exactly: a circuit of half the fastest rate is half a one."""
    found: dict[Link, Any] = defaultdict(int)
    for (src, dst, place), count in on_ports.items():
        found[src, dst] += count * Fraction(rates[place]) / Fraction(rates[0]) if place else count
    return found


def _capacities(on_ports: OnPorts, rates: list[float]) -> dict[Link, float]:
    """The rate of each link over the fastest port's."""
    found: dict[Link, float] = defaultdict(float)
    for (src, dst, place), count in on_ports.items():
        found[src, dst] += count * rates[place] / rates[0]
    return found


def _port_rates(document: dict[str, Any], topologies: list[OnPorts]) -> list[str]:
    told = document["fabric"]["bandwidth_bps"]
    rates = rates_of(document["fabric"], document["gpus"])
    found = []
    if "pair_rates" in document["fabric"]:
        pairs = pairs_of(document["fabric"], document["gpus"])
        every = [link for on_ports in topologies for link in on_ports]
        return [f"{link} is of another rate" for link in every if rates[link[2]] != pairs[link[:2]][0]]
    ports = [told.count(rate) for rate in rates] if isinstance(told, list) else [document["fabric"]["ports"]]
    for on_ports in topologies:
        used: dict[tuple[int, int, int], int] = defaultdict(int)
        for (src, dst, place), count in on_ports.items():
            used[0, src, place] += count
            used[1, dst, place] += count
        found += [
            f"{count} circuits of rate {at[2]} at GPU {at[1]}" for at, count in used.items() if count > ports[at[2]]
        ]
    return found


def busiest_rank(amounts: dict[Link, Fraction]) -> float:
    """The most bytes that one rank sends or receives."""
    ends: dict[Link, Fraction] = defaultdict(Fraction)
    for link, amount in amounts.items():
        for direction in (0, 1):
            ends[direction, link[direction]] += amount
    return float(max(ends.values()))


def _hides(fabric: dict[str, Any]) -> bool:
    return bool(fabric["background_reconfiguration"] or fabric["window_s"] or fabric["windows_s"])


def _ports(document: dict[str, Any], topologies: list[Circuits]) -> list[str]:
    found = []
    for topology, circuits in zip(document["topologies"], topologies, strict=True):
        ends: dict[Link, int] = defaultdict(int)
        for link, count in circuits.items():
            for direction in (0, 1):
                ends[direction, link[direction]] += count
        most = max(ends.values(), default=0)
        if most > document["fabric"]["ports"]:
            found.append(f"topology `{topology['name']}` has {most} circuits at one GPU")
        found += _islands(document["fabric"].get("optics"), topology["name"], circuits)
    return found


def _islands(optics: str | None, name: str, circuits: Circuits) -> list[str]:
    """Islands of A GPUs that more than B circuits leave or enter, where `optics` is `islands:AxB`."""
    if optics is None or not optics.startswith("islands:"):
        return []
    gpus, ports = (int(number) for number in optics.removeprefix("islands:").split("x"))
    ends: dict[Link, int] = defaultdict(int)
    for link, count in circuits.items():
        islands = link[0] // gpus, link[1] // gpus
        if islands[0] != islands[1]:
            for direction in (0, 1):
                ends[direction, islands[direction]] += count
    return [
        f"topology `{name}`: {count} circuits {('out of', 'into')[direction]} island {island} of {ports} ports"
        for (direction, island), count in ends.items()
        if count > ports
    ]


def _labels(document: dict[str, Any]) -> list[str]:
    found = []
    if document["schema"] != "lightloom.plan/1":
        found.append(f"the schema is {document['schema']}")
    for key, rows in (("id", document["topologies"]), ("index", document["steps"])):
        if [row[key] for row in rows] != list(range(len(rows))):
            found.append(f"{key} does not count from 0")
    initial = document["initial_topology"]
    names = ["free", "repeated"] if initial is None else [document["topologies"][initial]["name"]]
    if document["fabric"]["initial"] not in names:
        found.append(f"the initial topology is {document['fabric']['initial']}, and it is {' or '.join(names)}")
    if document["fabric"]["dims"] and math.prod(document["fabric"]["dims"]) != document["gpus"]:
        found.append("the dimensions do not make the number of GPUs")
    return found


def _totals(document: dict[str, Any], changed: int) -> list[str]:
    found = []
    total_s = math.fsum(step.get(term, 0.0) for step in document["steps"] for term in TERMS)
    if abs(document["total_s"] - total_s) > math.ulp(total_s):
        found.append(f"the total is {document['total_s']}, and the terms add up to {total_s}")
    if document["reconfigurations"] != changed:
        found.append(f"{document['reconfigurations']} reconfigurations are told, and {changed} steps change circuits")
    if not 0 <= document["lower_bound_s"] <= document["total_s"] * (1 + TOLERANCE):
        found.append(f"the bound {document['lower_bound_s']} is not below the total {document['total_s']}")
    return found
