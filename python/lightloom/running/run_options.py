"""The options of a run, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown
from lightloom.base.whole_numbers import whole_number
from lightloom.running.data import data_type, reduction_name
from lightloom.running.pace import checked_dilation, checked_packet

if TYPE_CHECKING:
    from lightloom.running.data import DataType

__all__ = ["RunOptions", "run_options"]

MOST_RUNS = 100_000


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run; None where the value is chosen for the machine and the plan."""

    kind: DataType
    reduction: str
    runs: int
    warm_ups: int
    dilation: float | None
    packet_bytes: int | None
    transport: str
    real_time: bool
    has_outside_switch: bool


def run_options(
    *,
    dtype: str,
    reduction: str,
    dilation: float | None,
    packet_size: str | float | None,
    real_time: bool,
    runs: int = 1,
    warm_ups: int = 0,
    transport: str = "shared-memory",
    has_outside_switch: bool = False,
) -> RunOptions:
    """The options of a run. Raises `InputError` that names the argument."""
    if not isinstance(real_time, bool):
        raise refuse("real_time", f"`{shown(real_time)}` is not accepted; it takes True or False")
    return RunOptions(
        kind=data_type(dtype),
        reduction=reduction_name(reduction),
        runs=whole_number("runs", runs, 1, MOST_RUNS),
        warm_ups=whole_number("warm_ups", warm_ups, 0, MOST_RUNS),
        dilation=None if dilation is None else checked_dilation(dilation),
        packet_bytes=None if packet_size is None else checked_packet(packet_size),
        transport=transport,
        real_time=real_time,
        has_outside_switch=has_outside_switch,
    )
