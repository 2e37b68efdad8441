"""A plan's JSON written out in full: every circuit, every transfer, every path of every GPU.

A file keeps one representative per orbit of a symmetry (docs/decisions/0001-symmetry-as-digits.md); here every orbit is
expanded, so that later code knows nothing of symmetry.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

Link = tuple[int, int]
Circuits = dict[Link, int]
# In place of a rank: all of them.
EVERYBODY = -1


@dataclass(frozen=True)
class Transfer:
    """Chunks that one rank sends another in a step."""

    src: int
    dst: int
    reduces: bool
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class Arc:
    """The paths of one pair with their shares; `listed` is the place of its representative in the file."""

    src: int
    dst: int
    paths: tuple[tuple[float, tuple[int, ...]], ...]
    listed: int


@dataclass(frozen=True)
class Chunks:
    """Per chunk, which rank has it first and which must have it last; what part of the buffer some are; how they move.

    `moved` maps chunks when every rank is moved; it is None if they do not follow their ranks.
    """

    first: list[int]
    last: list[int]
    share: Callable[[Sequence[int]], Fraction]
    moved: Callable[[Sequence[int], int], int] | None


def images(symmetry: list[list[int]], ranks: int) -> list[list[int]]:
    """Images of each rank under each translation, the identity first: digits (stride, radix) shifted without carry."""
    return _images(tuple((stride, radix) for stride, radix in symmetry), ranks)


@lru_cache(maxsize=100)
def _images(digits: tuple[tuple[int, int], ...], ranks: int) -> list[list[int]]:
    below = 1
    for stride, radix in sorted(digits):
        assert radix >= 2
        assert stride % below == 0
        below = stride * radix
        assert ranks % below == 0

    def moved(rank: int, shifts: tuple[int, ...]) -> int:
        for (stride, radix), shift in zip(digits, shifts, strict=True):
            digit = rank // stride % radix
            rank += ((digit + shift) % radix - digit) * stride
        return rank

    every = itertools.product(*(range(radix) for _, radix in digits))
    return [[moved(rank, shifts) for rank in range(ranks)] for shifts in every]


def chunks_of(document: dict[str, Any]) -> Chunks:
    """The chunks of a plan by what its `chunks` say; sizes of collectives as in docs/cost-model.md."""
    ranks, told, collective = document["gpus"], document["chunks"], document["collective"]
    parts = told.get("parts", 1)
    gathers = collective in {"all-reduce", "all-gather", "broadcast"}
    reduces = collective in {"all-reduce", "reduce-scatter", "reduce"}
    match told["kind"]:
        case "owned":
            owners = [chunk // parts for chunk in range(ranks * parts)]
            return Chunks(
                [EVERYBODY] * len(owners) if reduces else owners,
                [EVERYBODY] * len(owners) if gathers else owners,
                lambda chunks: Fraction(len(chunks), ranks * parts),
                lambda image, chunk: image[chunk // parts] * parts + chunk % parts,
            )
        case "pairs":
            count = ranks * ranks * parts
            return Chunks(
                [chunk // parts // ranks for chunk in range(count)],
                [chunk // parts % ranks for chunk in range(count)],
                lambda chunks: Fraction(len(chunks), ranks * parts),
                lambda image, chunk: (
                    (image[chunk // parts // ranks] * ranks + image[chunk // parts % ranks]) * parts + chunk % parts
                ),
            )
        case "buffer":
            first = EVERYBODY if reduces else told["root"]
            last = EVERYBODY if gathers else told["root"]
            return Chunks([first] * parts, [last] * parts, lambda chunks: Fraction(len(chunks), parts), None)
        case "rooted":
            owners, root = [chunk // parts for chunk in range(ranks * parts)], [told["root"]] * (ranks * parts)
            ends = (owners, root) if collective == "gather" else (root, owners)
            return Chunks(*ends, lambda chunks: Fraction(len(chunks), ranks * parts), None)
        case "pieces":
            pieces = told["pieces"]
            return Chunks(
                [src for src, _, _ in pieces],
                [dst for _, dst, _ in pieces],
                lambda chunks: sum((Fraction(pieces[chunk][2]) for chunk in chunks), Fraction()),
                None,
            )
        case kind:
            raise AssertionError(f"chunks of kind {kind}")


def numbers(runs: list[int | list[int]]) -> list[int]:
    """A list of chunks: single ones, and runs `[first, last, stride]`."""
    found: list[int] = []
    for run in runs:
        found += [run] if isinstance(run, int) else range(run[0], run[1] + 1, run[2])
    return found


def transfers_of(step: dict[str, Any], chunks: Chunks, ranks: int) -> list[Transfer]:
    """Every transfer of a step."""
    groups = images(step["symmetry"], ranks)
    assert len(groups) == 1 or chunks.moved is not None, "chunks that no translation moves, in a symmetric step"
    listed = [(src, dst, op, numbers(runs)) for src, dst, op, runs in step["transfers"]]
    found = []
    for image in groups:
        for src, dst, op, named in listed:
            assert op in {"copy", "reduce"}
            moved = named if chunks.moved is None else [chunks.moved(image, chunk) for chunk in named]
            found.append(Transfer(image[src], image[dst], op == "reduce", tuple(moved)))
    return found


def arcs_of(step: dict[str, Any], ranks: int) -> list[Arc]:
    """The paths of every pair of a step."""
    return [
        Arc(
            image[src],
            image[dst],
            tuple((share, tuple(image[node] for node in nodes)) for share, nodes in paths),
            listed,
        )
        for image in images(step["routes"]["symmetry"], ranks)
        for listed, (src, dst, paths) in enumerate(step["routes"]["arcs"])
    ]


def rates_of(fabric: dict[str, Any], ranks: int) -> list[float]:
    """The different rates of ports or pairs of GPUs, bit/s, the fastest first; a single one where all are alike."""
    told = fabric["bandwidth_bps"]
    if "pair_rates" in fabric:
        told = [rate for rate, _ in pairs_of(fabric, ranks).values()]
    return sorted(set(told if isinstance(told, list) else [told]), reverse=True)


def pairs_of(fabric: dict[str, Any], ranks: int) -> dict[tuple[int, int], tuple[float, float]]:
    """Rate in bit/s and hop delay in s of every ordered pair, from the ranges that a file names."""
    found = dict.fromkeys(itertools.permutations(range(ranks), 2), (fabric["bandwidth_bps"], fabric["hop_delay_s"]))
    for part in fabric.get("pair_rates", "").split(","):
        if not part:
            continue
        *ends, rate, delay = part.split(":")
        some, others = (range(int(end.split("-")[0]), int(end.split("-")[-1]) + 1) for end in ends)
        value = (float(rate.removesuffix("bps")), float(delay.removesuffix("s")))
        for one, other in itertools.product(some, others):
            if one != other:
                found[one, other] = found[other, one] = value
    return found


def by_rate(topology: dict[str, Any], circuits: Circuits) -> dict[tuple[int, int, int], int]:
    """Circuits by source, destination and the place of their rate; a list of them is as long as that of the links."""
    listed = topology.get("circuits_by_rate", [[count] for count in circuits.values()])
    assert [sum(counts) for counts in listed] == list(circuits.values())
    every = zip(circuits, listed, strict=True)
    return {(*link, place): count for link, counts in every for place, count in enumerate(counts) if count}


def circuits_of(topology: dict[str, Any], ranks: int) -> Circuits:
    """The circuits of a topology, which must be sorted, each pair once, and keep the symmetry that is claimed."""
    circuits = {(src, dst): count for src, dst, count in topology["links"]}
    assert len(circuits) == len(topology["links"])
    assert list(circuits) == sorted(circuits)
    for (src, dst), count in circuits.items():
        assert 0 <= src < ranks
        assert 0 <= dst < ranks
        assert src != dst
        assert count >= 1
    for image in images(topology["symmetry"], ranks):
        assert {(image[src], image[dst]): count for (src, dst), count in circuits.items()} == circuits
    return circuits
