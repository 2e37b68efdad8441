"""Times of one-hop sends over a range of sizes, measured by runs, for `calibrate`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lightloom.base.files import write_bytes
from lightloom.base.frames import Table
from lightloom.inputs.fabric import Fabric
from lightloom.planning import plan as planned
from lightloom.plans import Plan
from lightloom.running.executor import Executor
from lightloom.running.hosts.runs import AGENT_PORT
from lightloom.running.pace import dilation_for

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from lightloom.running.measurement import Measurement

__all__ = ["Send", "SendTimes", "send_times"]

SCHEMA = "lightloom.sends/1"
# The smallest send transmits for this part of the time of startup and hop, the largest for this multiple of it; where
# these take no time, sends of these bytes.
LEAST_PART, MOST_TIMES = 1 / 16, 16
LEAST_BYTES, MOST_BYTES = 4096, 4 << 20
# Elements are no longer than that.
WHOLE = 8


@dataclass(frozen=True)
class Send:
    """A send over one hop: bytes, the middle of its measured times and what its plan predicts, s."""

    size_bytes: int
    time_s: float
    predicted_s: float
    dilation: float
    lateness_s: float
    verdict: str


class SendTimes(Table):
    """Measured times of sends by size; immutable. Made by `send_times`. fabric: that they crossed."""

    def __init__(self, sends: tuple[Send, ...], fabric: Fabric, transport: str) -> None:
        self.sends, self.fabric, self.transport = sends, fabric, transport

    @property
    def verdict(self) -> str:
        """`"conclusive"` where all sends are."""
        return "conclusive" if all(send.verdict == "conclusive" for send in self.sends) else "inconclusive"

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a size."""
        return {name: [getattr(send, name) for send in self.sends] for name in Send.__dataclass_fields__}

    def to_json(self) -> str:
        """The times as JSON of schema `lightloom.sends/1`, seconds divided by the dilation and bytes."""
        rows = [asdict(send) for send in self.sends]
        made = {"schema": SCHEMA, "transport": self.transport, "verdict": self.verdict, "rows": rows}
        return json.dumps(made, indent=1, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json() + "\n").encode())

    def save_measurements(self, path: str | os.PathLike[str]) -> None:
        """Write the CSV file that `calibrate` reads. Raises `InputError` that names `calibrate`."""
        rows = "".join(f"{send.size_bytes},{send.time_s!r}\n" for send in self.sends)
        about = f"# one-hop sends by {self.transport}, times divided by the dilation, {self.verdict}\n"
        write_bytes("calibrate", path, f"{about}size_bytes,time_s\n{rows}".encode())


def send_times(
    like: Plan | str | os.PathLike[str],
    *,
    transport: str = "shared-memory",
    hosts: str | None = None,
    launch: str = "ssh",
    agent_port: int = AGENT_PORT,
    tls: str | None = None,
    runs: int = 5,
    dilation: float | None = None,
    real_time: bool = True,
    progress: Callable[[str], None] | None = None,
) -> SendTimes:
    """Measure sends between two ranks over the fabric of a plan, from where startup decides to where bandwidth does.

    like: a Plan, or a plan's JSON file; its startup, hop delay and bandwidth are set. Both ranks send to each other at
    once. transport, hosts, launch, agent_port, tls, runs, real_time: as of `Executor`. dilation: of all sizes; the one
    that the smallest needs if left out, so that copying takes no part of the largest. progress: called with the next
    measurement.

    Raises `InputError` that names the argument, and `RunFailedError` as `Executor.run`.
    """
    of = like if isinstance(like, Plan) else Plan.load(like)
    fabric = Fabric(gpus=2, bandwidth=of.bandwidth_bps, startup=of.startup_s, hop_delay=of.hop_delay_s)
    sizes = list(_sizes(of))
    # Each of two ranks has half of the buffer to send.
    plans = [planned("all-gather", 2 * size, fabric=fabric, algorithm="ring", planner="static") for size in sizes]
    if dilation is None and transport not in {"mpi", "tcp"}:
        dilation = dilation_for(plans[0])
    sends = []
    with Executor(
        transport=transport,
        hosts=hosts,
        launch=launch,
        agent_port=agent_port,
        tls=tls,
        runs=runs,
        dilation=dilation,
        real_time=real_time,
    ) as executor:
        for number, (size_bytes, plan) in enumerate(zip(sizes, plans, strict=True), 1):
            if progress is not None:
                progress(f"size {number} of {len(sizes)}")
            sends.append(_send(size_bytes, executor.run(plan)))
    return SendTimes(tuple(sends), fabric, transport)


def _sizes(plan: Plan) -> Iterator[int]:
    """Powers of two, from below the least to above the largest size to be measured."""
    equal = (plan.startup_s + plan.hop_delay_s) * plan.bandwidth_bps / 8
    least, most = (LEAST_PART * equal, MOST_TIMES * equal) if equal else (LEAST_BYTES, MOST_BYTES)
    size = WHOLE
    while size < least:
        size *= 2
    yield size
    while size < most:
        size *= 2
        yield size


def _send(size_bytes: int, measurement: Measurement) -> Send:
    return Send(
        size_bytes,
        measurement.measured.median,
        measurement.predicted_s,
        measurement.settings.dilation,
        measurement.lateness_s,
        measurement.verdict,
    )
