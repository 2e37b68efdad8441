"""Why a simulation differs from the plan's additive cost: one setting switched at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom._core import show_size, show_time
from lightloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lightloom.simulation.settings import SimulationSettings


class Difference(NamedTuple):
    """A part of the difference: its name, the seconds that it adds to the time (or takes from it), and the reason."""

    name: str
    seconds: float
    reason: str


def differences(
    wanted: SimulationSettings, predicted_s: float, total_s: Callable[[SimulationSettings], float]
) -> list[Difference]:
    """The parts of a simulated time less the predicted one, in the order in which settings are switched.

    wanted: the simulation's own settings; total_s: simulates under others.

    It starts from the setting that is closest to the additive cost (paced packets without headers, store-and-forward,
    barriers that cost nothing, all circuits dark, buffers without limit, no congestion control) and ends at the
    simulation's own. A setting under which the plan cannot be simulated joins the next one.
    """
    found: list[Difference] = []
    before_s = predicted_s
    for name, reason, settings in _switched(wanted):
        try:
            after_s = total_s(settings)
        except InputError:
            continue
        found.append(Difference(name, after_s - before_s, reason))
        before_s = after_s
    return found


def _switched(wanted: SimulationSettings) -> Iterator[tuple[str, str, SimulationSettings]]:
    """Name, reason and settings of each simulation, from the closest to the additive cost to `wanted`."""
    changes: list[tuple[str, str, dict[str, Any]]] = [
        (
            "headers",
            f"{show_size(wanted.header_bytes)} of header on every {show_size(wanted.packet_bytes)} of payload",
            {"header_bytes": wanted.header_bytes},
        ),
        (
            "cut-through",
            "a packet goes on once its header is there, not its last bit",
            {"forwarding": wanted.forwarding},
        ),
        (
            "burst",
            "all packets handed over at once queue, and waiting overlaps propagation, which the cost model adds",
            {"injection": wanted.injection},
        ),
        ("ports", "circuits that stay are not dark during a change", {"reconfiguration": wanted.reconfiguration}),
        ("dataflow", "a GPU goes on without waiting for the others", {"sync": wanted.sync}),
        ("barriers", f"{show_time(wanted.barrier_s)} between two steps", {"barrier_s": wanted.barrier_s}),
        (
            "buffers",
            f"packets wait for room in the next buffer of {show_size(wanted.buffer_bytes or 0)}",
            {"buffer_bytes": wanted.buffer_bytes},
        ),
        (
            "congestion control",
            "senders take turns, and slow down when packets of theirs are marked",
            {"congestion_control": wanted.congestion_control},
        ),
    ]
    settings = replace(
        wanted,
        header_bytes=0,
        injection="paced",
        forwarding="store-and-forward",
        sync="barrier",
        barrier_s=0.0,
        reconfiguration="global",
        buffer_bytes=None,
        congestion_control="none",
        symmetry="quotient",
    )
    if wanted.level == "flow":
        yield "fair rates", "flows share links max-min fairly and speed up when others end", settings
    else:
        packet = show_size(wanted.packet_bytes)
        yield (
            "packets",
            f"packets of {packet} stay whole at every hop and circuit, and wait where others are in the way",
            settings,
        )
    for name, reason, change in changes:
        changed = replace(settings, **change)
        if changed != settings:
            yield name, reason, changed
        settings = changed
