"""KV caches on their way from the ranks that read prompts to those that decode.

A rank of prefill has the keys and values of its layers and heads for its prompts. Where the pools are cut alike, each
rank sends all that it has to one other. Else the larger number of stages, shards or replicas cuts the caches into
parts, and a rank sends to, or receives from, as many ranks as it has parts: in rounds, since a rank sends and receives
one message at a time. A rank that sends the part r and is the o-th of those that send to the same rank does so in round
(o + r) mod the number of rounds, so that none waits.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lightloom.inputs.workloads.inference_pools import Model, Pool

__all__ = ["Sends", "cache_sends"]


class Sends(NamedTuple):
    """Rounds of messages of one size: sources and destinations of each round."""

    rounds: list[tuple[list[int], list[int]]]
    size_bytes: int


class _Link(NamedTuple):
    """Places of both pools along one dimension that share caches, and their number among those that do."""

    source: int
    destination: int
    out: int
    into: int


def cache_sends(model: Model, prefill: Pool, decode: Pool) -> Sends:
    """The messages that carry the caches of a batch of prompts."""
    sizes = [
        (prefill.tensor, decode.tensor),
        (prefill.replicas, decode.replicas),
        (prefill.pipeline, decode.pipeline),
    ]
    tokens = prefill.requests * prefill.replicas * prefill.prompt
    cached = model.layers * model.cache_values * model.cache_bytes * tokens
    outs = [max(after // before, 1) for before, after in sizes]
    ins = [max(before // after, 1) for before, after in sizes]
    rounds: list[tuple[list[int], list[int]]] = [([], []) for _ in range(max(prod(outs), prod(ins)))]
    for links in product(*(_links(before, after) for before, after in sizes)):
        out = into = 0
        for link, fan_out, fan_in in zip(links, outs, ins, strict=True):
            out, into = out * fan_out + link.out, into * fan_in + link.into
        sources, destinations = rounds[(out + into) % len(rounds)]
        sources.append(prefill.rank(*(link.source for link in links)))
        destinations.append(decode.rank(*(link.destination for link in links)))
    return Sends(rounds, -(-cached // prod(map(max, sizes))))


def _links(before: int, after: int) -> list[_Link]:
    if before <= after:
        fan = after // before
        return [_Link(place, place * fan + part, part, 0) for place in range(before) for part in range(fan)]
    fan = before // after
    return [_Link(place * fan + part, place, 0, part) for place in range(after) for part in range(fan)]
