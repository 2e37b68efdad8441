"""A topology as a picture: GPUs on a circle and a chord a circuit; of a large one, the part that repeats."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.views.components import components
from lightloom.views.palette import BACKGROUND, PALETTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from lightloom._core import Topology

    Point = tuple[float, float]
    Circuit = tuple[int, int, int]

# Up to this many circuits all are drawn alike; of more, some stand for those that are like them.
MOST_ALIKE = 48
# Pale circuits behind the others; if there are more than this many, only this many, evenly spread, are drawn.
MOST_BEHIND = 1024
# GPUs with their numbers; numbers next to the circle of a large topology; generators in words.
MOST_NUMBERED, LEAST_TURN, MOST_WORDS = 16, 0.06, 5
# Circuits with a head each.
MOST_HEADS = 64
CIRCUIT = PALETTE[0]


class Shown(NamedTuple):
    """The circuits (source, destination, parallel ones) that stand for all, and their description."""

    circuits: list[Circuit]
    words: str


class Forwarding(NamedTuple):
    """The GPUs of a fabric of which only the first `ranks` take part, in the order in which topologies number them."""

    gpus: list[int]
    ranks: int


def draw_topology(axes: Axes, topology: Topology, forwarding: Forwarding | None = None) -> str:
    """Draw the topology and return its description: empty if all circuits are drawn alike.

    A circuit each way is one chord; a circuit one way has a head. Parallel circuits are thicker. Where other GPUs
    forward, they are hollow, and all GPUs have their numbers in the fabric.
    """
    gpus = topology.gpus
    links: NDArray[np.int64] = topology.links.astype(np.int64)
    if forwarding is not None:
        links[:, :2] = np.array(forwarding.gpus)[links[:, :2]]
    places = [_on_circle(rank / gpus) for rank in range(gpus)]
    every = [(int(source), int(destination), int(count)) for source, destination, count in links]
    shown = Shown(every, "") if len(every) <= MOST_ALIKE else _part(topology, links)
    if shown.circuits is not every:
        _draw_chords(axes, places, every[:: -(-len(every) // MOST_BEHIND)], BACKGROUND, heads=False)
    _draw_chords(axes, places, shown.circuits, CIRCUIT, heads=len(shown.circuits) <= MOST_HEADS)
    dot = max(1.0, 5 - gpus / 16)
    axes.plot(*zip(*places, strict=True), linestyle="", marker="o", markersize=dot, color="k")
    if forwarding is not None:
        others = [places[gpu] for gpu in forwarding.gpus[forwarding.ranks :]]
        axes.plot(*zip(*others, strict=True), linestyle="", marker="o", markersize=0.7 * dot, color="w", zorder=3)
    for rank in _numbered(gpus, shown):
        x, y = places[rank]
        axes.text(1.19 * x, 1.17 * y, str(rank), ha="center", va="center", fontsize=6)
    axes.set(xlim=(-1.35, 1.35), ylim=(-1.3, 1.3), aspect="equal")
    axes.axis("off")
    return shown.words


def _part(topology: Topology, links: NDArray[np.int64]) -> Shown:
    """One orbit of every generator where all GPUs are alike, else one part of several, else the circuits of GPU 0."""
    gpus = topology.gpus
    own = links[links[:, 0] == 0]
    offsets = Counter({int(end): int(count) for _, end, count in own})
    alike = np.bincount((links[:, 1] - links[:, 0]) % gpus, minlength=gpus)
    if all(alike[offset] == gpus for offset in offsets) and int(alike.sum()) == gpus * len(offsets):
        # u to u + g for every u.
        orbits = [
            (place * offset % gpus, (place + 1) * offset % gpus, count)
            for offset, count in offsets.items()
            for place in range(gpus // math.gcd(gpus, offset))
        ]
        return Shown(orbits, _orbits(offsets, gpus))
    reached = _reached(links, gpus)
    if len(reached) < gpus:
        inside = [(int(s), int(d), int(c)) for s, d, c in links if int(s) in reached]
        many = (
            f"one of {gpus // len(reached)} separate parts" if gpus % len(reached) == 0 else "one of the separate parts"
        )
        return Shown(inside, f"blue: {many}, of {len(reached)} GPUs")
    period = gpus // max(1, topology.symmetry_order)
    if 1 < period <= MOST_NUMBERED and _repeats(links, gpus, period):
        first = [(int(s), int(d), int(c)) for s, d, c in links if s < period]
        return Shown(first, f"blue: of GPUs 0 to {period - 1}; repeats every {period}")
    return Shown([(int(s), int(d), int(c)) for s, d, c in own], "blue: the circuits of GPU 0")


def _repeats(links: NDArray[np.int64], gpus: int, period: int) -> bool:
    """Whether circuits lead on to circuits where every GPU is this many places further round the circle."""
    moved = np.column_stack(((links[:, :2] + period) % gpus, links[:, 2]))
    return np.array_equal(links[np.lexsort(links.T)], moved[np.lexsort(moved.T)])


def _orbits(offsets: Counter[int], gpus: int) -> str:
    """The generators of the circuits in words; for a single generator also the rings that it makes."""
    said = f"every GPU u → {_generators(offsets, gpus)}"
    rings = math.gcd(gpus, *offsets)
    if len({min(offset, gpus - offset) for offset in offsets}) > 1:
        return f"{said}; blue: their orbits of GPU 0"
    return f"{said}: {rings} ring{'s' if rings > 1 else ''} of {gpus // rings}" + ("; blue: one" if rings > 1 else "")


def _generators(offsets: Counter[int], gpus: int) -> str:
    """`u ± 1, u + 8 (2×)`, the short way around."""
    words = []
    for offset, count in sorted(offsets.items(), key=lambda pair: min(pair[0], gpus - pair[0])):
        back = gpus - offset
        both = offsets.get(back) == count and back != offset
        if both and offset > back:
            continue
        step = f"u ± {offset}" if both else f"u + {offset}" if offset <= back else f"u - {back}"
        words.append(f"{step} ({count}×)" if count > 1 else step)
    more = [f"{len(words) - MOST_WORDS} more"] if len(words) > MOST_WORDS else []
    return ", ".join(words[:MOST_WORDS] + more)


def _reached(links: NDArray[np.int64], gpus: int) -> set[int]:
    """The GPUs that circuits join to GPU 0, in either direction."""
    return set(np.flatnonzero(components(gpus, links[:, 0], links[:, 1]) == 0).tolist())


def _numbered(gpus: int, shown: Shown) -> list[int]:
    """The GPUs whose numbers are written: all, or GPU 0 and its peers, where they do not overlap."""
    if gpus <= MOST_NUMBERED:
        return list(range(gpus))
    written = [0]
    for rank in sorted({end for source, end, _ in shown.circuits if source == 0}):
        if all(min((rank - other) % gpus, (other - rank) % gpus) / gpus >= LEAST_TURN for other in written):
            written.append(rank)
    return written


def _draw_chords(axes: Axes, places: Sequence[Point], circuits: Sequence[Circuit], colour: str, *, heads: bool) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    counts = {(source, end): count for source, end, count in circuits}
    # The circuits of a pair lie on each other: they are one chord.
    drawn = [
        (source, end, count) for source, end, count in circuits if counts.get((end, source)) != count or source < end
    ]
    opacity = max(0.3, min(0.9, 60 / max(len(drawn), 1)))
    widths = [(0.9 if heads else 0.7) * math.sqrt(count) for *_, count in drawn]
    chords = [_chord(places[source], places[end]) for source, end, _ in drawn]
    axes.add_collection(LineCollection(chords, linewidths=widths, colors=colour, alpha=opacity))
    if heads:
        pointed = [
            _head(chord)
            for chord, (source, end, count) in zip(chords, drawn, strict=True)
            if (end, source) not in counts
        ]
        axes.add_collection(PolyCollection(pointed, facecolors=colour, linewidths=0, alpha=opacity))


def _on_circle(turn: float) -> Point:
    """Rank 0 on top, clockwise."""
    return math.sin(math.tau * turn), math.cos(math.tau * turn)


def _chord(start: Point, end: Point, points: int = 12) -> list[Point]:
    """A quadratic curve; the longer the chord, the further its middle is drawn towards the centre."""
    pull = 0.85 - 0.3 * math.dist(start, end)
    control = (pull * (start[0] + end[0]) / 2, pull * (start[1] + end[1]) / 2)
    curve = []
    for index in range(points + 1):
        t = index / points
        before, middle, after = (1 - t) ** 2, 2 * t * (1 - t), t**2
        x, y = (before * a + middle * c + after * b for a, c, b in zip(start, control, end, strict=True))
        curve.append((x, y))
    return curve


def _head(chord: Sequence[Point], size: float = 0.09) -> list[Point]:
    """A triangle on the second half of a chord, along it."""
    place = len(chord) * 5 // 8
    (x0, y0), (x1, y1) = chord[place - 1], chord[place]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    size = min(size, 4 * length)
    dx, dy = size * (x1 - x0) / length, size * (y1 - y0) / length
    return [
        (x1 + dx / 2, y1 + dy / 2),
        (x1 - dx / 2 - dy / 2.6, y1 - dy / 2 + dx / 2.6),
        (x1 - dx / 2 + dy / 2.6, y1 - dy / 2 - dx / 2.6),
    ]
