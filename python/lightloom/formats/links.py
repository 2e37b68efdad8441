"""Whether a schedule sends over nothing but links of a topology, as a schedule that was solved for it must."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from lightloom import _core

__all__ = ["check_links"]


def check_links(schedule: _core.Schedule, topology: _core.Topology) -> None:
    """Refuse a schedule with a transfer between GPUs that the topology does not join, or of another number of GPUs.

    Raises `InputError` that names `schedule` and the first such transfer.
    """
    if schedule.gpus != topology.gpus:
        raise refuse("schedule", f"it has {schedule.gpus} GPUs, but topology `{topology.name}` has {topology.gpus}")
    links = {(source, destination) for source, destination, _ in topology.links.tolist()}
    for step in range(len(schedule.shares)):
        for source, destination, _, chunks in schedule.transfers(step):
            if (source, destination) not in links:
                raise refuse(
                    "schedule",
                    f"step {step} sends chunk {chunks[0]} from GPU {source} to {destination}; topology "
                    f"`{topology.name}` has no such link",
                )
