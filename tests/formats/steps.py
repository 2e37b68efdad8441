"""Data that plans and schedules send, step by step, in one form; and the steps of a plan that MSCCL XML keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import lightloom as ll

Sent = tuple[int, int, str, tuple[int, ...]]


def planned(plan: ll.Plan) -> list[list[Sent]]:
    """The plan's transfers, by step; a pair's chunks with one meaning are one transfer."""
    steps = range(len(plan.steps))
    return [together((*one[:3], tuple(one.chunks.tolist())) for one in plan.transfers(k)) for k in steps]


def read(schedule: ll.Schedule) -> list[list[Sent]]:
    """The same of a schedule."""
    steps = range(len(schedule.shares))
    return [together((*one[:3], tuple(one[3])) for one in schedule.transfers(k)) for k in steps]


def together(transfers: Iterable[Sent]) -> list[Sent]:
    sent: dict[tuple[int, int, str], set[int]] = {}
    for source, destination, operation, chunks in transfers:
        sent.setdefault((source, destination, operation), set()).update(chunks)
    return sorted((*key, tuple(sorted(chunks))) for key, chunks in sent.items())


def earliest(steps: list[list[Sent]]) -> list[list[Sent]]:
    """The steps that remain of a plan where nothing but GPUs' own order holds transfers back.

    A GPU's send comes after all that it received in earlier steps of the plan, not before its sends of earlier
    steps, and messages of one GPU to another come one after the other.
    """
    found: dict[int, list[Sent]] = {}
    received: Counter[int] = Counter()
    sent: Counter[int] = Counter()
    connection: Counter[tuple[int, int, int]] = Counter()
    for step in steps:
        levels = []
        used: Counter[tuple[int, int]] = Counter()
        for one in step:
            source, destination, *_ = one
            channel = (source, destination, used[source, destination])
            used[source, destination] += 1
            levels.append(max(received[source] + 1, sent[source], connection[channel] + 1, 1))
            connection[channel] = levels[-1]
        for one, level in zip(step, levels, strict=True):
            found.setdefault(level, []).append(one)
            sent[one[0]] = max(sent[one[0]], level)
            received[one[1]] = max(received[one[1]], level)
    return [together(found[level]) for level in sorted(found)]
