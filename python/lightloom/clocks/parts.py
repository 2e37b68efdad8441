"""The content of a timeline: what each switch holds and when, and what is sent when over which circuits."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Configuration", "Parts", "Transmission"]


class Configuration(NamedTuple):
    """Circuits that a switch holds from `ready_s` to `end_s`, as pairs of transmitting and receiving GPU."""

    ready_s: float
    end_s: float
    circuits: tuple[tuple[int, int], ...]


class Transmission(NamedTuple):
    """Bytes that leave at an even rate from `start_s` on, for `duration_s`.

    step: the plan's step whose transfer from source to destination they are part of; None where they are part of what
    the pair of source and destination sends in all. path: switch, transmitting and receiving GPU of each circuit.
    """

    start_s: float
    duration_s: float
    size_bytes: float
    step: int | None
    source: int
    destination: int
    path: tuple[tuple[int, int, int], ...]


class Parts(NamedTuple):
    """What a file holds.

    planner: how the timeline was made. total_s: when the last byte is there. lower_bound_s: no timeline of bound_class
    takes less. switches: by switch, its configurations in the order of time. plan: the document of the plan whose
    collective this is, and whose time it does not exceed.
    """

    planner: str
    total_s: float
    lower_bound_s: float
    bound_class: str
    switches: tuple[tuple[Configuration, ...], ...]
    transmissions: tuple[Transmission, ...]
    plan: dict[str, Any]
