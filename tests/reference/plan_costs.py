"""Costs of a plan's steps, from only the fabric's numbers, the transfers and the paths (docs/cost-model.md)."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from tests.reference.plan_document import Arc, Chunks, Circuits, Link, Transfer

# Shares are quotients of counts, and sums of them.
ROUNDING = 1e-9
# Up to this many shortest paths of a pair are listed one by one.
MOST_LISTED_PATHS = 1024


class Change(NamedTuple):
    """The circuits that a change of topology replaces, and whether one dark port of every GPU would do.

    set_up: circuits. transmitters: those joined to another receiver than before, no longer joined, or newly joined.
    `ports` is for ports on switches of their own: of each that differs, the slowest first, its place, whether it
    carried nothing before and whether it carries nothing after.
    """

    set_up: int
    transmitters: int
    fits_dark_ports: bool
    ports: tuple[tuple[int, bool, bool], ...] = ()


def amounts_of(transfers: list[Transfer], chunks: Chunks, size_bytes: int) -> dict[Link, Fraction]:
    """Bytes of every pair that exchanges some in a step."""
    amounts: dict[Link, Fraction] = defaultdict(Fraction)
    for transfer in transfers:
        amounts[transfer.src, transfer.dst] += chunks.share(transfer.chunks) * size_bytes
    return dict(amounts)


def hops_and_load(arcs: list[Arc], amounts: dict[Link, Fraction], circuits: Mapping[Link, float]) -> tuple[int, float]:
    """The longest path in use, and the busiest link's bytes over those of the largest transfer.

    circuits: of each link, slower ones as parts of a circuit of the fastest port.
    """
    used: dict[Link, float] = defaultdict(float)
    longest = 0
    largest = float(max(amounts.values()))
    for arc in arcs:
        weight = float(amounts[arc.src, arc.dst]) / largest
        for share, nodes in arc.paths:
            if share > 0:
                longest = max(longest, len(nodes) - 1)
            for link in itertools.pairwise(nodes):
                used[link] += weight * share
    return longest, max(amount / circuits[link] for link, amount in used.items())


def change(before: dict[Any, int] | None, after: dict[Any, int], fabric: dict[str, Any], gpus: int) -> Change:
    """The difference between two topologies; `before` is None if the first one is free.

    Circuits are by source and destination, and what else tells them apart.
    """
    ports = fabric["ports"]
    if before is None:
        return Change(0, 0, fits_dark_ports=True)
    fits = True
    for direction in (0, 1):
        had: dict[int, int] = defaultdict(int)
        new: dict[int, int] = defaultdict(int)
        for link, count in before.items():
            had[link[direction]] += count
        for link, count in after.items():
            new[link[direction]] += max(0, count - before.get(link, 0))
        fits = fits and all(count <= 1 and had[gpu] + count <= ports for gpu, count in new.items() if count)
    links = {*before, *after}
    set_up = sum(max(0, after.get(link, 0) - before.get(link, 0)) for link in links)
    by_gpu = {link[0]: [0, 0] for link in links}
    for link in links:
        more = after.get(link, 0) - before.get(link, 0)
        by_gpu[link[0]][more > 0] += abs(more)
    transmitters = sum(map(max, by_gpu.values()))
    if "reconfiguration_delays_by_port_s" not in fabric:
        return Change(set_up, transmitters, fits)
    pairs = [{(src, dst): count for (src, dst, _), count in circuits.items()} for circuits in (before, after)]
    sides = [matchings(circuits, gpus, ports) for circuits in pairs]
    differ = [(port, not old, not new) for port, (old, new) in enumerate(zip(*sides, strict=True)) if old != new]
    return Change(set_up, transmitters, fits, tuple(differ))


def matchings(circuits: Circuits, gpus: int, ports: int) -> list[set[Link]]:
    """The circuits on each port, slowest first: nearest first, each on the slowest that is dark at both of its ends.

    If there is no such port, the slowest that is dark at its source, and the circuits that alternate between that and
    the slowest that is dark at its destination, from there on, change places.
    """
    found: list[set[Link]] = [set() for _ in range(ports)]

    def dark(end: int, gpu: int) -> list[int]:
        return [port for port in range(ports) if all(link[end] != gpu for link in found[port])]

    def distance(link: Link) -> tuple[int, int, int]:
        ahead = (link[1] - link[0]) % gpus
        return min(ahead, gpus - ahead), ahead, link[0]

    for link in sorted(circuits, key=distance):
        for _ in range(circuits[link]):
            out, into = dark(0, link[0]), dark(1, link[1])
            both = [port for port in out if port in into]
            if not both:
                one, other = found[out[0]], found[into[0]]
                reached = {link[1]}
                path: set[Link] = set()
                for side in itertools.cycle((1, 0)):
                    more = {it for it in (one if side else other) if it[side] in reached} - path
                    if not more:
                        break
                    path |= more
                    reached = {it[1 - side] for it in more}
                one ^= path
                other ^= path
            found[(both or out)[0]].add(link)
    return found


def charge_s(of: Change, fabric: dict[str, Any], index: int, step_before_s: float) -> tuple[float, float]:
    """The charge of a change before step `index`, and the largest number that it is a difference of."""
    if not of.transmitters:
        return 0.0, 0.0
    window_s = dict(map(tuple, fabric["windows_s"])).get(index, fabric["window_s"])
    by_port_s = sorted(fabric.get("reconfiguration_delays_by_port_s", ()), reverse=True)
    if by_port_s:
        used = [port for port, _, ends_dark in of.ports if not ends_dark]
        on_dark = all(was_dark or ends_dark for _, was_dark, ends_dark in of.ports) and len(used) <= 1
        in_background = fabric["background_reconfiguration"] and on_dark
        slowest = used[:1] if in_background else [of.ports[0][0]]
        delay_s = fabric["reconfiguration_delay_s"] + by_port_s[slowest[0]] if slowest else 0.0
        hidden_s = window_s + (step_before_s if in_background else 0.0)
        return max(0.0, delay_s - hidden_s), max(delay_s, hidden_s)
    in_background = fabric["background_reconfiguration"] and of.fits_dark_ports
    if in_background and not of.set_up:
        return 0.0, 0.0
    ports = of.set_up if in_background else of.transmitters
    delay_s = fabric["reconfiguration_delay_s"] + fabric["reconfiguration_delay_per_port_s"] * ports
    hidden_s = window_s + (step_before_s if in_background else 0.0)
    return max(0.0, delay_s - hidden_s), max(delay_s, hidden_s)


def route_faults(
    arcs: list[Arc], amounts: dict[Link, Fraction], circuits: dict[Link, Any], routing: str
) -> Iterator[str]:
    """What is wrong with a step's paths: ends, circuits, shares, and the routing that they claim to be.

    circuits: of each link, whole numbers, or where rates differ fractions of the fastest circuit.
    """
    pairs = [(arc.src, arc.dst) for arc in arcs]
    if len(set(pairs)) != len(pairs) or set(pairs) != set(amounts):
        yield "its paths are not those of the pairs that exchange data, each once"
    for arc in arcs:
        pair = f"{arc.src} to {arc.dst}"
        if abs(sum(share for share, _ in arc.paths) - 1) > ROUNDING or any(share < 0 for share, _ in arc.paths):
            yield f"the shares of {pair} do not add up to 1"
        for _, nodes in arc.paths:
            if (nodes[0], nodes[-1]) != (arc.src, arc.dst) or len(set(nodes)) != len(nodes):
                yield f"a path of {pair} has other ends or passes a GPU twice"
            if any(link not in circuits for link in itertools.pairwise(nodes)):
                yield f"a path of {pair} uses a circuit that there is not"
    if routing != "concurrent-flow":
        yield from _not_shortest(arcs, circuits, routing)


def _not_shortest(arcs: list[Arc], circuits: dict[Link, Any], routing: str) -> Iterator[str]:
    """Paths that are not the shortest ones, or not as many or as even as the routing says."""
    peers: dict[int, list[int]] = defaultdict(list)
    for src, dst in circuits:
        peers[src].append(dst)
    ways = {src: _shortest(src, peers, circuits) for src in {arc.src for arc in arcs}}
    for arc in arcs:
        pair = f"{arc.src} to {arc.dst}"
        distance, _ = ways[arc.src].get(arc.dst, (0, 0))
        if any(len(nodes) - 1 != distance for _, nodes in arc.paths):
            yield f"a path of {pair} is not a shortest one"
        if routing == "single-path" and len(arc.paths) != 1:
            yield f"{pair} has {len(arc.paths)} paths, and its routing is single-path"
        if routing == "equal-split":
            yield from _uneven(arc, ways[arc.src], circuits)


def _uneven(arc: Arc, ways: dict[int, tuple[int, Any]], circuits: dict[Link, Any]) -> Iterator[str]:
    """Every shortest path carries the same share, parallel circuits counted as paths, each by its rate.

    Where there are very many, fewer paths may stand for them that load every circuit alike.
    """
    pair, number = f"{arc.src} to {arc.dst}", ways[arc.dst][1]
    counted: Any = 0
    used = defaultdict[Link, float](float)
    shares_differ = False
    for share, nodes in arc.paths:
        parallel: Any = 1
        for link in itertools.pairwise(nodes):
            parallel *= circuits.get(link, 0)
            used[link] += share
        counted += parallel
        shares_differ = shares_differ or abs(share - parallel / number) > ROUNDING
    if number <= MOST_LISTED_PATHS and (counted != number or shares_differ):
        yield f"{pair} uses {counted} of {number} shortest paths, or not all alike"
    onwards: dict[int, Any] = defaultdict(int, {arc.dst: 1})
    for src, dst in sorted(circuits, key=lambda link: -ways.get(link[0], (0, 0))[0]):
        if src in ways and ways[dst][0] == ways[src][0] + 1:
            through = circuits[src, dst] * onwards[dst]
            onwards[src] += through
            if abs(used[src, dst] - ways[src][1] * through / number) > ROUNDING:
                yield f"{pair} uses {src} to {dst} for {used[src, dst]} of it, its shortest paths otherwise"


def _shortest(src: int, peers: dict[int, list[int]], circuits: dict[Link, Any]) -> dict[int, tuple[int, Any]]:
    """Distance and number of shortest paths to every GPU that can be reached, circuit by circuit."""
    found: dict[int, tuple[int, Any]] = {src: (0, 1)}
    front, distance = [src], 0
    while front:
        distance += 1
        counts: dict[int, Any] = defaultdict(int)
        for node in front:
            for peer in peers[node]:
                if peer not in found:
                    counts[peer] += found[node][1] * circuits[node, peer]
        found |= {peer: (distance, count) for peer, count in counts.items()}
        front = list(counts)
    return found
